"""Redaction end to end: no secret of an account appears in logs, execution details, messages and answers."""

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.definition.fields import NOT_SECRET
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.sending.redaction import make_account_redactor
from clarion.subscribers.addresses.kinds import KINDS
from clarion.vault import Vault
from clarion.vocabulary import Channel, ChannelProvider
from tests.engine.support import World, step
from tests.providers.contract.case import Case
from tests.providers.contract.golden import make_gateway
from tests.providers.contract.table import CASES
from tests.providers.contract.vendor import Received, Reply, Vendor, play
from tests.support import Api

STEPS = {
    Channel.EMAIL: step("email", subject="Hello", body="<p>Hello</p>"),
    Channel.SMS: step("sms", body="Hello"),
    Channel.PUSH: step("push", subject="Hello", body="Hello"),
    Channel.CHAT: step("chat", body="Hello"),
    Channel.TOOL: step("tool", body="Hello"),
}
ADA = {"subscriberId": "ada", "email": "ada@example.org", "phone": "+442079460000"}
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    """A provider that echoes requests and credentials."""
    async with play(lambda _: Reply()) as entered:
        yield entered


@pytest.fixture
async def gateway(vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    async with make_gateway(vendor) as entered:
        yield entered


@pytest.fixture
def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> World:
    engine = Engine(database, clock=clock, vault=vault, bus=application.services.bus, gateway=gateway)
    return World(api, engine, clock)


def secrets_of(case: Case) -> list[str]:
    named = {name: value for name, value in case.credentials.items() if isinstance(value, str)}
    return ["canary", *(value for name, value in named.items() if name not in NOT_SECRET and not name.endswith("Url"))]


async def integrate(api: Api, case: Case) -> dict[str, Any]:
    """Create the integration of the case, and a subscriber with credentials for it."""
    body = {"providerId": case.id, "channel": case.channel, "active": True, "credentials": dict(case.credentials)}
    made = await api.post("/v1/integrations", json=body)
    assert made.status_code == 201, made.text
    await api.post("/v2/subscribers", json=ADA)
    if case.id in list(ChannelProvider):
        outgoing = case.make_outgoing()
        entry = {"webhookUrl": outgoing.webhook_url, "deviceTokens": list(outgoing.device_tokens), **outgoing.entry}
        given = {name: value for name, value in entry.items() if value}
        answer = await api.patch("/v1/subscribers/ada/credentials", json={"providerId": case.id, "credentials": given})
        assert answer.status_code == 200, answer.text
    if case.channel is Channel.TOOL:
        await add_endpoint(api, case, made.json()["identifier"])
    integration: dict[str, Any] = made.json()
    return integration


async def add_endpoint(api: Api, case: Case, integration: str) -> None:
    outgoing = case.make_outgoing()
    url = {} if outgoing.webhook_url is None else {"url": outgoing.webhook_url}
    kind = next(kind for kind, one in KINDS.items() if one.providers == (case.id,))
    body = {"subscriberId": "ada", "integrationIdentifier": integration, "type": kind}
    answer = await api.post("/v1/channel-endpoints", json={**body, "endpoint": {**url, **outgoing.entry}})
    assert answer.status_code == 201, answer.text


def echo_requests(case: Case, vendor: Vendor, status: int) -> None:
    def answer(request: Received) -> Reply:
        return Reply(status=status, body=f"{request.wire}\n{json.dumps(dict(case.credentials))}")

    vendor.answers = case.answers(answer)


@each_case
async def test_the_record_of_a_send_has_no_secret(
    world: World, vendor: Vendor, case: Case, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await integrate(world.api, case)
    await world.make_workflow(STEPS[case.channel])
    recorded = []
    for status in (200, 400, 500):
        echo_requests(case, vendor, status)
        await world.trigger()
        await world.work()
        recorded.append(json.dumps(await world.events()))

    assert vendor.requests
    # Messages contain the address of the subscriber, which is not a secret of the account.
    errors = [message.get("errorText", "") for message in await world.messages()]
    for secret in secrets_of(case):
        assert secret not in "".join(recorded)
        assert secret not in "".join(errors)
        assert secret not in caplog.text


@each_case
async def test_the_answer_to_a_test_send_has_no_secret(
    api: Api, vendor: Vendor, case: Case, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    made = await integrate(api, case)
    outgoing = case.make_outgoing()
    to = {"webhookUrl": outgoing.webhook_url} if case.id == "chat-webhook" else {}
    account = {"providerId": case.id, "channel": case.channel, "credentials": dict(case.credentials), "check": True}
    answered = []
    for status in (200, 401, 500):
        echo_requests(case, vendor, status)
        tested = await api.post(f"/v1/integrations/{made['_id']}/test", json={"subscriberId": "ada", "to": to})
        checked = await api.post("/v1/integrations", json=account)
        assert tested.status_code == 200, tested.text
        answered += [tested.text, checked.text if checked.status_code == 422 else ""]

    assert vendor.requests
    for secret in secrets_of(case):
        assert secret not in "".join(answered)
        assert secret not in caplog.text


def redact(value: Any, **credentials: str) -> Any:
    return make_account_redactor(Channel.CHAT, credentials)(value)


@pytest.mark.parametrize(
    ("url", "text", "redacted"),
    [
        ("https://a.example/hook", "The webhook answered: no such hook", "The webhook answered: no such hook"),
        ("https://a.example/hook", "POST /hook HTTP/1.1", "POST /*** HTTP/1.1"),
        ("https://a.example/hook", "https://a.example/hooks", "https://a.example/hooks"),
        ("https://a.example/hook", "https%3A%2F%2Fa.example%2Fhook", "https%3A%2F%2Fa.example%2F***"),
        ("https://a.example/messages", "unsentmessages of /messages", "unsentmessages of /***"),
        ("https://a.example/opensesame", 'no "opensesame", {"a":"\\nopensesame"}', 'no "***", {"a":"\\n***"}'),
        ("https://a.example/services/T0/B0/abcdefgh1", "nosuch/abcdefgh1x", "nosuch/***x"),
        ("https://a.example/services/T0/B0/abcdefgh1", "services are down", "services are down"),
    ],
)
def test_words_of_a_url_are_redacted_in_urls_and_not_inside_of_other_words(url: str, text: str, redacted: str) -> None:
    assert redact(text, webhookUrl=url) == redacted


def test_a_short_secret_of_an_account_is_redacted_inside_of_words_too() -> None:
    assert redact("user=ada&passwordopen", secretKey="open", webhookUrl="https://a.example/open") == (
        "user=ada&password***"
    )


@pytest.mark.parametrize("secret", ['q"uote-7f3a', "back\\slash-7f3a", "line\nbreak-7f3a", 'all "\\\n-7f3a'])
def test_a_secret_is_redacted_inside_of_json_texts(secret: str) -> None:
    echoed = json.dumps({"error": {"password": secret}})

    assert redact(echoed, secretKey=secret) == '{"error": {"password": "***"}}'
    assert redact({"answer": echoed}, secretKey=secret) == {"answer": '{"error": {"password": "***"}}'}
