"""Resend."""

import base64
import hashlib
import hmac
import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_ID = "49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"
_KEY = b"canary-webhook-secret"


def _report(kind: str, expected: dict[str, Any], **data: Any) -> Report:
    about = {"email_id": _ID, "to": ["ada@example.org"], "tags": {"clarion_message_id": MESSAGE_ID}}
    body = json.dumps({"type": kind, "created_at": "2026-01-01T00:00:01.000Z", "data": about | data}).encode()
    moment = str(NOW // 1000)
    signature = base64.b64encode(hmac.digest(_KEY, f"msg_1.{moment}.".encode() + body, hashlib.sha256)).decode()
    headers = {"svix-id": "msg_1", "svix-timestamp": moment, "svix-signature": f"v1,{signature}"}
    known = {"provider_message_id": _ID, "message_id": MESSAGE_ID, "event_id": "msg_1", "at": NOW + 1000}
    return Report(body=body, headers=headers, expected=[known | {"recipient": "ada@example.org"} | expected])


def _error(status: int, name: str, message: str) -> dict[str, Any]:
    return {"statusCode": status, "name": name, "message": message}


CASE = Case(
    id="resend",
    credentials={
        "apiKey": "re_canary_api_key",
        "from": "news@example.com",
        "senderName": "Doe, Jörg",
        "secretKey": f"whsec_{base64.b64encode(_KEY).decode()}",
    },
    success=Reply(body={"id": _ID}),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error(400, "validation_error", "We found an error with a field")),
        "401": fault(FailureKind.PERMANENT, 401, _error(401, "missing_api_key", "Missing API key")),
        "403": fault(FailureKind.PERMANENT, 403, _error(403, "validation_error", "The domain is not verified.")),
        "404": fault(FailureKind.PERMANENT, 404, _error(404, "not_found", "The requested endpoint does not exist.")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _error(429, "rate_limit_exceeded", "Too many requests"), wait=1),
        "500": fault(FailureKind.RETRYABLE, 500, _error(500, "application_error", "An unexpected error occurred.")),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID,
            422,
            _error(422, "validation_error", "Invalid `to` field. The email address needs to follow the format"),
        ),
        "quota used up": fault(
            FailureKind.RATE_LIMITED, 429, _error(429, "monthly_quota_exceeded", "You have reached your monthly quota.")
        ),
        "the first try is under way": fault(
            FailureKind.RETRYABLE, 409, _error(409, "concurrent_idempotent_requests", "Same idempotency key used")
        ),
        "the key of another message": fault(
            FailureKind.PERMANENT, 409, _error(409, "invalid_idempotent_request", "Same key, different payload")
        ),
    },
    reports=(
        _report("email.delivered", {"kind": "delivered"}),
        _report(
            "email.bounced",
            {"kind": "bounced", "is_hard": True, "reason": "No such user"},
            bounce={"type": "Permanent", "subType": "General", "message": "No such user"},
        ),
        _report(
            "email.bounced", {"kind": "bounced", "is_hard": False}, bounce={"type": "Transient", "message": "Full"}
        ),
        _report("email.suppressed", {"kind": "failed"}, suppressed={"reason": "previous_bounce"}),
    ),
)
