"""OneSignal: one call for all devices, by the ids of their subscriptions or by the ids of their users."""

import re
from collections.abc import Mapping
from typing import Any

from clarion.providers.definition.answer import Handed, ProviderAnswer
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.failures import sentence_of
from clarion.providers.definition.kinds import Check, PushProvider
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.request import Headers, ProviderRequest, filled, key_header
from clarion.providers.definition.result import FailureKind, SendFailure, Sent
from clarion.providers.push.message import Push
from clarion.secret import Secret

_URL = "https://api.onesignal.com/notifications"
_SUBSCRIPTION = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NAMES = {"channelId": "android_channel_id", "categoryId": "ios_category", "icon": "large_icon"}


class OneSignalCredentials(Credentials):
    application_id: str
    api_key: Secret

    @property
    def auth(self) -> Headers:
        return key_header("Authorization", self.api_key, scheme="Key")


def request(account: OneSignalCredentials, push: Push) -> ProviderRequest:
    badge = {"ios_badgeType": "SetTo", "ios_badgeCount": push.badge} if push.badge is not None else {}
    picture = {"big_picture": push.image, "chrome_web_image": push.image, "ios_attachments": {"image": push.image}}
    body = {
        "app_id": account.application_id,
        **_target(push.tokens),
        "headings": {"en": push.title} if push.title else {},
        "contents": {"en": push.body},
        "data": {**push.data, "clarion_message_id": push.message_id},
        "ios_sound": push.sound,
        **badge,
        **(picture if push.image else {}),
        "idempotency_key": push.message_id,
    }
    return ProviderRequest.json(_URL, filled(body), auth=account.auth)


def _target(tokens: tuple[str, ...]) -> Mapping[str, Any]:
    """OneSignal takes one kind of ids at a time; its own are UUIDs, and people's are whatever the app calls them."""
    if all(map(_SUBSCRIPTION.fullmatch, tokens)):
        return {"include_subscription_ids": list(tokens)}
    return {"include_aliases": {"external_id": list(tokens)}, "target_channel": "push"}


def sent(answer: ProviderAnswer, handed: Handed) -> Sent | None:
    """Without an id nothing was created, although the status is 200.

    Only ids that do not exist are dead: whoever is merely not subscribed may be so again tomorrow.
    """
    unknown = answer.values("errors.invalid_player_ids.*")
    dead = tuple(token for token in handed.message.tokens if token in unknown)
    message_id = answer.value("id")
    if isinstance(message_id, str) and message_id:
        return Sent(provider_message_id=message_id, dead_tokens=dead)
    if not answer.value("errors"):
        return None
    message = f"OneSignal reached nobody: {sentence_of(answer)}"
    failure = SendFailure(FailureKind.RECIPIENT_INVALID, message, raw=answer.json)
    failure.dead_tokens = dead
    raise failure


def casing(name: str) -> str:
    """Most of its names are snake_case; `isIos` and `ios_badgeType` are not."""
    return _NAMES.get(name) or (name if "_" in name or name.startswith("is") else snake(name))


PROVIDER = PushProvider(
    id="one-signal",
    name="OneSignal",
    credentials=OneSignalCredentials,
    request=request,
    sent=sent,
    check=Check(
        request=lambda account: ProviderRequest.get(
            _URL, {"app_id": account.application_id, "limit": 1}, auth=account.auth
        )
    ),
    casing=casing,
    page="https://documentation.onesignal.com/reference/rest-api-overview",
    idempotency="`idempotency_key`",
    note="Device tokens are ids of subscriptions (UUIDs), or the external ids of users.",
)
