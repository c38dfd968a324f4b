"""OneSignal: one call for all devices, addressed by subscription ids or user ids."""

import re
from collections.abc import Mapping
from typing import Any

from clarion.providers.definition.answer import ProviderAnswer, SendContext
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.failures import read_error_text
from clarion.providers.definition.kinds import Check, PushProvider
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.request import Headers, ProviderRequest, drop_empty, key_header
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
    return ProviderRequest.json(_URL, drop_empty(body), auth=account.auth)


def _target(tokens: tuple[str, ...]) -> Mapping[str, Any]:
    """OneSignal accepts one kind of ids per call; subscription ids are UUIDs, user ids are any text."""
    if all(map(_SUBSCRIPTION.fullmatch, tokens)):
        return {"include_subscription_ids": list(tokens)}
    return {"include_aliases": {"external_id": list(tokens)}, "target_channel": "push"}


def sent(answer: ProviderAnswer, context: SendContext) -> Sent | None:
    """Return the result; a 200 without an id means that nothing was sent.

    Only unknown ids count as dead tokens: users who are not subscribed may subscribe again.
    """
    unknown = answer.values("errors.invalid_player_ids.*")
    dead = tuple(token for token in context.message.tokens if token in unknown)
    message_id = answer.value("id")
    if isinstance(message_id, str) and message_id:
        return Sent(provider_message_id=message_id, dead_tokens=dead)
    if not answer.value("errors"):
        return None
    message = f"OneSignal reached nobody: {read_error_text(answer)}"
    failure = SendFailure(FailureKind.RECIPIENT_INVALID, message, raw=answer.json)
    failure.dead_tokens = dead
    raise failure


def casing(name: str) -> str:
    """Convert a name to snake_case, except for names such as `isIos` and `ios_badgeType`."""
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
    documentation="https://documentation.onesignal.com/reference/rest-api-overview",
    idempotency="`idempotency_key`",
    note="Device tokens are ids of subscriptions (UUIDs), or the external ids of users.",
)
