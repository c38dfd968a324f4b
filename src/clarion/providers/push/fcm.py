"""Firebase Cloud Messaging: HTTP API version 1, one call per device, authenticated by a service account.

Overrides have the shapes of the REST API or of the Admin SDK:
https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
https://firebase.google.com/docs/reference/admin/node/firebase-admin.messaging
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from clarion.clock import Millis
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.overrides import deep_merge, recase, snake
from clarion.providers.definition.provider import PushProvider, TokenExchange
from clarion.providers.definition.request import ProviderRequest, Size, drop_empty, json_bytes, path_part, text_bytes
from clarion.providers.definition.result import FailureKind, ProviderAnswer, SendFailure, codes, json_id
from clarion.providers.push.apple import IN_ALERT, IN_APS, apple_name, write_aps
from clarion.providers.push.message import Push, as_texts
from clarion.providers.signing.jwt import sign_rs256
from clarion.secret import Secret

TARGETS = frozenset({"topic", "condition"})
_SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_MAX_BYTES = 4_096
_MAX_TOPIC_BYTES = 2_048
_NAMES = {"web_push": "webpush", "collapse_key": "collapse_id"}
_IN_ANDROID = frozenset(
    {
        *("icon", "color", "tag", "click_action", "channel_id", "ticker", "sticky", "local_only"),
        *("body_loc_key", "body_loc_args", "title_loc_key", "title_loc_args"),
    }
)
_IN_APS = IN_APS - {"alert", "badge", "sound"}
_PRIORITIES = {"high": "10", "normal": "5"}
Fields = Mapping[str, Any]


class FcmCredentials(Credentials):
    service_account: Secret
    """The text of the JSON key file of a service account."""


class ServiceAccount(msgspec.Struct, frozen=True):
    project_id: str
    client_email: str
    private_key: str
    private_key_id: str = ""
    token_uri: str = "https://oauth2.googleapis.com/token"  # noqa: S105


def request(account: FcmCredentials, push: Push) -> ProviderRequest:
    project = path_part(_service(account).project_id)
    url = f"https://fcm.googleapis.com/v1/projects/{project}/messages:send"
    return ProviderRequest.json(url, {"message": write_message(push)})


def reads(name: str) -> bool:
    """Return whether an override is part of the message."""
    return _name(name) in _READ or apple_name(name) in _IN_APS | IN_ALERT


def write_message(push: Push) -> dict[str, Any]:
    given = {_name(name): value for name, value in push.options.items()}
    is_data = given.get("type") == "data"
    image = push.image or given.get("image_url")
    own = {
        **_target(push, given),
        "notification": {} if is_data else drop_empty({"title": push.title, "body": push.body, "image": image}),
        "data": as_texts(_only_data(push) if is_data else push.data) | {"clarion_message_id": push.message_id},
        "android": _android(push, given, is_data=is_data),
        "apns": _apns(push, given, is_data=is_data),
        "webpush": _webpush(push, given, is_data=is_data),
    }
    added = {name: write(given[name]) for name, write in _CONFIGS.items() if isinstance(given.get(name), Mapping)}
    merged: dict[str, Any] = deep_merge(drop_empty(own), added)
    return merged


def _target(push: Push, given: Fields) -> dict[str, str]:
    """Return the one target that a message has; Google refuses a second one."""
    found = next(((name, str(given[name])) for name in ("condition", "topic") if given.get(name)), ("token", ""))
    name, value = found
    return {name: value.removeprefix("/topics/") if name == "topic" else value or push.token}


def _only_data(push: Push) -> Fields:
    texts = drop_empty({"title": push.title, "body": push.body, "message": push.body})
    return {name: value for name, value in push.app_data.items() if name not in texts} | texts | dict(push.data)


def _android(push: Push, given: Fields, *, is_data: bool) -> dict[str, Any]:
    # A notification with the same tag takes the place of the first one; so do the ids for Apple and browsers.
    shown = {"sound": push.sound, "notification_count": push.badge, "tag": push.message_id}
    shown |= {name: value for name, value in given.items() if name in _IN_ANDROID}
    priority = str(given.get("priority"))
    return drop_empty(
        {
            # With a notification of its own, a message for Android is not one of data alone.
            "notification": {} if is_data else drop_empty(shown),
            "priority": priority.upper() if priority in _PRIORITIES else None,
            "ttl": f"{given['ttl']}s" if "ttl" in given else None,
            "collapse_key": given.get("collapse_id"),
        }
    )


def _apns(push: Push, given: Fields, *, is_data: bool) -> dict[str, Any]:
    collapse_id = given.get("collapse_id") or (None if is_data else push.message_id)
    by_apple_name = recase(push.options, apple_name)
    alert = {name: value for name, value in by_apple_name.items() if name in IN_ALERT}
    aps = {"badge": push.badge, "sound": push.any_sound}
    aps |= {name: value for name, value in by_apple_name.items() if name in _IN_APS}
    if alert:
        aps["alert"] = drop_empty({"title": push.title, "body": push.body, **alert})
    expires = push.at // 1000 + given["ttl"] if isinstance(given.get("ttl"), int) else given.get("expiration")
    headers = {
        "apns-priority": _PRIORITIES.get(str(given.get("priority"))),
        "apns-expiration": expires,
        "apns-collapse-id": collapse_id,
    }
    aps = write_aps(drop_empty(aps))
    return drop_empty({"headers": as_texts(drop_empty(headers)), "payload": {"aps": aps} if aps else {}})


def _webpush(push: Push, given: Fields, *, is_data: bool) -> dict[str, Any]:
    urgency = str(given.get("priority"))
    headers = {
        "TTL": given.get("ttl"),
        "Urgency": urgency if urgency in _PRIORITIES else None,
        "Topic": given.get("collapse_id"),
    }
    shown = {} if is_data else {"tag": given.get("tag") or push.message_id}
    return drop_empty({"headers": as_texts(drop_empty(headers)), "notification": shown})


def _write_android(given: Fields) -> dict[str, Any]:
    config = _write_parts(
        given, {"notification": _write_android_notification, "fcm_options": _rename, "data": as_texts}
    )
    if isinstance(config.get("ttl"), int | float):
        # The Admin SDK counts in milliseconds.
        config["ttl"] = f"{config['ttl'] / 1000:g}s"
    return config


def _write_android_notification(given: Fields) -> dict[str, Any]:
    """Rename what the Admin SDK names otherwise than the REST API."""
    shown = _rename(given)
    if "event_timestamp" in shown:
        shown["event_time"] = shown.pop("event_timestamp")
    if isinstance(shown.get("vibrate_timings_millis"), list):
        timings = shown.pop("vibrate_timings_millis")
        shown["vibrate_timings"] = [f"{one / 1000:g}s" for one in timings if isinstance(one, int | float)]
    if "priority" in shown:
        shown["notification_priority"] = f"PRIORITY_{str(shown.pop('priority')).upper()}"
    if isinstance(shown.get("visibility"), str):
        shown["visibility"] = shown["visibility"].upper()
    return shown


def _write_apns(given: Fields) -> dict[str, Any]:
    config = _write_parts(given, {"fcm_options": _rename, "headers": as_texts})
    payload = config.get("payload")
    if isinstance(payload, Mapping) and isinstance(payload.get("aps"), Mapping):
        config["payload"] = {**payload, "aps": write_aps(payload["aps"])}
    return config


def _write_webpush(given: Fields) -> dict[str, Any]:
    return _write_parts(given, {"headers": as_texts, "data": as_texts, "fcm_options": _rename})


def _write_parts(given: Fields, writers: Mapping[str, Callable[[Fields], dict[str, Any]]]) -> dict[str, Any]:
    renamed = recase(given, snake)
    parts = {name: write(renamed[name]) for name, write in writers.items() if isinstance(renamed.get(name), Mapping)}
    return renamed | parts


def _rename(given: Fields) -> dict[str, Any]:
    renamed = recase(given, snake)
    if "image_url" in renamed:
        renamed["image"] = renamed.pop("image_url")
    return renamed


def _name(name: str) -> str:
    renamed = snake(name)
    return _NAMES.get(renamed, renamed)


_CONFIGS: dict[str, Callable[[Fields], dict[str, Any]]] = {
    "notification": _rename,
    "android": _write_android,
    "apns": _write_apns,
    "webpush": _write_webpush,
    "fcm_options": _rename,
}
_READ = frozenset(
    {*_CONFIGS, *TARGETS, *_IN_ANDROID, "type", "image_url", "ttl", "expiration", "priority", "collapse_id"}
)


def sizes(call: ProviderRequest) -> Iterator[Size]:
    message = call.body["message"]
    limit = _MAX_BYTES if "token" in message else _MAX_TOPIC_BYTES
    if json_bytes(message) > limit:
        texts = text_bytes(message.get("data", {})) + text_bytes(message.get("notification", {}))
        yield Size("The notification", texts, limit)


def token_request(account: FcmCredentials, now: Millis) -> ProviderRequest:
    service = _service(account)
    issued = now // 1000
    claims: dict[str, Any] = {
        "iss": service.client_email,
        "scope": _SCOPE,
        "aud": service.token_uri,
        "iat": issued,
        "exp": issued + 3_600,
    }
    assertion = sign_rs256(Secret(service.private_key.strip()), claims, key_id=service.private_key_id)
    return ProviderRequest.form(service.token_uri, {"grant_type": _GRANT, "assertion": assertion.reveal()})


def _service(account: FcmCredentials) -> ServiceAccount:
    try:
        return msgspec.json.decode(account.service_account.reveal(), type=ServiceAccount)
    except msgspec.DecodeError as error:
        message = "The service account is not the JSON of one: it needs project_id, client_email and private_key"
        raise SendFailure(FailureKind.PERMANENT, message) from error


def classify_bad_argument(answer: ProviderAnswer) -> FailureKind | None:
    """Classify a 400 as an invalid recipient only if the error is about the token."""
    if answer.status != 400:
        return None
    fields = answer.values("error.details.*.fieldViolations.*.field")
    blames_token = "message.token" in fields or "registration token" in str(answer.value("error.message"))
    return FailureKind.RECIPIENT_INVALID if blames_token else FailureKind.PERMANENT


PROVIDER = PushProvider(
    id="fcm",
    name="Firebase Cloud Messaging",
    credentials=FcmCredentials,
    request=request,
    is_called_per_token=True,
    token=TokenExchange(request=token_request),
    sent=json_id("name"),
    failures=(
        codes(
            "error.details.*.errorCode",
            recipient_invalid=("UNREGISTERED", "SENDER_ID_MISMATCH"),
            rate_limited=("QUOTA_EXCEEDED",),
            retryable=("UNAVAILABLE", "INTERNAL"),
            permanent=("THIRD_PARTY_AUTH_ERROR",),
        ),
        classify_bad_argument,
    ),
    targets=TARGETS,
    casing=None,
    reads=reads,
    sizes=sizes,
    replaces=True,
    documentation="https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send",
    note="The overrides `topic` and `condition` send one message to those devices instead of the subscriber's. With "
    "`type: data` the message has no notification, and the trigger's payload is its data.",
)
