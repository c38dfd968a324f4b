"""OneSignal: one call for all devices, addressed by subscription ids or by the external ids of users."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

from clarion.providers.definition.credentials import Credentials, FormatRule
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import PushProvider
from clarion.providers.definition.request import ProviderRequest, Size, drop_empty, json_bytes, key_header
from clarion.providers.definition.result import (
    FailureKind,
    ProviderAnswer,
    SendContext,
    SendFailure,
    Sent,
    read_error_text,
    statuses,
)
from clarion.providers.push.message import Push
from clarion.secret import Secret

_URL = "https://api.onesignal.com/notifications"
_NAMES = {"channelId": "android_channel_id", "categoryId": "ios_category"}
_ICONS = (
    "small_icon",
    "large_icon",
    "adm_small_icon",
    "adm_large_icon",
    "chrome_web_icon",
    "firefox_icon",
    "chrome_icon",
)
# https://documentation.onesignal.com/docs/osnotification-payload
_MAX_DATA_BYTES = 2_048


class IdKind(StrEnum):
    """What device tokens are."""

    SUBSCRIPTION = "playerModel"
    EXTERNAL = "externalId"


ID_KIND = FormatRule(
    lambda text: text in set(IdKind),
    "must be playerModel, if device tokens are ids of subscriptions, or externalId, if they are your ids of users",
)


class OneSignalCredentials(Credentials):
    application_id: str
    api_key: Secret
    api_version: Annotated[str, ID_KIND] = ""
    """`playerModel` (the default): device tokens are ids of subscriptions; `externalId`: they are your ids of users."""


def request(account: OneSignalCredentials, push: Push) -> ProviderRequest:
    badge = {"ios_badgeType": "SetTo", "ios_badgeCount": push.badge} if push.badge is not None else {}
    picture = {"big_picture": push.image, "chrome_web_image": push.image, "ios_attachments": {"image": push.image}}
    body = {
        "app_id": account.application_id,
        **_target(account, push.tokens),
        "headings": {"en": push.title} if push.title else {},
        "contents": {"en": push.body},
        "data": {**push.app_data, "clarion_message_id": push.message_id},
        "ios_sound": push.sound,
        "android_sound": push.sound,
        **badge,
        **(picture if push.image else {}),
        **_own_options(push.options),
        # A notification with the same ids takes the place of the first one.
        "collapse_id": push.message_id,
        "web_push_topic": push.message_id.replace("-", ""),
        "idempotency_key": push.call_key,
    }
    return ProviderRequest.json(_URL, drop_empty(body))


def _target(account: OneSignalCredentials, tokens: tuple[str, ...]) -> Mapping[str, Any]:
    if account.api_version == IdKind.EXTERNAL:
        return {"include_aliases": {"external_id": list(tokens)}, "target_channel": "push"}
    return {"include_subscription_ids": list(tokens)}


def _own_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the overrides that are not fields of the same name; a subtitle has a text for each language."""
    subtitle, icon = options.get("subtitle"), options.get("icon")
    written = {"subtitle": {"en": subtitle} if isinstance(subtitle, str) else subtitle}
    return written | dict.fromkeys(_ICONS, icon)


def sizes(call: ProviderRequest) -> Iterator[Size]:
    yield Size("The data", json_bytes(call.body.get("data", {})), _MAX_DATA_BYTES)


def sent(answer: ProviderAnswer, context: SendContext) -> Sent | None:
    """Return the result; a 200 without an id means that nothing was sent.

    Only unknown ids of subscriptions count as dead tokens: users who are not subscribed may subscribe again. An
    integration that does not say which kind its ids are may have sent external ids, which are not dead.
    """
    is_certain = context.account.api_version == IdKind.SUBSCRIPTION
    unknown = answer.values("errors.invalid_player_ids.*") if is_certain else []
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
    auth=lambda account: key_header("Authorization", account.api_key, scheme="Key"),
    request=request,
    sent=sent,
    failures=(statuses(account_refused=(403,)),),
    check=lambda account: ProviderRequest.get(_URL, {"app_id": account.application_id, "limit": 1}),
    casing=casing,
    reads=frozenset({"subtitle", "icon"}).__contains__,
    sizes=sizes,
    replaces=True,
    documentation="https://documentation.onesignal.com/reference/rest-api-overview",
    idempotency="`idempotency_key`",
    note="`apiVersion` is `playerModel` (the default) if device tokens are ids of subscriptions, and `externalId` if "
    "they are your own ids of users. Unknown ids are forgotten only if it is set to `playerModel`. The trigger's "
    "payload is in `data`, 2048 bytes in all.",
)
