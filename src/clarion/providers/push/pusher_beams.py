"""Pusher Beams: one call for all users, with payloads for Apple, Firebase and the web."""

from collections.abc import Mapping
from typing import Any

from clarion.providers.definition.answer import json_id
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.kinds import Check, PushProvider
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, is_same, kinds_of
from clarion.providers.definition.request import ProviderRequest, bearer, drop_empty, path_part
from clarion.providers.push.message import Push
from clarion.providers.signing.digests import hmac_hex
from clarion.secret import Secret

_RESULT_LISTS = ("users_delivered_to_gateway", "users_no_devices", "users_gateway_failed")


class PusherBeamsCredentials(Credentials):
    instance_id: str
    secret_key: Secret
    token: Secret = Secret("")
    """The secret of the webhook."""

    def publish(self, audience: str, body: Mapping[str, Any]) -> ProviderRequest:
        instance = path_part(self.instance_id)
        server = f"https://{instance}.pushnotifications.pusher.com"
        url = f"{server}/publish_api/v1/instances/{instance}/publishes/{audience}"
        return ProviderRequest.json(url, body, auth=bearer(self.secret_key))


def request(account: PusherBeamsCredentials, push: Push) -> ProviderRequest:
    text = {"title": push.title, "body": push.body}
    data = {**push.text_data, "clarion_message_id": push.message_id} | ({"image": push.image} if push.image else {})
    # The app fetches images, which Apple allows only for notifications with mutable-content.
    picture = {"mutable-content": 1} if push.image else {}
    aps = {"alert": drop_empty(text), "badge": push.badge, "sound": push.sound, **picture}
    body = {
        "users": list(push.tokens),
        "apns": {"aps": drop_empty(aps), "data": data},
        "fcm": {"notification": drop_empty(text | {"sound": push.sound}), "data": data},
        "web": {"notification": drop_empty(text), "data": data},
    }
    return account.publish("users", body)


def check(account: PusherBeamsCredentials) -> ProviderRequest:
    """Publish to an interest without subscribers."""
    body = {"interests": ["clarion-credentials-check"], "web": {"notification": {"title": "Check", "body": "Check"}}}
    return account.publish("interests", body)


def is_genuine(callback: Callback, account: PusherBeamsCredentials) -> bool:
    expected = hmac_hex(account.token, callback.body, "sha1") if account.token else ""
    return is_same(callback.headers.get("webhook-signature", ""), expected)


def _events(callback: Callback) -> list[Mapping[str, Any]]:
    """Return one event per user; a publish attempt reports several users, in a list for each result."""
    found: list[Mapping[str, Any]] = []
    for event in callback.events():
        payload = event["payload"]
        listed = [(name, user) for name in _RESULT_LISTS for user in payload.get(name, ())]
        single = [(event["metadata"]["event_type"], payload["user_id"])] if "user_id" in payload else []
        found += [{**event, "kind": kind, "user": user} for kind, user in listed + single]
    return found


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
    request=request,
    sent=json_id("publishId"),
    check=Check(request=check),
    receipts=Receipts(is_genuine=is_genuine, parse=RECEIPTS, signed_with="signature, secret of the webhook in `token`"),
    casing=snake,
    documentation="https://pusher.com/docs/beams/reference/publish-api",
    note="Device tokens are the ids of users. One without any device is told of by the webhook alone.",
)
