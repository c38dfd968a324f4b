"""Push: payload of the trigger, targets, size limits and overrides, as the vendors document them.

FCM: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages and, for the limits,
https://firebase.google.com/docs/cloud-messaging/customize-messages/set-message-type
Apple: https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
Expo: https://docs.expo.dev/push-notifications/sending-notifications/#message-request-format
OneSignal: https://documentation.onesignal.com/docs/osnotification-payload
Beams: https://pusher.com/docs/beams/reference/publish-payloads
"""

import json
from typing import Any

import pytest

from clarion.providers.definition.provider import PushProvider
from clarion.providers.definition.result import FailureKind
from clarion.providers.registry import PROVIDERS
from tests.providers.contract.case import MESSAGE_ID
from tests.providers.test_push_and_chat import BY_ID, fail, send

OWN = {"clarion_message_id": MESSAGE_ID}


async def send_push(provider_id: str, **fields: Any) -> Any:
    """Return the body that the provider gets."""
    case = BY_ID[provider_id]
    _, vendor = await send(case, **{"overrides": {}, "data": None, "payload": {}, "device_tokens": ("d-1",)} | fields)
    return json.loads(vendor.requests[-1].body)


async def send_fcm(**overrides: Any) -> Any:
    body = await send_push("fcm", overrides=overrides, payload={"n": 7, "title": "theirs"}, data={"step": True})
    return body["message"]


@pytest.mark.parametrize("target", [{"topic": "news"}, {"topic": "/topics/news"}, {"condition": "'a' in topics"}])
async def test_a_message_of_fcm_has_one_target(target: dict[str, str]) -> None:
    message = await send_push("fcm", overrides=target, device_tokens=())

    ((name, value),) = target.items()
    assert {one: message["message"].get(one) for one in ("token", "topic", "condition")} == {
        "token": None,
        "topic": None,
        "condition": None,
        name: value.removeprefix("/topics/"),
    }


async def test_fcm_sends_to_a_topic_once_although_there_are_devices() -> None:
    _, vendor = await send(BY_ID["fcm"], overrides={"topic": "news"}, device_tokens=("one", "two"))

    sends = [one for one in vendor.requests if one.url.endswith("messages:send")]
    assert ["token" in json.loads(one.body)["message"] for one in sends] == [False]


async def test_a_data_message_of_fcm_has_the_payload_as_texts_and_no_notification() -> None:
    message = await send_fcm(type="data", data={"more": [1]}, badge=3, sound="ping", color="#fff")

    texts = {"title": "Order 7", "body": "Your order is on its way", "message": "Your order is on its way"}
    assert message["data"] == {"n": "7", "step": "true", "more": "[1]"} | texts | OWN
    assert "notification" not in message
    assert "notification" not in message.get("android", {})


async def test_a_notification_of_fcm_has_no_payload_of_the_trigger() -> None:
    message = await send_fcm(data={"more": 1})

    assert message["data"] == {"step": "true", "more": "1"} | OWN
    assert message["notification"] == {"title": "Order 7", "body": "Your order is on its way"}


async def test_fcm_gets_options_of_all_platforms_from_one_override() -> None:
    message = await send_fcm(ttl=60, priority="high", collapseId="o7", subtitle="Two", mutableContent=True)

    tag = {"notification": {"tag": MESSAGE_ID}}
    assert message["android"] == {"priority": "HIGH", "ttl": "60s", "collapse_key": "o7"} | tag
    assert message["webpush"] == {"headers": {"TTL": "60", "Urgency": "high", "Topic": "o7"}} | tag
    assert message["apns"]["headers"] == {
        "apns-priority": "10",
        "apns-expiration": "1767225660",
        "apns-collapse-id": "o7",
    }
    alert = {"title": "Order 7", "body": "Your order is on its way", "subtitle": "Two"}
    assert message["apns"]["payload"]["aps"] == {"mutable-content": 1, "alert": alert}


async def test_fcm_gets_the_shapes_of_the_admin_sdk_as_the_api_wants_them() -> None:
    message = await send_fcm(
        android={
            "collapseKey": "k",
            "data": {"n": 1},
            "notification": {
                "priority": "high",
                "visibility": "public",
                "vibrateTimingsMillis": [200, 500],
                "eventTimestamp": "2026-01-01T00:00:00Z",
            },
        },
        apns={"payload": {"aps": {"mutableContent": True, "alert": {"titleLocKey": "T"}, "custom": 1}}},
        webPush={"headers": {"TTL": 60}, "data": {"n": 1}, "fcm_options": {"link": "/foo"}},
    )

    assert message["android"] == {
        "collapse_key": "k",
        "data": {"n": "1"},
        "notification": {
            "tag": MESSAGE_ID,
            "notification_priority": "PRIORITY_HIGH",
            "visibility": "PUBLIC",
            "vibrate_timings": ["0.2s", "0.5s"],
            "event_time": "2026-01-01T00:00:00Z",
        },
    }
    aps = {"mutable-content": 1, "alert": {"title-loc-key": "T"}, "custom": 1}
    assert message["apns"] == {"headers": {"apns-collapse-id": MESSAGE_ID}, "payload": {"aps": aps}}
    assert message["webpush"] == {
        "headers": {"TTL": "60"},
        "notification": {"tag": MESSAGE_ID},
        "data": {"n": "1"},
        "fcm_options": {"link": "/foo"},
    }


