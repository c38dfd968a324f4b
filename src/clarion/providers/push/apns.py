"""Apple Push Notification service: HTTP/2, one call per device, authenticated by a signing key."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from clarion.clock import MINUTE, Millis
from clarion.providers.definition.answer import header_id
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.failures import codes
from clarion.providers.definition.kinds import Check, PushProvider
from clarion.providers.definition.overrides import deep_merge, recase, snake
from clarion.providers.definition.request import ProviderCall, ProviderRequest, drop_empty, key_header, path_part
from clarion.providers.push.message import Push
from clarion.providers.signing.jwt import sign_es256
from clarion.secret import Secret

# Apple refuses tokens older than an hour, and accounts that change theirs more often than every 20 minutes.
_TOKEN_LIFETIME = 45 * MINUTE

_IN_ALERT = ("subtitle", "loc-key", "loc-args", "title-loc-key", "title-loc-args", "launch-image")
_IN_APS = (
    *("category", "thread-id", "content-available", "mutable-content", "target-content-id"),
    *("interruption-level", "relevance-score"),
)
_READ = frozenset({*_IN_ALERT, *_IN_APS, "aps", "payload", "topic", "push-type", "collapse-id", "priority", "expiry"})


class ApnsCredentials(Credentials):
    secret_key: Secret
    """The text of the .p8 file."""
    api_key: str
    """The id of the key."""
    project_name: str
    """The id of the team."""
    application_id: str
    """The bundle id of the app."""
    secure: bool = False
    """Whether to use the production server instead of the sandbox."""

    def url(self, token: str) -> str:
        server = "api.push.apple.com" if self.secure else "api.sandbox.push.apple.com"
        return f"https://{server}/3/device/{path_part(token)}"


def request(account: ApnsCredentials, push: Push) -> ProviderRequest:
    options = recase(push.options, kebab)
    # An app extension fetches the image, and runs only for notifications with mutable-content.
    picture, mutable = ({"image": push.image}, {"mutable-content": 1}) if push.image else ({}, {})
    alert = {"title": push.title, "body": push.body, **_chosen(options, _IN_ALERT)}
    aps = {"alert": drop_empty(alert), "badge": push.badge, "sound": push.sound, **mutable, **_chosen(options, _IN_APS)}
    body = {**push.data, **picture, "clarion_message_id": push.message_id, "aps": drop_empty(aps)}
    given = options.get("payload")
    added = {**(given if isinstance(given, Mapping) else {}), "aps": options.get("aps", {})}
    return ProviderRequest.json(
        account.url(push.token), deep_merge(body, added), headers=_headers(account, push, options)
    )


def kebab(name: str) -> str:
    return snake(name).replace("_", "-")


def _headers(account: ApnsCredentials, push: Push, options: Mapping[str, Any]) -> dict[str, str]:
    headers = {
        "apns-topic": options.get("topic", account.application_id),
        "apns-push-type": options.get("push-type", "alert"),
        # A repeated send replaces the first notification on the screen.
        "apns-collapse-id": options.get("collapse-id", push.message_id),
        "apns-priority": options.get("priority"),
        "apns-expiration": options.get("expiry"),
    }
    return {name: str(value) for name, value in drop_empty(headers).items()}


def _chosen(options: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return the options with these names; Apple uses 1 and 0 for booleans."""
    found = {name: options[name] for name in names if name in options}
    return {name: int(value) if isinstance(value, bool) else value for name, value in found.items()}


def check(account: ApnsCredentials) -> ProviderRequest:
    """Send to an invalid token: only valid credentials get the error about the token."""
    headers = {"apns-topic": account.application_id, "apns-push-type": "alert"}
    return ProviderRequest.json(account.url("0" * 64), {"aps": {"alert": "Check"}}, headers=headers)


def sign(account: ApnsCredentials, _: ProviderCall, now: Millis) -> Mapping[str, str]:
    return key_header("Authorization", _token(account, now - now % _TOKEN_LIFETIME), scheme="bearer")


@lru_cache(maxsize=1_024)
def _token(account: ApnsCredentials, issued_at: int) -> Secret:
    claims = {"iss": account.project_name, "iat": issued_at // 1000}
    return sign_es256(account.secret_key, claims, key_id=account.api_key)


PROVIDER = PushProvider(
    id="apns",
    name="Apple Push Notification service",
    credentials=ApnsCredentials,
    request=request,
    is_called_per_token=True,
    is_http2=True,
    sign=sign,
    sent=header_id("apns-id"),
    failures=(
        codes(
            "reason",
            recipient_invalid=("Unregistered", "ExpiredToken", "BadDeviceToken", "MissingDeviceToken"),
            retryable=("IdleTimeout", "ExpiredProviderToken"),
        ),
    ),
    check=Check(request=check, passes=lambda answer: answer.value("reason") in ("BadDeviceToken", "Unregistered")),
    reads=lambda name: kebab(name) in _READ,
    documentation="https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns",
    idempotency="`apns-collapse-id`: a second try replaces the first on the screen",
    note="`secure` is for released apps. On the wrong one of Apple's two servers every token counts as dead.",
)
