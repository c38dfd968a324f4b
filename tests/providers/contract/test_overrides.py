"""Overrides of a trigger: each one is in the provider's request, or listed as ignored. None is neither or both."""

from typing import Any

import pytest

from clarion.providers.chat import message as chat
from clarion.providers.definition.result import SendFailure
from clarion.providers.email import message as email
from clarion.providers.push import message as push
from clarion.providers.registry import PROVIDERS
from clarion.providers.sms import message as sms
from clarion.vocabulary import Channel
from tests.providers.contract.case import Case
from tests.providers.contract.golden import make_gateway
from tests.providers.contract.table import CASES
from tests.providers.contract.vendor import play

PICTURE = "https://example.com/canary.png"
VALUES: dict[Channel | None, dict[str, Any]] = {
    None: {"badge": 41, "image": PICTURE, "data": {"canary": "yes"}},
    Channel.EMAIL: {
        **dict.fromkeys(("to", "cc", "bcc", "replyTo", "from"), "canary@example.net"),
        "headers": {"X-Canary": "yes"},
        "attachments": [{"name": "canary.txt", "file": "Y2FuYXJ5"}],
    },
    Channel.SMS: {"to": "+442079460001"},
}
KNOWN = {Channel.EMAIL: email.KNOWN, Channel.SMS: sms.KNOWN, Channel.PUSH: push.KNOWN, Channel.CHAT: chat.KNOWN}

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


async def send(case: Case, overrides: dict[str, Any]) -> str:
    """Return everything that the provider receives, or why nothing is sent."""
    async with play(case.answers(case.success)) as vendor, make_gateway(vendor) as gateway:
        try:
            await gateway.send(case.id, case.make_outgoing(overrides=overrides))
        except SendFailure as failure:
            return failure.message
    return "\n".join(f"{one.url} {one.headers} {one.body!r}" for one in vendor.requests)


@each_case
async def test_an_override_that_nobody_knows_is_in_the_request_or_listed_as_ignored(case: Case) -> None:
    is_sent = "canary-of-nobody" in await send(case, {"nobodyKnowsThis": "canary-of-nobody"})

    assert is_sent is not ("nobodyKnowsThis" in PROVIDERS[case.id].list_ignored({"nobodyKnowsThis": "canary"}))


@pytest.mark.parametrize(
    ("case", "name"),
    [
        pytest.param(case, name, id=f"{case.id}-{name}")
        for case in CASES
        for name in sorted(KNOWN.get(case.channel, ()))
    ],
)
async def test_an_override_of_the_channel_changes_the_request_or_is_listed_as_ignored(case: Case, name: str) -> None:
    overrides = {name: (VALUES[None] | VALUES.get(case.channel, {})).get(name, "canary")}
    has_effect = await send(case, overrides) != await send(case, {name: None})

    assert has_effect is not (name in PROVIDERS[case.id].list_ignored(overrides))


@each_case
async def test_each_member_of_custom_data_is_in_the_request_or_listed_as_ignored(case: Case) -> None:
    for name in ("templateId", "templateParams", "personalization", "dynamicTemplateData", "nobodyKnowsThis"):
        overrides = {"customData": {name: "canary-of-nobody"}}
        is_sent = "canary-of-nobody" in await send(case, overrides)

        assert is_sent is not bool(PROVIDERS[case.id].list_ignored(overrides)), name


@each_case
async def test_each_part_of_a_passthrough_is_in_the_request_or_listed_as_ignored(case: Case) -> None:
    for name in ("body", "headers", "query"):
        overrides = {"_passthrough": {name: {"x-nobody-knows": "canary-of-nobody"}}}
        is_sent = "canary-of-nobody" in await send(case, overrides)

        assert is_sent is not (f"_passthrough.{name}" in PROVIDERS[case.id].list_ignored(overrides)), name


