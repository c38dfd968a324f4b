"""Behaviour of single push and chat providers, beyond the shared contract."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from clarion.clock import MINUTE, ManualClock
from clarion.providers.definition.receipts import Callback
from clarion.providers.definition.result import FailureKind, SendFailure, Sent
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from tests.providers.contract.case import MESSAGE_ID, NOW, Case
from tests.providers.contract.cases import apns
from tests.providers.contract.cases.one_signal import FIRST, SECOND
from tests.providers.contract.golden import make_gateway
from tests.providers.contract.table import CASES
from tests.providers.contract.vendor import Received, Reply, Vendor, play

BY_ID = {case.id: case for case in CASES}
Answer = Reply | Callable[[Received], Reply | None]


async def send(case: Case, answer: Answer | None = None, **fields: Any) -> tuple[Sent, Vendor]:
    async with play(case.answers(answer or case.success)) as vendor, make_gateway(vendor) as gateway:
        return await gateway.send(case.id, case.make_outgoing(**fields)), vendor


async def fail(provider_id: str, answer: Answer | None = None, **fields: Any) -> SendFailure:
    with pytest.raises(SendFailure) as failure:
        await send(BY_ID[provider_id], answer, **fields)
    return failure.value


def body_of(vendor: Vendor) -> Any:
    (request,) = vendor.requests
    return json.loads(request.body)


async def test_the_token_for_apple_is_reused_and_renewed_before_it_expires() -> None:
    case, clock = BY_ID["apns"], ManualClock(NOW)
    guard = EgressGuard(["127.0.0.0/8"])
    async with (
        play(case.answers(case.success)) as vendor,
        ProviderGateway(guard, clock=clock, rewrite_url=vendor.rewrite_url) as gateway,
    ):
        for _ in range(12):
            await gateway.send("apns", case.make_outgoing())
            clock.move(10 * MINUTE)

    tokens = [request.headers["authorization"].removeprefix("bearer ") for request in vendor.requests]
    issued = [_claims(token)["iat"] for token in tokens]
    ages = [NOW // 1000 + 600 * turn - moment for turn, moment in enumerate(issued)]
    assert len(set(tokens)) == len(set(issued)) == 3
    assert all(0 <= age < 3_600 for age in ages)
    assert vendor.connections == 1


async def test_the_token_for_apple_verifies_with_the_public_key() -> None:
    _, vendor = await send(BY_ID["apns"])

    unsigned, _, signature = vendor.requests[0].headers["authorization"].removeprefix("bearer ").rpartition(".")
    numbers = _bytes(signature)
    first, second = int.from_bytes(numbers[:32], "big"), int.from_bytes(numbers[32:], "big")
    apns.KEY.public_key().verify(encode_dss_signature(first, second), unsigned.encode(), ec.ECDSA(SHA256()))
    assert json.loads(_bytes(unsigned.partition(".")[0])) == {"alg": "ES256", "typ": "JWT", "kid": "canary-key-id"}
    assert _claims(unsigned + ".")["iss"] == "TEAM123456"


@pytest.mark.parametrize(("secure", "host"), [(True, "api.push.apple.com"), (False, "api.sandbox.push.apple.com")])
async def test_apple_has_a_sandbox_server(secure: bool, host: str) -> None:
    case = BY_ID["apns"]
    _, vendor = await send(case, credentials=dict(case.credentials) | {"secure": secure})

    assert vendor.requests[0].url.startswith(f"https://{host}/3/device/")


@pytest.mark.parametrize(
    ("status", "reason", "works"),
    [(400, "BadDeviceToken", True), (403, "InvalidProviderToken", False), (400, "TopicDisallowed", False)],
)
async def test_credentials_for_apple_work_if_only_the_device_is_unknown(status: int, reason: str, works: bool) -> None:
    case = BY_ID["apns"]
    async with play(lambda _: Reply(status=status, body={"reason": reason})) as vendor, make_gateway(vendor) as gateway:
        if works:
            await gateway.check("apns", case.credentials)
        else:
            with pytest.raises(SendFailure, match=reason):
                await gateway.check("apns", case.credentials)


async def test_expo_reports_the_invalid_one_of_two_devices() -> None:
    case = BY_ID["expo"]

    def answer(request: Received) -> Reply:
        return case.faults["invalid recipient"].reply if b"lost" in request.body else case.success

    sent, vendor = await send(case, answer, device_tokens=("ExponentPushToken[lost]", "ExponentPushToken[here]"))

    assert (sent.provider_message_id, sent.dead_tokens) == (case.message_id, ("ExponentPushToken[lost]",))
    assert len(vendor.requests) == 2


async def test_onesignal_reports_invalid_devices_beside_valid_ones() -> None:
    reply = Reply(body={"id": "n-1", "errors": {"invalid_player_ids": [SECOND, "someone-elses"]}})
    sent, _ = await send(BY_ID["one-signal"], reply)

    assert (sent.provider_message_id, sent.dead_tokens) == ("n-1", (SECOND,))
    assert sent.raw["status"] == 200


async def test_for_onesignal_unknown_devices_are_dead_and_unsubscribed_ones_are_not() -> None:
    unknown = await fail("one-signal", Reply(body={"id": "", "errors": {"invalid_player_ids": [FIRST, SECOND]}}))
    unsubscribed = await fail(
        "one-signal", Reply(body={"id": "", "errors": ["All included players are not subscribed"]})
    )

    assert (unknown.kind, unknown.dead_tokens) == (FailureKind.RECIPIENT_INVALID, (FIRST, SECOND))
    assert (unsubscribed.kind, unsubscribed.dead_tokens) == (FailureKind.RECIPIENT_INVALID, ())
    assert "not subscribed" in unsubscribed.message


@pytest.mark.parametrize("tokens", [("ada", "grace"), (FIRST, SECOND), ("ada", FIRST)])
async def test_the_integration_says_which_kind_of_ids_onesignal_gets(tokens: tuple[str, ...]) -> None:
    case = BY_ID["one-signal"]
    bodies = {}
    for kind in ("externalId", "playerModel", ""):
        _, vendor = await send(case, device_tokens=tokens, credentials=dict(case.credentials) | {"apiVersion": kind})
        bodies[kind] = body_of(vendor)

    external = bodies["externalId"]
    assert (external["include_aliases"], external["target_channel"]) == ({"external_id": list(tokens)}, "push")
    assert "include_subscription_ids" not in external
    assert bodies["playerModel"] == bodies[""]
    assert bodies["playerModel"]["include_subscription_ids"] == list(tokens)
    assert "include_aliases" not in bodies["playerModel"]


@pytest.mark.parametrize("kind", ["externalId", ""])
async def test_ids_that_may_be_of_another_kind_are_not_dead_for_onesignal(kind: str) -> None:
    case = BY_ID["one-signal"]
    credentials = dict(case.credentials) | {"apiVersion": kind}
    reply = Reply(body={"id": "n-1", "errors": {"invalid_player_ids": [FIRST, SECOND]}})
    sent, _ = await send(case, reply, credentials=credentials)

    assert sent.dead_tokens == ()


@pytest.mark.parametrize("provider_id", ["push-webhook", "chat-webhook"])
async def test_webhooks_are_signed_over_the_exact_bytes_and_triggers_cannot_set_the_signature(provider_id: str) -> None:
    passed = {"headers": {"x-novu-signature": "forged", "X-More": "1"}, "body": {"ümlaut": "€"}}
    _, vendor = await send(BY_ID[provider_id], overrides={"_passthrough": passed})

    (request,) = vendor.requests
    key = b"canary-secret-key"
    seconds, _, digest = request.headers["x-clarion-signature"].partition(",v1=")
    assert request.headers["x-novu-signature"] == hmac.new(key, request.body, hashlib.sha256).hexdigest()
    assert digest == hmac.new(key, f"{seconds[2:]}.".encode() + request.body, hashlib.sha256).hexdigest()
    assert int(seconds[2:]) == NOW // 1000
    assert (request.headers["x-more"], json.loads(request.body)["ümlaut"]) == ("1", "€")


async def test_a_chat_webhook_without_a_key_is_not_signed() -> None:
    _, vendor = await send(BY_ID["chat-webhook"], credentials={"webhookUrl": "https://hooks.example.org/account"})

    assert not [name for name in vendor.requests[0].headers if "signature" in name]


async def test_a_chat_webhook_uses_the_url_of_the_account_if_the_subscriber_has_none() -> None:
    account = {"webhookUrl": "https://hooks.example.org/account"}
    _, vendor = await send(BY_ID["chat-webhook"], credentials=account, webhook_url=None)

    assert vendor.requests[0].url == account["webhookUrl"]
    assert body_of(vendor)["webhookUrl"] == account["webhookUrl"]


async def test_pushpad_is_not_called_without_recipients() -> None:
    failure = await fail("pushpad", device_tokens=(" ",))

    assert failure.kind is FailureKind.RECIPIENT_INVALID


async def test_stream_sends_to_a_webhook_if_there_is_no_secret() -> None:
    fields: dict[str, Any] = {"credentials": {"apiKey": "canary-api-key"}, "webhook_url": "https://example.org/hook/1"}
    sent, vendor = await send(BY_ID["getstream"], Reply(body="thanks"), overrides={}, **fields)

    assert (vendor.requests[0].url, body_of(vendor)["text"][:5]) == ("https://example.org/hook/1", "Build")
    assert vendor.requests[0].headers["x-api-key"] == "canary-api-key"
    assert sent.provider_message_id == MESSAGE_ID


async def test_credentials_that_cannot_be_tested_pass_the_check() -> None:
    async with play(lambda _: Reply(status=401)) as vendor, make_gateway(vendor) as gateway:
        await gateway.check("getstream", {"apiKey": "canary-api-key"})

    assert vendor.requests == []


async def test_a_duplicate_message_at_stream_counts_as_sent() -> None:
    text = f'SendMessage failed with error: "a message with ID {MESSAGE_ID} already exists"'
    sent, _ = await send(BY_ID["getstream"], Reply(status=400, body={"code": 4, "message": text}))

    assert sent.provider_message_id == MESSAGE_ID


async def test_a_duplicate_message_at_rocket_chat_counts_as_sent() -> None:
    text = f"E11000 duplicate key error collection: rocketchat_message dup key: {{ _id: '{MESSAGE_ID}' }}"
    sent, _ = await send(BY_ID["rocket-chat"], Reply(status=400, body={"success": False, "error": text}))

    assert sent.provider_message_id == MESSAGE_ID


@pytest.mark.parametrize("provider_id", ["getstream", "rocket-chat"])
async def test_a_subscriber_without_a_channel_cannot_be_reached(provider_id: str) -> None:
    failure = await fail(provider_id, entry={})

    assert (failure.kind, "no channel" in failure.message) == (FailureKind.RECIPIENT_INVALID, True)


async def test_a_card_in_json_is_sent_to_teams_as_it_is() -> None:
    card = {"type": "AdaptiveCard", "version": "1.5", "body": []}
    _, vendor = await send(BY_ID["msteams"], content=json.dumps(card))
    (attachment,) = body_of(vendor)["attachments"]
    _, whole = await send(BY_ID["msteams"], content=json.dumps({"@type": "MessageCard", "text": "Hi"}))
    _, number = await send(BY_ID["msteams"], content="42")

    assert (attachment["contentType"], attachment["content"]) == ("application/vnd.microsoft.card.adaptive", card)
    assert body_of(whole) == {"@type": "MessageCard", "text": "Hi"}
    assert body_of(number)["attachments"][0]["content"]["body"][0]["text"] == "42"


@pytest.mark.parametrize(
    ("overrides", "kind"),
    [
        ({"template": {"name": "hi", "language": {"code": "en"}}, "image": {"id": "1"}}, "template"),
        ({"template": {"name": "hi", "language": {"code": "en"}}, "image": {"id": "1"}, "type": "image"}, "image"),
        ({"template": {"name": "hi", "language": {"code": "en"}}, "type": "text"}, "text"),
        ({"type": "template"}, "text"),
    ],
)
async def test_the_type_of_a_message_at_whatsapp_is_that_of_its_overrides(overrides: dict[str, Any], kind: str) -> None:
    _, vendor = await send(BY_ID["whatsapp-business"], overrides=overrides, content="Hello")

    body = body_of(vendor)
    assert (body["type"], body[kind]) == (kind, overrides.get(kind, {"body": "Hello"}))


async def test_a_chat_webhook_without_any_address_fails() -> None:
    failure = await fail("chat-webhook", credentials={"secretKey": "k"}, webhook_url=None)

    assert failure.kind is FailureKind.RECIPIENT_INVALID
    assert "Neither the subscriber nor the integration" in failure.message


async def test_overrides_extend_a_text_for_whatsapp() -> None:
    overrides = {"text": {"preview_url": True}, "context": {"message_id": "wamid.1"}}
    _, vendor = await send(BY_ID["whatsapp-business"], overrides=overrides, content="Hello")

    body = body_of(vendor)
    assert (body["type"], body["text"]) == ("text", {"body": "Hello", "preview_url": True})
    assert body["context"] == {"message_id": "wamid.1"}


@pytest.mark.parametrize(
    ("phone", "region", "default_region", "to"),
    [
        ("+44 (0)20 7946 0000", "", "", "442079460000"),
        ("0044 20 7946 0000", "", "", "442079460000"),
        ("020 7946 0000", "GB", "", "442079460000"),
        ("020 7946 0000", "", "GB", "442079460000"),
    ],
)
async def test_numbers_for_whatsapp_follow_the_rule_of_texts(
    phone: str, region: str, default_region: str, to: str
) -> None:
    case = BY_ID["whatsapp-business"]
    credentials = dict(case.credentials) | {"defaultRegion": default_region}
    _, vendor = await send(case, phone=phone, phone_region=region, credentials=credentials)

    assert json.loads(vendor.requests[0].body)["to"] == to


async def test_whatsapp_refuses_a_number_without_a_country_code() -> None:
    failure = await fail("whatsapp-business", phone="020 7946 0000")

    assert (failure.kind, "no country code" in failure.message) == (FailureKind.RECIPIENT_INVALID, True)


@pytest.mark.parametrize("phone", [None, "", "+"])
async def test_whatsapp_needs_a_phone_number(phone: str | None) -> None:
    assert (await fail("whatsapp-business", phone=phone)).kind is FailureKind.RECIPIENT_INVALID


@pytest.mark.parametrize(
    ("token", "known", "status"),
    [("canary-verify-token", "canary-verify-token", 200), ("guess", "canary-verify-token", 403), ("", "", 403)],
)
async def test_the_challenge_is_returned_to_meta_if_the_token_matches(token: str, known: str, status: int) -> None:
    case = BY_ID["whatsapp-business"]
    query = {"hub.mode": "subscribe", "hub.verify_token": token, "hub.challenge": "1158201444"}
    callback = Callback(method="GET", url="https://clarion.example/receipts/1", query=query, received_at=NOW)
    async with play(case.answers(Reply())) as vendor, make_gateway(vendor) as gateway:
        credentials = dict(case.credentials) | {"token": known}
        receipts, reply = await gateway.read_receipts("whatsapp-business", credentials, callback)

    assert receipts == []
    assert reply is not None
    assert (reply.status, reply.body) == (status, "1158201444" if status == 200 else "")


@pytest.mark.parametrize(("provider_id", "name"), [("whatsapp-business", "secretKey"), ("pusher-beams", "token")])
async def test_without_a_key_all_reports_are_refused(provider_id: str, name: str) -> None:
    case = BY_ID[provider_id]
    report = case.reports[0]
    algorithm = "sha1" if provider_id == "pusher-beams" else "sha256"
    empty = hmac.new(b"", report.body, algorithm).hexdigest()
    headers = {"webhook-signature": empty, "x-hub-signature-256": f"sha256={empty}"}
    callback = Callback(method="POST", url="", headers=headers, body=report.body, received_at=NOW)
    credentials = {key: value for key, value in case.credentials.items() if key != name}
    async with play(case.answers(Reply())) as vendor, make_gateway(vendor) as gateway:
        with pytest.raises(Exception, match="not signed"):
            await gateway.read_receipts(provider_id, credentials, callback)


def _claims(token: str) -> Any:
    return json.loads(_bytes(token.split(".")[1]))


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
