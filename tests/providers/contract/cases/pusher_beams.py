"""Pusher Beams."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_SECRET = "canary-webhook-secret"
_PUBLISH = "pubid-33f3f68e-b0c5-438f-b50f-fae93f6c48df"


def _report(kind: str, payload: Mapping[str, Any], expected: list[Mapping[str, Any]]) -> Report:
    body = {
        "payload": {"instance_id": "canary-instance", "publish_id": _PUBLISH, **payload},
        "metadata": {
            "created_at": "2026-01-01T00:00:00+0000",
            "event_type": kind,
            "event_id": "e1b9d31a",
            "product": "beams",
        },
        "custom_data": {},
    }
    content = json.dumps(body).encode()
    signature = hmac.new(_SECRET.encode(), content, hashlib.sha1).hexdigest()
    common = {"provider_message_id": _PUBLISH, "event_id": "e1b9d31a", "at": NOW}
    return Report(
        body=content, headers={"webhook-signature": signature}, expected=[{**common, **one} for one in expected]
    )


def _refusal(kind: str, text: str) -> dict[str, str]:
    return {"error": kind, "description": text}


CASE = Case(
    id="pusher-beams",
    credentials={"instanceId": "canary-instance", "secretKey": "canary-secret-key", "token": _SECRET},
    outgoing={
        "overrides": {
            "badge": 3,
            "sound": "ping.wav",
            "image": "https://example.com/7.png",
            "web": {"notification": {"deep_link": "https://example.com/7"}},
            "apns": {"aps": {"interruptionLevel": "active"}},
            "ttl": 60,
            "icon": "https://example.com/icon.png",
            "tag": "orders",
            "color": "#ff0000",
            "categoryId": "order",
            "channelId": "orders",
            "clickAction": "OPEN",
        }
    },
    success=Reply(body={"publishId": _PUBLISH}),
    message_id=_PUBLISH,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _refusal("Bad request", "JSON does not match schema")),
        "401": fault(FailureKind.PERMANENT, 401, _refusal("Unauthorized", "Incorrect API Key")),
        "404": fault(FailureKind.PERMANENT, 404, _refusal("Instance not found", "Could not find the instance")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _refusal("Too many requests", "Slow down"), wait=1),
        "500": fault(FailureKind.RETRYABLE, 500, _refusal("Internal server error", "Try again")),
        # Users without a device are reported by the webhook; only a malformed id is refused.
        "invalid recipient": fault(FailureKind.PERMANENT, 422, _refusal("Unprocessable", "users.0 is too long")),
    },
    reports=(
        _report(
            "v1.PublishToUsersAttempt",
            {
                "users_delivered_to_gateway": ["ada"],
                "users_no_devices": ["grace"],
                "users_gateway_failed": ["alan"],
            },
            [
                {"kind": "sent", "recipient": "ada"},
                {"kind": "failed", "recipient": "grace", "reason": "users_no_devices"},
                {"kind": "failed", "recipient": "alan", "reason": "users_gateway_failed"},
            ],
        ),
        _report("v1.UserNotificationAcknowledgement", {"user_id": "ada"}, [{"kind": "delivered", "recipient": "ada"}]),
        _report("v1.UserNotificationOpen", {"user_id": "ada"}, [{"kind": "opened", "recipient": "ada"}]),
    ),
)
