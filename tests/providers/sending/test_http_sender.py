"""The HTTP sender: access tokens, several calls per message, overrides, dead tokens."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from clarion.clock import ManualClock
from clarion.providers.definition.request import ProviderRequest, encode_call
from clarion.providers.definition.result import FailureKind, SendFailure, Sent
from clarion.providers.registry import PROVIDERS
from clarion.providers.transport.egress import EgressGuard
from clarion.providers.transport.http2 import Http2Client
from clarion.vocabulary import Channel
from tests.providers.contract.case import NOW, Case
from tests.providers.contract.golden import make_gateway, show
from tests.providers.contract.table import CASES
from tests.providers.contract.vendor import SILENCE, Received, Reply, Vendor, play

BY_ID = {case.id: case for case in CASES}
Answer = Reply | Callable[[Received], Reply | None]


EVIL = "a\r\nBcc: victim@example.org\r\n\r\nx"
"""A text that would begin other headers, and the body."""


async def send(case: Case, answer: Answer | None = None, **fields: Any) -> tuple[Sent, Vendor]:
    async with play(case.answers(answer or case.success)) as vendor, make_gateway(vendor) as gateway:
        return await gateway.send(case.id, case.make_outgoing(**fields)), vendor


def bodies(vendor: Vendor) -> list[Any]:
    return [json.loads(request.body) for request in vendor.requests if request.body.startswith(b"{")]


async def test_many_messages_share_one_access_token() -> None:
    case = BY_ID["fcm"]
    async with play(case.answers(case.success)) as vendor, make_gateway(vendor) as gateway:
        await asyncio.gather(*(gateway.send("fcm", case.make_outgoing()) for _ in range(8)))
        await gateway.send("fcm", case.make_outgoing())

    exchanges = [request for request in vendor.requests if "oauth2" in request.url]
    assert (len(exchanges), len(vendor.requests)) == (1, 10)


async def test_a_rejected_token_is_renewed_once() -> None:
    case, refusals = BY_ID["fcm"], [Reply(status=401, body={"error": {"status": "UNAUTHENTICATED"}})]
    sent, vendor = await send(case, lambda _: refusals.pop() if refusals else case.success)

    assert sent.provider_message_id == case.message_id
    assert ["oauth2" in request.url for request in vendor.requests] == [True, False, True, False]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(status=400, body={"error": "invalid_grant", "error_description": "Bad key"}), FailureKind.PERMANENT),
        (Reply(status=503), FailureKind.RETRYABLE),
        (Reply(body={"id_token": "canary-other-token"}), FailureKind.PERMANENT),
    ],
)
async def test_without_an_access_token_nothing_is_sent(reply: Reply, kind: FailureKind) -> None:
    case = BY_ID["fcm"]
    async with play(lambda _: reply) as vendor, make_gateway(vendor) as gateway:
        for _ in range(2):
            with pytest.raises(SendFailure) as failure:
                await gateway.send("fcm", case.make_outgoing())

    assert failure.value.kind is kind
    assert "canary" not in f"{failure.value} {failure.value.raw}"
    # A failure is not cached: each message makes a new exchange.
    assert len(vendor.requests) == 2


async def test_a_notification_is_sent_if_any_device_accepts_it_and_dead_tokens_are_reported() -> None:
    case = BY_ID["fcm"]

    def answer(request: Received) -> Reply:
        return case.faults["invalid recipient"].reply if b"dead" in request.body else case.success

    sent, _ = await send(case, answer, device_tokens=("dead-token-1", "live-token-2", "live-token-2"))

    assert (sent.provider_message_id, sent.dead_tokens) == (case.message_id, ("dead-token-1",))
    assert [one.get("kind") for one in sent.raw["tokens"]] == ["recipient_invalid", None]


async def test_of_several_failures_the_retryable_one_is_raised() -> None:
    case = BY_ID["fcm"]

    def answer(request: Received) -> Reply:
        return case.faults["invalid recipient" if b"dead" in request.body else "503"].reply

    with pytest.raises(SendFailure) as failure:
        await send(case, answer, device_tokens=("dead-token-1", "busy-token-2"))

    assert (failure.value.kind, failure.value.dead_tokens) == (FailureKind.RETRYABLE, ("dead-token-1",))


async def test_a_trigger_adds_to_body_query_and_headers_but_not_to_authentication() -> None:
    passthrough = {
        "body": {"categories": ["a"], "personalizations": [{"to": [{"email": "b@example.org"}]}]},
        "headers": {"Authorization": "Bearer mine", "X-More": "1"},
        "query": {"dry": "run"},
    }
    _, vendor = await send(BY_ID["sendgrid"], overrides={"batchId": "7", "_passthrough": passthrough})

    (request,) = vendor.requests
    (body,) = bodies(vendor)
    assert request.url.endswith("/v3/mail/send?dry=run")
    assert (request.headers["authorization"], request.headers["x-more"]) == ("Bearer SG.canary-api-key", "1")
    assert (body["batch_id"], body["categories"]) == ("7", ["a"])
    (personalization,) = body["personalizations"]
    assert [one["email"] for one in personalization["to"]] == ["ada@example.org", "b@example.org"]


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.channel is Channel.EMAIL and PROVIDERS[case.id].can_attach_files],
    ids=lambda case: case.id,
)
async def test_a_file_whose_type_has_line_breaks_is_refused(case: Case) -> None:
    files = [{"name": "a.txt", "mime": f"text/plain{EVIL}", "file": "eA=="}]

    with pytest.raises(SendFailure, match="which no file can have"):
        await send(case, overrides={"attachments": files})


@pytest.mark.parametrize("case", [case for case in CASES if case.channel is Channel.EMAIL], ids=lambda case: case.id)
async def test_line_breaks_inject_no_headers_into_an_e_mail(case: Case) -> None:
    files = [{"name": EVIL, "mime": "text/plain", "file": "eA=="}] if PROVIDERS[case.id].can_attach_files else []
    overrides = {"senderName": EVIL, "headers": {"X-Evil": EVIL}, "attachments": files}
    _, vendor = await send(case, subject=EVIL, overrides=overrides)

    request = vendor.requests[-1]
    opened = json.dumps(show(request, opens=case.opens))
    assert not any(text in request.wire for text in ("\r\nBcc: victim", "\\r\\nBcc: victim", "%0D%0ABcc"))
    assert '"Bcc: victim' not in opened


async def test_a_generic_gateway_is_called_with_its_keys() -> None:
    case = BY_ID["generic-sms"]
    credentials = dict(case.credentials) | {"authenticateByToken": False}
    sent, vendor = await send(case, credentials=credentials)

    (request,) = vendor.requests
    assert (request.headers["x-api-key"], request.headers["x-api-secret"]) == ("canary-api-key", "canary-secret-key")
    assert sent.provider_message_id == "4711"


async def test_slack_posts_to_a_channel_with_a_bot_token() -> None:
    case = BY_ID["slack"]
    credentials = dict(case.credentials) | {"token": "xoxb-canary"}
    fields: dict[str, Any] = {"credentials": credentials, "webhook_url": None, "entry": {"channel": "C1"}}
    sent, vendor = await send(case, Reply(body={"ok": True, "ts": "1.2"}), **fields)

    assert (vendor.requests[0].url, sent.provider_message_id) == ("https://slack.com/api/chat.postMessage", "1.2")
    for error, kind in {
        "is_archived": "recipient_invalid",
        "invalid_auth": "permanent",
        "ratelimited": "rate_limited",
    }.items():
        with pytest.raises(SendFailure) as failure:
            await send(case, Reply(body={"ok": False, "error": error}), **fields)
        assert failure.value.kind == kind


async def test_a_gsm7_text_is_not_sent_as_unicode() -> None:
    _, vendor = await send(BY_ID["nexmo"], content="Hello")

    assert b"type=text" in vendor.requests[0].body


@pytest.mark.parametrize(
    "given", [{}, {"apiKey": "x"}, {"apiKey": " ", "from": "a@b.c"}, {"apiKey": 7, "from": "a@b.c"}]
)
async def test_incomplete_credentials_make_no_call(given: dict[str, Any]) -> None:
    with pytest.raises(SendFailure, match="integration") as failure:
        await send(BY_ID["sendgrid"], credentials=given)

    assert failure.value.kind is FailureKind.PERMANENT


async def test_http2_calls_share_a_connection_and_use_the_egress_guard() -> None:
    call = encode_call(ProviderRequest.json("https://api.push.apple.com/3/device/a", {"aps": {}}))
    clock = ManualClock(NOW)
    async with play(lambda _: Reply(status=410, body={"reason": "Unregistered"}, headers={"apns-id": "1"})) as vendor:
        client = Http2Client(EgressGuard(["127.0.0.0/8"]), seconds=5, clock=clock, rewrite_url=vendor.rewrite_url)
        answers = await asyncio.gather(*(client.call(call) for _ in range(5)))
        await client.close()
        guarded = Http2Client(EgressGuard(), seconds=5, clock=clock, rewrite_url=vendor.rewrite_url)
        with pytest.raises(SendFailure, match="CLARION_EGRESS_ALLOW"):
            await guarded.call(call)
        await guarded.close()

    assert {(one.status, one.value("reason"), one.headers["apns-id"]) for one in answers} == {
        (410, "Unregistered", "1")
    }
    assert (vendor.connections, vendor.requests[0].url) == (1, "https://api.push.apple.com/3/device/a")


@pytest.mark.parametrize("reply", [SILENCE, None])
async def test_an_http2_call_without_an_answer_is_ambiguous(reply: Reply | None) -> None:
    call = encode_call(ProviderRequest.json("https://api.push.apple.com/3/device/a", {}))
    async with play(lambda _: reply) as vendor:
        client = Http2Client(
            EgressGuard(["127.0.0.0/8"]), seconds=1.5, clock=ManualClock(NOW), rewrite_url=vendor.rewrite_url
        )
        with pytest.raises(SendFailure) as failure:
            await client.call(call)
        await client.close()

    assert (failure.value.kind, failure.value.is_ambiguous) == (FailureKind.RETRYABLE, True)


async def test_an_http2_call_that_gets_no_stream_is_no_failure_of_the_provider() -> None:
    call = encode_call(ProviderRequest.json("https://api.push.apple.com/3/device/a", {}))
    async with play(lambda _: SILENCE) as vendor:
        vendor.max_streams = 1
        client = Http2Client(
            EgressGuard(["127.0.0.0/8"]), seconds=1.5, clock=ManualClock(NOW), rewrite_url=vendor.rewrite_url
        )
        results = await asyncio.gather(*(client.call(call) for _ in range(3)), return_exceptions=True)
        await client.close()

    failures = [one for one in results if isinstance(one, SendFailure)]
    assert sorted((one.kind, one.is_ambiguous) for one in failures) == [
        (FailureKind.NO_CONNECTION, False),
        (FailureKind.NO_CONNECTION, False),
        (FailureKind.RETRYABLE, True),
    ]
    assert len(vendor.requests) == 1


async def test_an_http2_call_that_gets_no_connection_to_the_server_is_retryable() -> None:
    async def look_up_forever(host: str, port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    call = encode_call(ProviderRequest.json("https://api.push.apple.com/3/device/a", {}))
    client = Http2Client(EgressGuard(look_up=look_up_forever), seconds=0.05, clock=ManualClock(NOW))
    with pytest.raises(SendFailure) as failure:
        await client.call(call)
    await client.close()

    assert (failure.value.kind, failure.value.is_ambiguous) == (FailureKind.RETRYABLE, False)