@pytest.mark.parametrize(
    ("provider_id", "path"),
    [
        ("apns", ()),
        ("expo", ("data",)),
        ("one-signal", ("data",)),
        ("pusher-beams", ("apns", "data")),
        ("pusher-beams", ("web", "data")),
    ],
)
async def test_apps_get_the_payload_under_the_data_of_step_and_trigger(provider_id: str, path: tuple[str, ...]) -> None:
    payload = {"a": 1, "b": {"c": [2]}, "d": "payload", "e": "payload", "attachments": [{"file": "x"}]}
    fields = {"payload": payload, "data": {"d": "step", "e": "step"}, "overrides": {"data": {"e": "trigger"}}}
    found = await send_push(provider_id, **fields)
    for name in path:
        found = found[name]
    found.pop("aps", None)

    assert found == {"a": 1, "b": {"c": [2]}, "d": "step", "e": "trigger"} | OWN


async def test_android_apps_get_the_payload_from_beams_as_texts() -> None:
    body = await send_push("pusher-beams", payload={"a": 1, "pusher": {"b": None}})

    assert body["fcm"]["data"] == {"a": "1", "pusher": '{"b":null}'} | OWN
    assert body["web"]["data"] == {"a": 1} | OWN


@pytest.mark.parametrize(
    ("provider_id", "limit"),
    [("apns", 4096), ("fcm", 4096), ("expo", 4096), ("one-signal", 2048), ("pusher-beams", 4096)],
)
async def test_a_notification_that_is_too_large_fails_with_both_sizes(provider_id: str, limit: int) -> None:
    fields: dict[str, Any] = {"overrides": {}, "payload": {}}
    await send(BY_ID[provider_id], data={"text": "x" * (limit - 400)}, **fields)
    failure = await fail(provider_id, data={"text": "é" * (limit // 2)}, **fields)

    assert failure.kind is FailureKind.PERMANENT
    assert f"accepts {limit} at most" in failure.message
    assert int(failure.message.split(" has ")[1].split(" bytes")[0]) > limit


async def test_topics_of_fcm_and_calls_at_apple_have_their_own_limits() -> None:
    topic = await fail("fcm", data={"text": "x" * 2048}, overrides={"topic": "news"}, payload={})
    call = await fail("apns", data={"text": "x" * 5120}, overrides={"pushType": "voip"}, payload={})

    assert "accepts 2048 at most" in topic.message
    assert "accepts 5120 at most" in call.message


async def test_apple_gets_options_under_its_own_names() -> None:
    case = BY_ID["apns"]
    overrides = {
        "categoryId": "order",
        "bodyLocKey": "B",
        "sound": {"name": "alarm", "critical": True, "volume": 0.5},
        "badge": "4",
        "ttl": 60,
        "priority": "normal",
        "aps": {"contentAvailable": True},
        "payload": {"aps": {"threadId": "t"}, "more": 1},
    }
    _, vendor = await send(case, overrides=overrides, data=None, payload={"aps": "theirs"})

    body, headers = json.loads(vendor.requests[0].body), vendor.requests[0].headers
    assert (
        body
        == {
            "aps": {
                "alert": {"title": "Order 7", "body": "Your order is on its way", "loc-key": "B"},
                "badge": 4,
                "sound": {"name": "alarm", "critical": 1, "volume": 0.5},
                "category": "order",
                "thread-id": "t",
                "content-available": 1,
            },
            "more": 1,
        }
        | OWN
    )
    assert (headers["apns-priority"], headers["apns-expiration"]) == ("5", "1767225660")


async def test_a_raw_payload_goes_to_apple_as_it_is() -> None:
    raw = {"aps": {"content-available": 1}, "x": 1}

    assert await send_push("apns", overrides={"rawPayload": raw, "pushType": "background"}) == raw


@pytest.mark.parametrize("provider_id", [one.id for one in PROVIDERS.values() if isinstance(one, PushProvider)])
def test_overrides_of_the_wrong_type_are_listed_as_ignored(provider_id: str) -> None:
    given = {"badge": "many", "sound": 5, "image": {"url": "x"}, "data": "text"}

    assert set(PROVIDERS[provider_id].list_ignored(given)) == set(given)


@pytest.mark.parametrize("provider_id", ["apns", "fcm", "expo", "one-signal", "pusher-beams", "push-webhook"])
def test_nothing_that_is_documented_is_listed_as_ignored(provider_id: str) -> None:
    common = ("title", "body", "subtitle", "data", "ttl", "priority", "collapseId", "categoryId", "mutableContent")
    of_fcm: tuple[str, ...] = (
        "type",
        "icon",
        "color",
        "tag",
        "clickAction",
        "channelId",
        "bodyLocKey",
        "bodyLocArgs",
        "titleLocKey",
    )
    of_fcm += ("titleLocArgs", "android", "apns", "fcmOptions", "webPush", "imageUrl", "topic", "condition")
    of_apns: tuple[str, ...] = (
        "alert",
        "badge",
        "category",
        "threadId",
        "contentAvailable",
        "interruptionLevel",
        "topic",
        "id",
    )
    of_apns += ("expiry", "pushType", "payload", "aps", "rawPayload")
    documented = {"fcm": of_fcm, "apns": of_apns}.get(provider_id, ())

    assert PROVIDERS[provider_id].list_ignored(dict.fromkeys((*common, *documented))) == {}