def test_an_e_mail_over_smtp_passes_nothing_through() -> None:
    assert "_passthrough" in PROVIDERS["nodemailer"].list_ignored({"_passthrough": {"body": {"x": 1}}})


@pytest.mark.parametrize("provider_id", sorted(PROVIDERS))
def test_what_only_integrations_and_subscribers_can_set_is_listed_as_ignored(provider_id: str) -> None:
    provider = PROVIDERS[provider_id]
    ignored = provider.list_ignored(
        {"webhookUrl": "https://example.com", "hmacSecretKey": "k", "_passthrough": {"x": 1}}
    )

    expected = set() if provider.documentation == "built in" else {"webhookUrl", "hmacSecretKey", "_passthrough.x"}
    assert set(ignored) - {"_passthrough"} == expected


_EMAIL = {
    "to": ["a@example.com"],
    "cc": ["a@example.com"],
    "bcc": ["a@example.com"],
    "replyTo": "a@example.com",
    "from": "a@example.com",
    "senderName": "Ada",
    "attachments": [],
    "headers": {"X-Order": "7"},
    "subject": "Hi",
    "html": "<p>Hi</p>",
    "integrationIdentifier": "first",
    "toRecipient": "b@example.com",
}
_FCM = {
    "type": "data",
    "data": {"a": "b"},
    "title": "Hi",
    "body": "Hi",
    "icon": "i",
    "badge": 1,
    "sound": "s",
    "color": "#fff",
    "tag": "t",
    "clickAction": "a",
    "bodyLocKey": "k",
    "bodyLocArgs": ["a"],
    "titleLocKey": "k",
    "titleLocArgs": ["a"],
    "android": {},
    "apns": {},
    "fcmOptions": {},
    "webPush": {},
    "imageUrl": "https://x.example",
    "topic": "news",
}
_APNS = {
    "title": "Hi",
    "body": "Hi",
    "badge": 1,
    "sound": "s",
    "category": "c",
    "threadId": "t",
    "contentAvailable": True,
    "mutableContent": True,
    "interruptionLevel": "active",
    "topic": "com.example",
    "expiry": 1,
    "priority": 10,
    "pushType": "alert",
    "collapseId": "c",
    "payload": {"a": 1},
    "aps": {"badge": 2},
}
DOCUMENTED: dict[str, dict[str, Any]] = {
    **{one.id: _EMAIL for one in PROVIDERS.values() if one.channel is Channel.EMAIL and one.id != "svc-email"},
    **{
        one: {"to": "+441632960000", "content": "Hi", "integrationIdentifier": "x"}
        for one in ("twilio", "nexmo", "sns")
    },
    "fcm": _FCM,
    "apns": _APNS,
    "expo": {"sound": "default", "badge": 1, "channelId": "c", "priority": "high", "ttl": 60},
    "one-signal": {
        "subtitle": "s",
        "mutableContent": True,
        "channelId": "c",
        "icon": "i",
        "categoryId": "c",
        "sound": "s",
    },
    "pusher-beams": {
        "badge": 1,
        "sound": "s",
        "categoryId": "c",
        "channelId": "c",
        "clickAction": "a",
        "color": "#fff",
        "icon": "i",
        "tag": "t",
        "ttl": 60,
    },
    "pushpad": {"targetUrl": "https://x.example", "iconUrl": "https://x.example/i.png", "ttl": 60},
    "slack": {"blocks": [], "attachments": [], "thread_ts": "1"},
    "discord": {"embeds": [], "username": "Clarion"},
    "whatsapp-business": {"template": {"name": "hello", "language": {"code": "en"}}},
}
"""Overrides that people who come from the system with the same API rely on."""


@pytest.mark.parametrize("provider_id", DOCUMENTED)
def test_documented_overrides_are_not_reported_as_unknown(provider_id: str) -> None:
    assert PROVIDERS[provider_id].list_ignored(DOCUMENTED[provider_id]) == {}
