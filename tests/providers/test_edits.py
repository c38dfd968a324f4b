"""Messages that a provider has are changed and taken back by its calls; push messages by the id of the first one."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from clarion.providers.definition.changes import ChangeKind, MessageChange, SentMessage
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import FailureKind, SendFailure, Sent
from clarion.providers.registry import PROVIDERS
from clarion.vocabulary import Channel
from tests.providers.contract.case import MESSAGE_ID
from tests.providers.contract.golden import make_gateway
from tests.providers.contract.table import CASES
from tests.providers.contract.vendor import Received, Reply, Vendor, play

BY_ID = {case.id: case for case in CASES}
HOOK = "https://discord.com/api/webhooks/1234/canary-webhook-token"
TEAMS = {"clientId": "bot", "secretKey": "secret", "tenantId": "home"}
IN_CHANNEL = {"endpointType": "ms_teams_channel", "teamId": "team", "channelId": "19:c", "tenantId": "t1"}
TO_PERSON = {"endpointType": "ms_teams_user", "userId": "u1", "tenantId": "t1"}


def chat(provider: str, **fields: Any) -> Outgoing:
    case = BY_ID[provider]
    base = {"message_id": MESSAGE_ID, "channel": Channel.CHAT, "content": "New", "credentials": dict(case.credentials)}
    return Outgoing(**base | fields)


def change(kind: ChangeKind, message_id: str = "7.7", number: Any = 1, **place: Any) -> MessageChange:
    return MessageChange(kind=kind, sent=SentMessage(provider_message_id=message_id, place=place), number=number)


async def send(provider: str, outgoing: Outgoing, answer: Reply | Any) -> tuple[Sent, Vendor]:
    async with play(answer if callable(answer) else lambda _: answer) as vendor, make_gateway(vendor) as gateway:
        return await gateway.send(provider, outgoing), vendor


def calls(vendor: Vendor) -> list[tuple[str, str, Any]]:
    return [
        (one.method, one.url, json.loads(one.body) if one.body.startswith(b"{") else None) for one in vendor.requests
    ]


async def test_slack_tells_a_bot_where_its_message_is_and_a_webhook_not() -> None:
    by_bot, _ = await send(
        "slack", chat("slack", entry={"channel": "#ops"}), Reply(body={"ok": True, "ts": "7.7", "channel": "C1"})
    )
    by_webhook, _ = await send(
        "slack", chat("slack", webhook_url="https://hooks.slack.com/services/a"), Reply(body="ok")
    )

    assert (by_bot.place, by_webhook.place) == ({"channel": "C1"}, None)


async def test_slack_changes_and_deletes_the_message_of_a_bot() -> None:
    changed, updating = await send(
        "slack", chat("slack", change=change(ChangeKind.UPDATE, channel="C1")), Reply(body={"ok": True, "ts": "7.7"})
    )
    _, deleting = await send(
        "slack", chat("slack", change=change(ChangeKind.WITHDRAW, channel="C1")), Reply(body={"ok": True})
    )

    address = {"channel": "C1", "ts": "7.7"}
    assert changed.provider_message_id == "7.7"
    body = {**address, "text": "New", "blocks": [], "attachments": []}
    assert calls(updating) == [("POST", "https://slack.com/api/chat.update", body)]
    assert calls(deleting) == [("POST", "https://slack.com/api/chat.delete", address)]


async def test_telegram_changes_and_deletes_by_chat_and_message() -> None:
    sent, _ = await send("telegram", chat("telegram", entry={"channel": "5"}), BY_ID["telegram"].success)
    assert sent.place == {"chat": "-1001234"}

    ok = Reply(body={"ok": True, "result": True})
    _, updating = await send("telegram", chat("telegram", change=change(ChangeKind.UPDATE, "77", chat="-1001234")), ok)
    _, deleting = await send(
        "telegram", chat("telegram", change=change(ChangeKind.WITHDRAW, "77", chat="-1001234")), ok
    )

    url, address = "https://api.telegram.org/bot123456:canary-bot-token", {"chat_id": "-1001234", "message_id": "77"}
    assert calls(updating) == [("POST", f"{url}/editMessageText", {**address, "text": "New"})]
    assert calls(deleting) == [("POST", f"{url}/deleteMessage", address)]


async def test_discord_changes_and_deletes_through_the_webhook_and_in_its_thread() -> None:
    sent, _ = await send("discord", chat("discord", webhook_url=HOOK, entry={"channel": "9"}), BY_ID["discord"].success)
    assert sent.place == {"thread_id": "9"}

    one = change(ChangeKind.UPDATE, "m1", thread_id="9")
    _, updating = await send("discord", chat("discord", webhook_url=HOOK, change=one), Reply(body={"id": "m1"}))
    one = change(ChangeKind.WITHDRAW, "m1")
    _, deleting = await send("discord", chat("discord", webhook_url=f"{HOOK}?wait=1", change=one), Reply(status=204))

    body = {"content": "New", "allowed_mentions": {"parse": []}, "embeds": []}
    assert calls(updating) == [("PATCH", f"{HOOK}/messages/m1?thread_id=9", body)]
    assert calls(deleting) == [("DELETE", f"{HOOK}/messages/m1?wait=1", None)]


@pytest.mark.parametrize(("entry", "conversation"), [(IN_CHANNEL, "19:c"), (TO_PERSON, "a:1")])
async def test_the_bot_of_teams_changes_and_deletes_its_messages(entry: dict[str, str], conversation: str) -> None:
    def answer(request: Received) -> Reply:
        if "login.microsoftonline.com" in request.url:
            return Reply(body={"access_token": "t", "expires_in": 3600})
        return Reply(body={"id": "a:1"} if request.url.endswith("/conversations") else {"id": "act"})

    sent, _ = await send("msteams", chat("msteams", credentials=TEAMS, entry=entry), answer)
    assert sent.place is not None
    made = {}
    for kind in ChangeKind:
        one = change(kind, "act", **sent.place)
        _, vendor = await send("msteams", chat("msteams", credentials=TEAMS, entry=entry, change=one), answer)
        made[kind] = calls(vendor)[-1]

    url = f"https://smba.trafficmanager.net/teams/v3/conversations/{conversation}/activities/act"
    assert made[ChangeKind.UPDATE][:2] == ("PUT", url)
    assert made[ChangeKind.UPDATE][2]["text"] == "New"
    assert made[ChangeKind.WITHDRAW] == ("DELETE", url, None)


_GONE = {
    "slack": Reply(body={"ok": False, "error": "message_not_found"}),
    "telegram": Reply(status=400, body={"ok": False, "description": "Bad Request: message to delete not found"}),
    "discord": Reply(status=404, body={"code": 10008, "message": "Unknown Message"}),
}


@pytest.mark.parametrize("provider", _GONE)
async def test_a_message_that_is_gone_is_withdrawn_and_cannot_be_changed(provider: str) -> None:
    place = {"channel": "C1", "chat": "5"}
    if provider == "discord":
        place = {}
    withdrawal = change(ChangeKind.WITHDRAW, **place)
    gone, _ = await send(provider, chat(provider, webhook_url=HOOK, change=withdrawal), _GONE[provider])
    assert gone.provider_message_id == "7.7"

    with pytest.raises(SendFailure) as failure:
        await send(
            provider, chat(provider, webhook_url=HOOK, change=change(ChangeKind.UPDATE, **place)), _GONE[provider]
        )
    assert failure.value.kind is FailureKind.PERMANENT


async def test_a_text_that_is_there_already_counts_as_changed_at_telegram() -> None:
    same = Reply(status=400, body={"ok": False, "description": "Bad Request: message is not modified: same content"})
    changed, _ = await send("telegram", chat("telegram", change=change(ChangeKind.UPDATE, "77", chat="5")), same)

    assert changed.provider_message_id == "77"


_REPLACED: dict[str, Callable[[Any], Any]] = {
    "fcm": lambda body: (
        body["message"]["android"]["notification"]["tag"],
        body["message"]["apns"]["headers"]["apns-collapse-id"],
        body["message"]["webpush"]["notification"]["tag"],
    ),
    "expo": lambda body: body["collapseId"],
    "one-signal": lambda body: (body["collapse_id"], body["web_push_topic"]),
}


@pytest.mark.parametrize("provider", _REPLACED)
async def test_a_push_message_is_replaced_by_one_with_its_id(provider: str) -> None:
    case = BY_ID[provider]
    tokens = case.make_outgoing().device_tokens[:1]
    fields = {"device_tokens": tokens, "overrides": {}}
    _, first = await send(provider, case.make_outgoing(**fields), case.answers(case.success))
    replaced = case.make_outgoing(**fields, content="New", change=change(ChangeKind.UPDATE, number=2))
    _, second = await send(provider, replaced, case.answers(case.success))

    bodies = [json.loads(one.requests[-1].body) for one in (first, second)]
    assert _REPLACED[provider](bodies[0]) == _REPLACED[provider](bodies[1])
    assert "New" in second.requests[-1].body.decode()
    if provider == "one-signal":
        # The same key would be taken for the first call again.
        assert bodies[0]["idempotency_key"] != bodies[1]["idempotency_key"]


async def test_apple_gets_the_id_of_the_first_notification() -> None:
    case = BY_ID["apns"]
    outgoing = case.make_outgoing(overrides={}, device_tokens=("aa",), change=change(ChangeKind.UPDATE))
    _, vendor = await send("apns", outgoing, case.success)

    assert vendor.requests[-1].headers["apns-collapse-id"] == MESSAGE_ID


def test_providers_say_why_they_cannot_change_a_message() -> None:
    def why(provider: str, kind: ChangeKind, place: dict[str, str] | None = None) -> str | None:
        return PROVIDERS[provider].find_change_obstacle(kind, place)

    assert why("slack", ChangeKind.UPDATE, {"channel": "C1"}) is None
    assert why("slack", ChangeKind.UPDATE) == (
        "Slack gave no address of the message: it went to a webhook that gives none"
    )
    assert why("mattermost", ChangeKind.WITHDRAW, {}) == "Mattermost cannot take back a message that it has"
    assert why("fcm", ChangeKind.UPDATE) is None
    assert why("fcm", ChangeKind.WITHDRAW) == (
        "Firebase Cloud Messaging cannot take notifications off a device; an update replaces them"
    )
    assert why("pushpad", ChangeKind.UPDATE) == "Pushpad cannot change a message that it has"
    assert why("sendgrid", ChangeKind.WITHDRAW) == "SendGrid cannot take back a message that it has"
