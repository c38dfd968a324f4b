"""BulkSMS."""

import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, Report, fault
from tests.providers.contract.vendor import Reply

_ID = "1-00000000000522347562"


def _message(status: str, subtype: str | None = None) -> dict[str, Any]:
    return {
        "id": _ID,
        "type": "SENT",
        "to": "442079460000",
        "body": "Hello",
        "status": {"id": f"{status}.{subtype or 'null'}", "type": status, "subtype": subtype},
        "submission": {"id": "2-1", "date": "2026-01-01T00:00:00Z"},
    }


def _error(status: int, kind: str, title: str, detail: str = "") -> dict[str, Any]:
    page = f"https://developer.bulksms.com/json/v1/errors#{kind}"
    return {"type": page, "title": title, "status": status, **({"detail": detail} if detail else {})}


CASE = Case(
    id="bulk-sms",
    credentials={"apiToken": "canary-token-id:canary-token-secret", "from": "+447700900000"},
    success=Reply(status=201, body=[_message("ACCEPTED")]),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error(400, "bad-request", "Bad Request", "The body is too long")),
        "401": fault(FailureKind.PERMANENT, 401, _error(401, "authentication-failed", "Authentication Failed")),
        "403": fault(FailureKind.PERMANENT, 403, _error(403, "insufficient-credits", "Insufficient Credits")),
        "404": fault(FailureKind.PERMANENT, 404, _error(404, "not-found", "Not Found")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _error(429, "too-many-requests", "Too Many Requests"), wait=6),
        "500": fault(FailureKind.RETRYABLE, 500, _error(500, "internal-server-error", "Internal Server Error")),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID,
            400,
            _error(400, "bad-request", "Bad Request", "The submission has no valid recipients"),
        ),
    },
    reports=(
        Report(
            body=json.dumps(
                [_message("DELIVERED"), _message("FAILED", "BLOCKED"), _message("FAILED", "EXPIRED")]
            ).encode(),
            expected=[
                {"kind": "delivered", "provider_message_id": _ID, "recipient": "442079460000"},
                {"kind": "bounced", "provider_message_id": _ID, "reason": "BLOCKED", "is_hard": True},
                {"kind": "bounced", "provider_message_id": _ID, "reason": "EXPIRED", "is_hard": False},
            ],
        ),
        # The test call for a new webhook.
        Report(body=b"[]", expected=[]),
    ),
)
