"""MailerSend."""

import hashlib
import hmac
import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_KEY = "canary-signing-secret"
_ID = "65953a9cbe1b2e0f3a0f4a2b"


def _report(kind: str, expected: dict[str, Any], **morph: str) -> Report:
    email = {"id": "1", "status": "sent", "message": {"id": _ID}, "recipient": {"email": "ada@example.org"}}
    data = {"id": "event-1", "type": kind, "created_at": "2026-01-01T00:00:01.000000Z", "email": email, "morph": morph}
    body = json.dumps({"type": f"activity.{kind}", "data": data}).encode()
    signature = hmac.new(_KEY.encode(), body, hashlib.sha256).hexdigest()
    about = {"provider_message_id": _ID, "recipient": "ada@example.org", "event_id": "event-1", "at": NOW + 1000}
    return Report(body=body, headers={"signature": signature}, expected=[about | expected])


def _suppressed(kind: str, *people: str) -> dict[str, Any]:
    recipients = [{"email": one, "name": "", "reasons": ["hard_bounced"]} for one in people]
    return {"message": "There are some warnings", "warnings": [{"type": kind, "recipients": recipients}]}


CASE = Case(
    id="mailersend",
    credentials={
        "apiKey": "mlsn.canary-api-key",
        "from": "news@example.com",
        "senderName": "Doe, Jörg",
        "secretKey": _KEY,
    },
    success=Reply(status=202, headers={"x-message-id": _ID}),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, {"message": "Bad request"}),
        "401": fault(FailureKind.PERMANENT, 401, {"message": "Unauthenticated."}),
        "404": fault(FailureKind.PERMANENT, 404, {"message": "Resource not found."}),
        "429": fault(FailureKind.RATE_LIMITED, 429, {"message": "Too Many Attempts."}, wait=59),
        "500": fault(FailureKind.RETRYABLE, 500, {"message": "Server Error"}),
        "maintenance": fault(FailureKind.RETRYABLE, 421, {"message": "Service isn't available"}),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID,
            422,
            {
                "message": "The to.0.email must be a valid email address.",
                "errors": {"to.0.email": ["The to.0.email must be a valid email address."]},
            },
        ),
        "invalid sender": fault(
            FailureKind.PERMANENT,
            422,
            {
                "message": "The from.email domain must be verified.",
                "errors": {"from.email": ["The from.email domain must be verified."]},
            },
        ),
        "nothing goes out with a 202": fault(
            FailureKind.RECIPIENT_INVALID, 202, _suppressed("ALL_SUPPRESSED", "ada@example.org")
        ),
        "the copies alone go out": fault(
            FailureKind.RECIPIENT_INVALID, 202, _suppressed("SOME_SUPPRESSED", "ada@example.org"), x_message_id=_ID
        ),
    },
    reports=(
        _report("delivered", {"kind": "delivered"}),
        _report("hard_bounced", {"kind": "bounced", "is_hard": True, "reason": "No such user"}, reason="No such user"),
        _report("soft_bounced", {"kind": "bounced", "is_hard": False}),
    ),
)
