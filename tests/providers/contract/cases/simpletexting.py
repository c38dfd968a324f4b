"""SimpleTexting."""

import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, Fault, Report, fault
from tests.providers.contract.vendor import Reply

_ID = "5ea2a1f9c1a0b40001d3c5a7"
_VALUES = {"messageId": _ID, "category": "SMS", "accountPhone": "8005551234", "contactPhone": "8001234567"}


def _report(name: str, values: dict[str, str], **expected: Any) -> Report:
    body = {"reportId": "report-1", "webhookId": "webhook-1", "type": name, "values": values}
    receipt = {"recipient": "+18001234567", "event_id": "report-1"}
    return Report(body=json.dumps(body).encode(), expected=[receipt | expected])


def _error(kind: FailureKind, status: int, name: str, code: str, *, wait: int | None = None) -> Fault:
    body = {"status": name, "errorCode": code, "code": code, "message": "…", "errorDetails": [], "path": "/v2"}
    return fault(kind, status, body, wait=wait)


CASE = Case(
    id="simpletexting",
    credentials={"apiKey": "canary-api-key", "from": "+1 800 555 1234"},
    outgoing={"phone": "+1 800 123 4567"},
    success=Reply(status=201, body={"id": _ID, "credits": 1}),
    message_id=_ID,
    faults={
        "400": _error(FailureKind.PERMANENT, 400, "BAD_REQUEST", "ERR_VALIDATION"),
        "401": _error(FailureKind.PERMANENT, 401, "UNAUTHORIZED", "ERR_AUTH_TOKEN_MISSING"),
        "404": _error(FailureKind.PERMANENT, 404, "NOT_FOUND", "ERR_NOT_FOUND"),
        "429": _error(FailureKind.RATE_LIMITED, 429, "TOO_MANY_REQUESTS", "ERR_TOO_MANY_REQUESTS", wait=6),
        "500": _error(FailureKind.RETRYABLE, 500, "INTERNAL_SERVER_ERROR", "UNKNOWN_ERR"),
        # The error for a wrong number is not documented.
        "invalid recipient": _error(FailureKind.PERMANENT, 400, "BAD_REQUEST", "ERR_CONTACT_PHONE"),
        "no id": fault(FailureKind.RETRYABLE, 201, {"credits": 1}),
    },
    reports=(
        _report("DELIVERY_REPORT", _VALUES, kind="delivered", provider_message_id=_ID),
        _report("NON_DELIVERED_REPORT", _VALUES, kind="bounced", provider_message_id=_ID, is_hard=False),
        _report("UNSUBSCRIBE_REPORT", {"contactId": "1", "phone": "8001234567"}, kind="unsubscribed"),
    ),
)
