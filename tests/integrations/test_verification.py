"""Test messages through one integration, and the provider's response."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from clarion.providers.sending.gateway import ProviderGateway
from clarion.vocabulary import Scope
from tests.integrations.support import PATH, SENDGRID, TWILIO, find_in_app, make_integration
from tests.providers.contract.golden import make_gateway
from tests.providers.contract.vendor import Reply, Vendor, play
from tests.support import Api, MakeApi, Site

ACCEPTED = Reply(status=202, headers={"X-Message-Id": "vendor-7"})
SLACK = {"applicationId": "A0", "clientId": "C0", "secretKey": "s3cret-of-slack"}


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    async with play(lambda _: ACCEPTED) as playing:
        yield playing


@pytest.fixture
async def gateway(vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    async with make_gateway(vendor) as entered:
        yield entered


async def send_test_message(api: Api, integration: dict[str, Any], **body: Any) -> dict[str, Any]:
    answer = await api.post(f"{PATH}/{integration['_id']}/test", json=body)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


async def refusal(api: Api, integration: dict[str, Any], **body: Any) -> dict[str, Any]:
    answer = await api.post(f"{PATH}/{integration['_id']}/test", json=body)
    assert answer.status_code == 422, answer.text
    errors: dict[str, Any] = answer.json()["errors"]
    return errors


@pytest.mark.parametrize("active", [True, False])
async def test_a_test_message_goes_out_and_the_answer_is_shown(api: Api, vendor: Vendor, active: bool) -> None:
    made = await make_integration(api, active=active)

    result = await send_test_message(
        api, made, to={"email": "ada@example.org"}, subject="Hello", content="Is it working?"
    )

    assert result == {
        "success": True,
        "providerMessageId": "vendor-7",
        "answer": {"status": 202, "body": ""},
        "milliseconds": 0,
    }
    (request,) = vendor.requests
    assert b"ada@example.org" in request.body
    assert b"Is it working?" in request.body


async def test_a_message_without_words_has_some_of_its_own(api: Api, vendor: Vendor) -> None:
    await send_test_message(api, await make_integration(api), to={"email": "ada@example.org"})

    assert b"This is a test message" in vendor.requests[0].body


async def test_a_refusal_is_shown_in_the_words_of_the_provider_and_without_the_secret(api: Api, vendor: Vendor) -> None:
    vendor.answers = lambda request: Reply(
        status=429, body={"errors": [{"message": f"Slow down, {SENDGRID['apiKey']}"}]}, headers={"Retry-After": "7"}
    )

    result = await send_test_message(api, await make_integration(api), to={"email": "ada@example.org"})

    assert result["success"] is False
    assert result["error"] == {
        "kind": "rate_limited",
        "message": "SendGrid answered 429: Slow down, ***",
        "retryAfter": 7,
    }
    assert result["answer"]["status"] == 429
    assert SENDGRID["apiKey"] not in str(result)


async def test_an_integration_with_an_incomplete_account_is_reported_as_a_failure(api: Api) -> None:
    made = await make_integration(api, credentials={}, active=False)

    result = await send_test_message(api, made, to={"email": "ada@example.org"})

    assert result["error"] == {"kind": "permanent", "message": "The integration has no from, apiKey"}


async def test_a_subscriber_is_written_to_where_the_subscriber_can_be_reached(api: Api, vendor: Vendor) -> None:
    await api.post(
        "/v2/subscribers", json={"subscriberId": "ada", "email": "ada@example.org", "phone": "+442079460000"}
    )
    mail = await make_integration(api)
    text = await make_integration(api, providerId="twilio", channel="sms", credentials=TWILIO)
    chat = await make_integration(api, providerId="slack", channel="chat", credentials=SLACK)
    hook = {"webhookUrl": "https://hooks.example.com/services/T0/B0"}
    await api.patch("/v1/subscribers/ada/credentials", json={"providerId": "slack", "credentials": hook})
    vendor.answers = lambda _: Reply(status=201, body={"sid": "SM1"}, headers={"X-Message-Id": "1"})

    for one in (mail, text, chat):
        assert (await send_test_message(api, one, subscriberId="ada"))["success"]

    assert b"ada@example.org" in vendor.requests[0].body
    assert b"442079460000" in vendor.requests[1].body
    assert vendor.requests[2].url == hook["webhookUrl"]


async def test_what_is_given_comes_before_what_the_subscriber_has(api: Api, vendor: Vendor) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "ada", "email": "ada@example.org"})

    await send_test_message(api, await make_integration(api), subscriberId="ada", to={"email": "test@example.org"})

    assert b"test@example.org" in vendor.requests[0].body
    assert b"ada@example.org" not in vendor.requests[0].body


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "to.email"),
        ({"providerId": "twilio", "channel": "sms", "credentials": TWILIO}, "to.phone"),
        ({"providerId": "fcm", "channel": "push", "credentials": {"serviceAccount": "{}"}}, "to.deviceTokens"),
        ({"providerId": "slack", "channel": "chat", "credentials": SLACK}, "to"),
    ],
)
async def test_the_address_that_is_missing_is_named(
    api: Api, vendor: Vendor, fields: dict[str, Any], field: str
) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "nowhere"})
    made = await make_integration(api, **fields)

    assert set(await refusal(api, made)) == {field}
    assert set(await refusal(api, made, subscriberId="nowhere")) == {field}
    assert vendor.requests == []


async def test_a_built_in_provider_has_nothing_to_try(api: Api) -> None:
    assert set(await refusal(api, await find_in_app(api), to={"email": "ada@example.org"})) == {"integrationId"}


async def test_bad_fields_are_all_named(api: Api) -> None:
    made = await make_integration(api)

    found = await refusal(api, made, to={"email": "nobody", "deviceTokens": "one"}, subject=1, content="")

    assert set(found) == {"to.email", "to.deviceTokens", "subject", "content"}


async def test_an_unknown_subscriber_is_not_found(api: Api, other_api: Api) -> None:
    await other_api.post("/v2/subscribers", json={"subscriberId": "theirs", "email": "ada@example.org"})
    made = await make_integration(api)

    answer = await api.post(f"{PATH}/{made['_id']}/test", json={"subscriberId": "theirs"})

    assert answer.status_code == 404


async def test_a_subscribers_address_takes_the_right_to_read_subscribers(
    api: Api, make_api: MakeApi, site: Site, vendor: Vendor
) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "ada", "email": "ada@example.org"})
    made = await make_integration(api)
    writer = await make_api(site.development, frozenset({Scope.INTEGRATIONS_WRITE}))
    reader = await make_api(site.development, frozenset({Scope.INTEGRATIONS_READ}))
    path = f"{PATH}/{made['_id']}/test"

    statuses = [
        (await writer.post(path, json={"subscriberId": "ada"})).status_code,
        (await reader.post(path, json={"to": {"email": "ada@example.org"}})).status_code,
        (await writer.post(path, json={"to": {"email": "ada@example.org"}})).status_code,
    ]

    assert statuses == [403, 403, 200]
    assert len(vendor.requests) == 1


async def test_nothing_is_recorded_of_a_test_message(api: Api) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "ada", "email": "ada@example.org"})
    await send_test_message(api, await make_integration(api), subscriberId="ada")

    assert (await api.get("/v1/messages")).json()["data"] == []
    assert (await api.get("/v1/notifications")).json()["data"] == []


async def test_another_environments_integration_is_not_found(api: Api, other_api: Api, vendor: Vendor) -> None:
    theirs = await make_integration(other_api)

    answer = await api.post(f"{PATH}/{theirs['_id']}/test", json={"to": {"email": "ada@example.org"}})

    assert answer.status_code == 404
    assert vendor.requests == []
