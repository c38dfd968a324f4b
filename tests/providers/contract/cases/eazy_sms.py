"""Eazy."""

from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply


def _error(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}, "traceId": "7e6459"}


CASE = Case(
    id="eazy-sms",
    credentials={"apiKey": "canary-api-key", "channelId": "31633333333@sms.eazy.im"},
    success=Reply(status=201, body={"id": "26145a84-49f3-4c3c-a99b-98f932cae585"}),
    message_id="26145a84-49f3-4c3c-a99b-98f932cae585",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error(1005, "Message body is required")),
        "401": fault(FailureKind.PERMANENT, 401, _error(1001, "Unauthorized")),
        "403": fault(FailureKind.PERMANENT, 403, _error(1002, "Access denied")),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too Many Requests", wait=3),
        "500": fault(FailureKind.RETRYABLE, 500, _error(1004, "Internal server error")),
        "unavailable": fault(FailureKind.RETRYABLE, 400, _error(1003, "Service unavailable")),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 400, _error(1005, "Jid is invalid")),
    },
)
