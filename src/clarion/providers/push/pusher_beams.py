"""Pusher Beams: one call for all users, with payloads for Apple, Firebase and the web."""

from collections.abc import Iterator, Mapping
from typing import Any

from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.overrides import deep_merge, recase, snake
from clarion.providers.definition.provider import PushProvider
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, kinds_of
from clarion.providers.definition.request import (
    ProviderRequest,
    Size,
    bearer,
    drop_empty,
    json_bytes,
    path_part,
    text_bytes,
)
from clarion.providers.definition.result import json_id
from clarion.providers.push.apple import IN_ALERT, IN_APS, MAX_BYTES, apple_name, write_aps
from clarion.providers.push.message import Push, as_texts
from clarion.providers.signing.signatures import is_body_signed
from clarion.secret import Secret

_RESULT_LISTS = ("users_delivered_to_gateway", "users_no_devices", "users_gateway_failed")
_MAX_REQUEST_BYTES = 200 * 1024
_PLATFORMS = ("apns", "fcm", "web")
# Where overrides go in the format of each platform: https://pusher.com/docs/beams/reference/publish-payloads
_IN_APS = IN_APS - {"alert", "badge", "sound"}
_FCM = {"ttl": "time_to_live", "collapse_id": "collapse_key", "collapse_key": "collapse_key", "priority": "priority"}
_FCM_NOTIFICATION = {
    **{name: name for name in ("icon", "tag", "color", "click_action", "body_loc_key", "body_loc_args")},
    "title_loc_key": "title_loc_key",
    "title_loc_args": "title_loc_args",
    "channel_id": "android_channel_id",
}
_WEB = {"ttl": "time_to_live"}
_WEB_NOTIFICATION = {name: name for name in ("icon", "deep_link", "hide_notification_if_site_has_focus")}
_READ = frozenset({*_PLATFORMS, *_FCM, *_FCM_NOTIFICATION, *_WEB_NOTIFICATION})


class PusherBeamsCredentials(Credentials):
    instance_id: str
    secret_key: Secret
    token: Secret = Secret("")
    """The secret of the webhook."""

    def publish(self, audience: str, body: Mapping[str, Any]) -> ProviderRequest:
        instance = path_part(self.instance_id)
        server = f"https://{instance}.pushnotifications.pusher.com"
        url = f"{server}/publish_api/v1/instances/{instance}/publishes/{audience}"
        return ProviderRequest.json(url, body)


def request(account: PusherBeamsCredentials, push: Push) -> ProviderRequest:
    options = recase(push.options, snake)
    data = {**push.app_data, "clarion_message_id": push.message_id}
    if push.image:
        data["image"] = push.image
    body: dict[str, Any] = {
        "users": list(push.tokens),
        "apns": {"aps": _aps(push), "data": data},
        "fcm": {
            **_chosen(options, _FCM),
            "notification": _notification(push, _FCM_NOTIFICATION),
            "data": as_texts(data),
        },
        # Beams keeps this name for itself.
        "web": {
            **_chosen(options, _WEB),
            "notification": _notification(push, _WEB_NOTIFICATION),
            "data": {name: value for name, value in data.items() if name != "pusher"},
        },
    }
    body["fcm"]["notification"] |= {"sound": push.sound} if push.sound else {}
    return account.publish("users", deep_merge(body, _raw(options)))


def _aps(push: Push) -> dict[str, Any]:
    given = recase(push.options, apple_name)
    alert = {"title": push.title, "body": push.body}
    alert |= {name: value for name, value in given.items() if name in IN_ALERT}
    # The app fetches images, which Apple allows only for notifications with mutable-content.
    picture = {"mutable-content": 1} if push.image else {}
    aps = {"alert": drop_empty(alert), "badge": push.badge, "sound": push.any_sound, **picture}
    return write_aps(drop_empty(aps | {name: value for name, value in given.items() if name in _IN_APS}))


def _notification(push: Push, names: Mapping[str, str]) -> dict[str, Any]:
    text = {"title": push.title, "body": push.body}
    return drop_empty({**text, **_chosen(recase(push.options, snake), names)})


def _chosen(options: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names[name]: value for name, value in options.items() if name in names}


def _raw(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what overrides give in the formats of the three platforms."""
    raw = {name: dict(options[name]) for name in _PLATFORMS if isinstance(options.get(name), Mapping)}
    if isinstance(raw.get("apns", {}).get("aps"), Mapping):
        raw["apns"]["aps"] = write_aps(raw["apns"]["aps"])
    return raw


def reads(name: str) -> bool:
    """Return whether an override is part of one of the three payloads."""
    return snake(name) in _READ or apple_name(name) in _IN_APS | IN_ALERT


def sizes(call: ProviderRequest) -> Iterator[Size]:
    whole = json_bytes(call.body)
    if whole <= MAX_BYTES:
        return
    apns, fcm = call.body["apns"], call.body["fcm"]
    yield Size("The notification for Apple", json_bytes(apns), MAX_BYTES)
    texts = text_bytes(fcm.get("data", {})) + text_bytes(fcm.get("notification", {}))
    yield Size("The notification for Firebase", texts, MAX_BYTES)
    yield Size("The request", whole, _MAX_REQUEST_BYTES)


def check(account: PusherBeamsCredentials) -> ProviderRequest:
    """Publish to an interest without subscribers."""
    body = {"interests": ["clarion-credentials-check"], "web": {"notification": {"title": "Check", "body": "Check"}}}
    return account.publish("interests", body)


def is_genuine(callback: Callback, account: PusherBeamsCredentials) -> bool:
    return is_body_signed(callback, account.token, header="webhook-signature", algorithm="sha1")


def _events(callback: Callback) -> list[Mapping[str, Any]]:
    """Return one event per user; a publish attempt reports several users, in a list for each result."""
    events: list[Mapping[str, Any]] = []
    for event in callback.events():
        payload = event["payload"]
        listed = [(name, user) for name in _RESULT_LISTS for user in payload.get(name, ())]
        single = [(event["metadata"]["event_type"], payload["user_id"])] if "user_id" in payload else []
        events += [{**event, "kind": kind, "user": user} for kind, user in listed + single]
    return events


RECEIPTS = EventReader(
    kinds=kinds_of(
        sent=("users_delivered_to_gateway",),
        failed=("users_no_devices", "users_gateway_failed"),
        delivered=("v1.UserNotificationAcknowledgement",),
        opened=("v1.UserNotificationOpen",),
    ),
    kind="kind",
    id="payload.publish_id",
    recipient="user",
    at="metadata.created_at",
    event_id="metadata.event_id",
    reason="kind",
    events=_events,
)

PROVIDER = PushProvider(
    id="pusher-beams",
    name="Pusher Beams",
    credentials=PusherBeamsCredentials,
    auth=lambda account: bearer(account.secret_key),
    request=request,
    sent=json_id("publishId"),
    check=check,
    receipts=Receipts(is_genuine=is_genuine, parse=RECEIPTS, signed_with="signature, secret of the webhook in `token`"),
    casing=None,
    reads=reads,
    sizes=sizes,
    documentation="https://pusher.com/docs/beams/reference/publish-api",
    note="Device tokens are the ids of users. The trigger's payload is in `data`. A user without any device "
    "is reported by the webhook alone.",
)
