"""Pusher Beams: one call for all users, in the formats of Apple, Firebase and the web at once."""

from collections.abc import Mapping
from typing import Any

from clarion.providers.definition.answer import json_id
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.kinds import Check, PushProvider
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.receipts import Callback, EventReader, Receipts, is_same, kinds_of
from clarion.providers.definition.request import ProviderRequest, bearer, filled, path_part
from clarion.providers.push.message import Push
from clarion.providers.signing.digests import hmac_hex
from clarion.secret import Secret

_ENDINGS = ("users_delivered_to_gateway", "users_no_devices", "users_gateway_failed")


class PusherBeamsCredentials(Credentials):
    instance_id: str
    secret_key: Secret
    token: Secret = Secret("")
    """The secret of the webhook that reports."""

    def publish(self, audience: str, body: Mapping[str, Any]) -> ProviderRequest:
        instance = path_part(self.instance_id)
        server = f"https://{instance}.pushnotifications.pusher.com"
        url = f"{server}/publish_api/v1/instances/{instance}/publishes/{audience}"
        return ProviderRequest.json(url, body, auth=bearer(self.secret_key))


def request(account: PusherBeamsCredentials, push: Push) -> ProviderRequest:
    shown = {"title": push.title, "body": push.body}
    data = {**push.text_data, "clarion_message_id": push.message_id} | ({"image": push.image} if push.image else {})
    # Pictures are the app's to fetch, which on Apple's devices works for mutable notifications alone.
    picture = {"mutable-content": 1} if push.image else {}
    aps = {"alert": filled(shown), "badge": push.badge, "sound": push.sound, **picture}
    body = {
        "users": list(push.tokens),
        "apns": {"aps": filled(aps), "data": data},
        "fcm": {"notification": filled(shown | {"sound": push.sound}), "data": data},
        "web": {"notification": filled(shown), "data": data},
    }
    return account.publish("users", body)


def check(account: PusherBeamsCredentials) -> ProviderRequest:
    """Publishes to an interest that nobody has."""
    body = {"interests": ["clarion-credentials-check"], "web": {"notification": {"title": "Check", "body": "Check"}}}
    return account.publish("interests", body)


def is_genuine(callback: Callback, account: PusherBeamsCredentials) -> bool:
    expected = hmac_hex(account.token, callback.body, "sha1") if account.token else ""
    return is_same(callback.headers.get("webhook-signature", ""), expected)


def _events(callback: Callback) -> list[Mapping[str, Any]]:
    """One event for each user: an attempt reports on several, in a list for each way it can end."""
    found: list[Mapping[str, Any]] = []
    for event in callback.events():
        payload = event["payload"]
        ended = [(name, user) for name in _ENDINGS for user in payload.get(name, ())]
        alone = [(event["metadata"]["event_type"], payload["user_id"])] if "user_id" in payload else []
        found += [{**event, "kind": kind, "user": user} for kind, user in ended + alone]
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
    page="https://pusher.com/docs/beams/reference/publish-api",
    note="Device tokens are the ids of users. One without any device is told of by the webhook alone.",
)
