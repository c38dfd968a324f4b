"""Apple Push Notification service: HTTP/2, one call per device, authenticated by a signing key."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from clarion.clock import MINUTE, Millis
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.overrides import deep_merge, recase
from clarion.providers.definition.provider import PushProvider
from clarion.providers.definition.request import (
    ProviderCall,
    ProviderRequest,
    Size,
    drop_empty,
    json_bytes,
    key_header,
    path_part,
)
from clarion.providers.definition.result import codes, header_id
from clarion.providers.push.apple import IN_ALERT, IN_APS, MAX_BYTES, MAX_CALL_BYTES, apple_name, write_aps
from clarion.providers.push.message import Push
from clarion.providers.signing.jwt import sign_es256
from clarion.secret import Secret

# Apple refuses tokens older than an hour, and accounts that change theirs more often than every 20 minutes.
_TOKEN_LIFETIME = 45 * MINUTE
_PRIORITIES = {"high": 10, "normal": 5}
_READ = frozenset(
    {
        *IN_ALERT,
        *IN_APS,
        *("aps", "payload", "raw-payload", "topic", "push-type", "collapse-id", "priority", "id"),
        *("expiry", "expiration", "ttl"),
    }
)


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
    options = recase(push.options, apple_name)
    raw = options.get("raw-payload")
    body = raw if isinstance(raw, Mapping) else _body(push, options)
    return ProviderRequest.json(account.url(push.token), body, headers=_headers(account, push, options))


def _body(push: Push, options: Mapping[str, Any]) -> Mapping[str, Any]:
    # An app extension fetches the image, and runs only for notifications with mutable-content.
    picture, mutable = ({"image": push.image}, {"mutable-content": 1}) if push.image else ({}, {})
    alert = drop_empty({"title": push.title, "body": push.body})
    aps = drop_empty({"alert": alert, "badge": push.badge, "sound": push.any_sound, **mutable})
    body = {**push.app_data, **picture, "clarion_message_id": push.message_id, "aps": write_aps(aps)}
    return _with_options(body, options) if options else body


def _with_options(body: dict[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    given = options.get("payload")
    added = dict(given) if isinstance(given, Mapping) else {}
    named = {name: value for name, value in options.items() if name in IN_APS}
    alert = {name: value for name, value in options.items() if name in IN_ALERT}
    for members in ({"alert": alert} if alert else {}, named, added.pop("aps", {}), options.get("aps", {})):
        if isinstance(members, Mapping):
            body["aps"] = deep_merge(body["aps"], write_aps(members))
    return body | added


def _headers(account: ApnsCredentials, push: Push, options: Mapping[str, Any]) -> dict[str, str]:
    ttl, priority = options.get("ttl"), options.get("priority")
    lives_until = push.at // 1000 + ttl if isinstance(ttl, int) else None
    headers = {
        "apns-topic": options.get("topic", account.application_id),
        "apns-push-type": options.get("push-type", "alert"),
        # A repeated send replaces the first notification on the screen.
        "apns-collapse-id": options.get("collapse-id", push.message_id),
        "apns-priority": _PRIORITIES.get(str(priority), priority),
        "apns-expiration": options.get("expiry", options.get("expiration", lives_until)),
        "apns-id": options.get("id"),
    }
    return {name: str(value) for name, value in drop_empty(headers).items()}


def sizes(call: ProviderRequest) -> Iterator[Size]:
    limit = MAX_CALL_BYTES if call.headers.get("apns-push-type") == "voip" else MAX_BYTES
    yield Size("The notification", json_bytes(call.body), limit)


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
            account_refused=("InvalidProviderToken", "MissingProviderToken"),
        ),
    ),
    check=check,
    check_passes=lambda answer: answer.value("reason") in ("BadDeviceToken", "Unregistered"),
    casing=None,
    reads=lambda name: apple_name(name) in _READ,
    sizes=sizes,
    replaces=True,
    documentation="https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns",
    idempotency="`apns-collapse-id`: a second try replaces the first on the screen",
    note="The trigger's payload is beside `aps`, 4096 bytes in all. `secure` is for released apps. On the wrong one of "
    "Apple's two servers every token counts as dead.",
)
