"""The gateway: the built-in outbox, calls over HTTP/1.1, failures and redaction."""

import asyncio
import itertools
from collections.abc import AsyncIterator

import msgspec
import pytest

from clarion.clock import ManualClock
from clarion.providers.definition.result import FailureKind, SendFailure, Sent
from clarion.providers.registry import PROVIDERS
from clarion.providers.sending.gateway import ProviderGateway, Timeouts, get_sending_provider
from clarion.providers.transport.egress import EgressGuard
from clarion.vocabulary import Channel
from tests.providers.loopback import SLACK, Respond, WebServer, answering, make_outgoing, web_server

LOOPBACK = EgressGuard(["127.0.0.0/8"])
CANARY = "canary-webhook-9c1d"


@pytest.fixture
async def gateway(clock: ManualClock) -> AsyncIterator[ProviderGateway]:
    async with ProviderGateway(LOOPBACK, clock=clock) as entered:
        yield entered


async def send(gateway: ProviderGateway, web: WebServer, **fields: object) -> Sent:
    return await gateway.send("slack", make_outgoing(Channel.CHAT, **{"webhook_url": web.url()} | fields))


async def fail(gateway: ProviderGateway, respond: Respond) -> SendFailure:
    async with web_server(respond) as web:
        with pytest.raises(SendFailure) as failure:
            await send(gateway, web)
    return failure.value


@pytest.mark.parametrize(("provider", "channel"), [("svc-email", Channel.EMAIL), ("svc-sms", Channel.SMS)])
async def test_the_built_in_outbox_accepts_every_message(
    gateway: ProviderGateway, provider: str, channel: Channel
) -> None:
    sent = await gateway.send(provider, make_outgoing(channel))

    assert sent.provider_message_id == "6601f5a1c0ffee"


async def test_an_unknown_provider_cannot_send(gateway: ProviderGateway) -> None:
    with pytest.raises(SendFailure) as failure:
        await gateway.send("carrier-pigeon", make_outgoing(Channel.SMS, phone="+15551234567"))

    assert failure.value.kind is FailureKind.PERMANENT
    assert failure.value.message == "Clarion cannot send through 'carrier-pigeon' yet"


def test_all_providers_except_the_inbox_can_send() -> None:
    able = {provider_id for provider_id in PROVIDERS if _can_send(provider_id)}

    assert able == set(PROVIDERS) - {"svc"}
    assert not _can_send("carrier-pigeon")


def _can_send(provider_id: str) -> bool:
    try:
        get_sending_provider(provider_id)
    except SendFailure:
        return False
    return True


async def test_slack_gets_the_text_as_json(gateway: ProviderGateway) -> None:
    async with web_server(answering(200, X_Slack_Req_Id="req-1")) as web:
        sent = await send(gateway, web, content="Grüße <https://example.com|hier>")

    head, _, body = web.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /services/T0/B0/canary-webhook-9c1d HTTP/1.1")
    assert b"Content-Type: application/json" in head
    assert msgspec.json.decode(body) == {"text": "Grüße <https://example.com|hier>"}
    assert sent == Sent(provider_message_id="req-1", raw={"status": 200, "body": "ok"})


async def test_overrides_are_merged_but_cannot_change_the_webhook(gateway: ProviderGateway) -> None:
    overrides = {
        "blocks": [{"type": "divider"}],
        "webhookUrl": "http://127.0.0.1:1/elsewhere",
        "_passthrough": {"body": {"unfurl_links": False}},
    }
    async with web_server(answering(200)) as web:
        await send(gateway, web, overrides=overrides)

    body = msgspec.json.decode(web.requests[0].partition(b"\r\n\r\n")[2])
    assert body == {"text": "Hello", "blocks": [{"type": "divider"}], "unfurl_links": False}


async def test_connections_are_reused(gateway: ProviderGateway) -> None:
    async with web_server(answering(200, Set_Cookie="session=1")) as web:
        for _ in range(3):
            await send(gateway, web)

    assert (web.connections, len(web.requests)) == (1, 3)
    assert b"cookie" not in web.requests[-1].lower()


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, "invalid_payload", FailureKind.PERMANENT),
        (403, "action_prohibited", FailureKind.PERMANENT),
        (404, "no_service", FailureKind.RECIPIENT_INVALID),
        (404, "channel_not_found", FailureKind.RECIPIENT_INVALID),
        (410, "channel_is_archived", FailureKind.RECIPIENT_INVALID),
        (408, "slow", FailureKind.RETRYABLE),
        (429, "rate_limited", FailureKind.RATE_LIMITED),
        (500, "rollup_error", FailureKind.RETRYABLE),
        (503, "", FailureKind.RETRYABLE),
    ],
)
async def test_a_failure_has_the_error_text_of_the_provider(
    gateway: ProviderGateway, status: int, body: str, kind: FailureKind
) -> None:
    failure = await fail(gateway, answering(status, body))

    assert (failure.kind, failure.raw) == (kind, {"status": status, "body": body})
    assert body in failure.message


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("30", 30),
        ("Thu, 01 Jan 2026 00:02:00 GMT", 120),
        ("Wed, 31 Dec 2025 00:00:00 GMT", 0),
        ("99999999999", 86_400),
        ("soon", None),
        ("-5", None),
    ],
)
async def test_retry_after_is_read(gateway: ProviderGateway, header: str, seconds: int | None) -> None:
    failure = await fail(gateway, answering(429, "rate_limited", Retry_After=header))

    assert (failure.kind, failure.retry_after) == (FailureKind.RATE_LIMITED, seconds)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 304])
