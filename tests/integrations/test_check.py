"""Credentials that are checked with the provider before an integration is written."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from clarion.providers.sending.gateway import ProviderGateway
from tests.integrations.support import PATH, SENDGRID, list_integrations, make_integration
from tests.providers.contract.golden import make_gateway
from tests.providers.contract.vendor import SILENCE, Received, Reply, Vendor, play
from tests.support import Api

NEW: dict[str, Any] = {"providerId": "sendgrid", "channel": "email", "credentials": SENDGRID, "check": True}
WELCOME = Reply(body={"scopes": ["mail.send"]})
UNKNOWN_KEY = Reply(status=401, body={"errors": [{"message": "The provided key SG.s3cret is not known"}]})


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    """The provider of these tests: it accepts all credentials by default."""
    async with play(lambda _: WELCOME) as playing:
        yield playing


@pytest.fixture
def seconds() -> float:
    """How long the provider may take."""
    return 30


@pytest.fixture
async def gateway(vendor: Vendor, seconds: float) -> AsyncIterator[ProviderGateway]:
    async with make_gateway(vendor, seconds=seconds) as entered:
        yield entered


def keys_of(vendor: Vendor) -> list[str]:
    """The credentials that the provider got, by call."""
    return [one.headers["authorization"].removeprefix("Bearer ") for one in vendor.requests]


@pytest.mark.parametrize("active", [True, False])
async def test_an_account_that_works_is_created(api: Api, vendor: Vendor, active: bool) -> None:
    made = await make_integration(api, check=True, active=active)

    assert await list_integrations(api) == [made]
    assert keys_of(vendor) == ["SG.s3cret"]


async def test_an_account_that_is_refused_is_not_created_and_the_provider_is_quoted_without_the_secret(
    api: Api, vendor: Vendor, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    vendor.answers = lambda _: UNKNOWN_KEY

    answer = await api.post(PATH, json=NEW)

    assert answer.status_code == 422
    (message,) = answer.json()["errors"]["credentials"]["messages"]
    assert message == "are not accepted: SendGrid answered 401: The provided key *** is not known"
    assert SENDGRID["apiKey"] not in answer.text + caplog.text
    assert await list_integrations(api) == []


@pytest.mark.parametrize("seconds", [0.3])
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (SILENCE, "did not answer within 0.3 seconds"),
        (None, "The connection to api.sendgrid.com failed"),
        (Reply(status=503, body="down"), "SendGrid answered 503: down"),
        (Reply(status=429, headers={"Retry-After": "7"}), "SendGrid answered 429"),
    ],
)
async def test_a_provider_that_cannot_be_asked_is_said_to_be_that(
    api: Api, vendor: Vendor, reply: Reply | None, words: str
) -> None:
    vendor.answers = lambda _: reply

    answer = await api.post(PATH, json=NEW)

    assert answer.status_code == 422
    (message,) = answer.json()["errors"]["credentials"]["messages"]
    assert message.startswith("could not be tried out: ")
    assert words in message
    assert await list_integrations(api) == []


async def test_what_is_wrong_without_asking_is_all_named_and_the_provider_is_not_asked(
    api: Api, vendor: Vendor
) -> None:
    await make_integration(api, identifier="news")

    answer = await api.post(PATH, json=NEW | {"identifier": "news", "credentials": {"from": "nobody"}})

    assert answer.status_code == 422
    assert set(answer.json()["errors"]) == {"identifier", "credentials.apiKey", "credentials.from"}
    assert vendor.requests == []


async def test_an_update_tries_out_the_stored_credentials_or_the_new_ones(api: Api, vendor: Vendor) -> None:
    made = await make_integration(api)
    path = f"{PATH}/{made['_id']}"

    stored = await api.put(path, json={"check": True})
    new = await api.put(path, json={"check": True, "credentials": SENDGRID | {"apiKey": "SG.other"}})

    assert (stored.status_code, stored.json()) == (200, made)
    assert new.json()["credentials"]["apiKey"] == "SG.other"
    assert keys_of(vendor) == ["SG.s3cret", "SG.other"]


async def test_an_update_that_is_refused_changes_nothing(api: Api, vendor: Vendor) -> None:
    made = await make_integration(api)
    vendor.answers = lambda _: UNKNOWN_KEY

    body = {"check": True, "name": "New", "credentials": SENDGRID | {"apiKey": "SG.other"}}
    answer = await api.put(f"{PATH}/{made['_id']}", json=body)

    assert (answer.status_code, set(answer.json()["errors"])) == (422, {"credentials"})
    assert await list_integrations(api) == [made]


async def test_the_credentials_of_another_environment_are_never_tried(api: Api, other_api: Api, vendor: Vendor) -> None:
    theirs = await make_integration(other_api)

    answer = await api.put(f"{PATH}/{theirs['_id']}", json={"check": True})
    named = await api.post(PATH, json=NEW | {"_environmentId": theirs["_environmentId"]})

    assert [answer.status_code, named.status_code] == [404, 404]
    assert vendor.requests == []


async def test_a_repeated_request_is_answered_as_before_whatever_the_provider_says_by_now(
    api: Api, vendor: Vendor
) -> None:
    headers = {"Idempotency-Key": "once"}
    first = await api.post(PATH, json=NEW, headers=headers)
    vendor.answers = lambda _: UNKNOWN_KEY

    second = await api.post(PATH, json=NEW, headers=headers)
    other = await api.post(PATH, json=NEW | {"name": "Other"}, headers=headers)

    assert (first.status_code, second.status_code) == (201, 201)
    assert (second.json(), second.headers["idempotency-replay"]) == (first.json(), "true")
    assert set(other.json()["errors"]) == {"idempotency-key"}
    assert len(vendor.requests) == 1


async def test_a_request_that_a_provider_refused_may_be_repeated_under_its_key(api: Api, vendor: Vendor) -> None:
    headers = {"Idempotency-Key": "again"}
    vendor.answers = lambda _: Reply(status=503)
    refused = await api.post(PATH, json=NEW, headers=headers)
    vendor.answers = lambda _: WELCOME

    made = await api.post(PATH, json=NEW, headers=headers)

    assert (refused.status_code, made.status_code) == (422, 201)


@pytest.mark.parametrize(
    "body",
    [
        {"providerId": "svc-email", "channel": "email"},
        {"providerId": "discord", "channel": "chat"},
    ],
)
async def test_an_account_with_nothing_to_try_out_passes(api: Api, vendor: Vendor, body: dict[str, Any]) -> None:
    await make_integration(api, **body, credentials={}, check=True)

    assert vendor.requests == []


async def test_no_account_is_tried_out_unless_asked(api: Api, vendor: Vendor) -> None:
    made = await make_integration(api)
    await api.put(f"{PATH}/{made['_id']}", json={"credentials": SENDGRID, "check": False})

    assert vendor.requests == []


async def test_others_write_while_a_provider_is_asked(api: Api, vendor: Vendor) -> None:
    asked = asyncio.Event()

    def keep_silent(_: Received) -> Reply:
        asked.set()
        return SILENCE

    vendor.answers = keep_silent
    waiting = asyncio.create_task(api.post(PATH, json=NEW))
    await asked.wait()

    made = await make_integration(api)
    waiting.cancel()

    assert await list_integrations(api) == [made]