async def test_a_redirect_is_not_followed(gateway: ProviderGateway, status: int) -> None:
    async with web_server(answering(200)) as target:
        failure = await fail(gateway, answering(status, "", Location=target.url()))

    assert (failure.kind, target.connections) == (FailureKind.PERMANENT, 0)


async def test_a_server_that_does_not_answer_times_out(clock: ManualClock) -> None:
    async def be_silent(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Le")
        await writer.drain()

    async with ProviderGateway(LOOPBACK, timeouts=Timeouts(http_seconds=0.05), clock=clock) as gateway:
        failure = await fail(gateway, be_silent)

    assert (failure.kind, failure.message) == (FailureKind.RETRYABLE, "127.0.0.1 did not answer within 0.05 seconds")


async def test_an_endless_body_times_out(clock: ManualClock) -> None:
    async def drip(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        for _ in itertools.count():
            writer.write(b"o")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with ProviderGateway(LOOPBACK, timeouts=Timeouts(http_seconds=0.05), clock=clock) as gateway:
        failure = await fail(gateway, drip)

    assert failure.kind is FailureKind.RETRYABLE


async def test_a_reset_connection_is_retryable(gateway: ProviderGateway) -> None:
    async def reset(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    assert (await fail(gateway, reset)).kind is FailureKind.RETRYABLE


async def test_an_answer_that_is_not_http_is_retryable(gateway: ProviderGateway) -> None:
    async def babble(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"\x00\x01\x02 hello\r\n\r\n")
        await writer.drain()

    assert (await fail(gateway, babble)).kind is FailureKind.RETRYABLE


async def test_a_refused_connection_is_retryable(gateway: ProviderGateway) -> None:
    async with web_server(answering(200)) as web:
        pass
    with pytest.raises(SendFailure) as failure:
        await send(gateway, web)

    assert failure.value.kind is FailureKind.RETRYABLE


async def test_only_the_beginning_of_a_huge_answer_is_read(gateway: ProviderGateway) -> None:
    written = 0

    async def flood(request: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 1000000000\r\n\r\n")
        while written < 1_000_000_000:
            writer.write(b"x" * 65_536)
            await writer.drain()
            written += 65_536

    failure = await fail(gateway, flood)

    assert (failure.kind, len(failure.raw["body"])) == (FailureKind.PERMANENT, 1_000)
    assert written < 100_000_000


@pytest.mark.parametrize("url", [None, ""])
async def test_a_subscriber_without_a_webhook_cannot_be_reached(gateway: ProviderGateway, url: str | None) -> None:
    with pytest.raises(SendFailure) as failure:
        await gateway.send("slack", make_outgoing(Channel.CHAT, webhook_url=url))

    assert failure.value.kind is FailureKind.RECIPIENT_INVALID


@pytest.mark.parametrize("status", [200, 302, 404, 500])
async def test_results_have_no_webhook_and_no_credentials(gateway: ProviderGateway, status: int) -> None:
    secret = "canary-secret-key-55aa"

    async def echo(request: bytes, writer: asyncio.StreamWriter) -> None:
        await answering(status, f"{request.decode()} {secret} {CANARY}", Location=f"/{CANARY}")(request, writer)

    async with web_server(echo) as web:
        outgoing = make_outgoing(Channel.CHAT, webhook_url=web.url(), credentials=SLACK | {"secretKey": secret})
        try:
            result = repr(await gateway.send("slack", outgoing))
        except SendFailure as failure:
            result = f"{failure} {failure.message} {failure.raw} {failure.__cause__}"

    assert CANARY not in result
    assert secret not in result
    assert CANARY not in repr(outgoing)
    assert secret not in repr(outgoing)


@pytest.mark.parametrize("length", [250, 300, 350, 400, 950, 990, 1_000])
async def test_truncating_a_long_answer_leaves_no_part_of_a_secret(gateway: ProviderGateway, length: int) -> None:
    secret = "canary-secret-key-55aa" * 3

    async with web_server(answering(404, "x" * length + secret)) as web:
        outgoing = make_outgoing(Channel.CHAT, webhook_url=web.url(), credentials=SLACK | {"secretKey": secret})
        with pytest.raises(SendFailure) as failure:
            await gateway.send("slack", outgoing)

    assert "canary" not in f"{failure.value.message} {failure.value.raw}"


async def test_a_gateway_that_is_not_entered_cannot_send() -> None:
    with pytest.raises(RuntimeError, match="entered"):
        await ProviderGateway(LOOPBACK).send("slack", make_outgoing(Channel.CHAT, webhook_url="http://127.0.0.1:9/"))
