"""FireText."""

from typing import Any
from urllib.parse import urlencode

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, Case, Report, fault
from tests.providers.contract.vendor import Reply


def _answer(code: int, description: str, data: Any = "") -> dict[str, Any]:
    return {"code": code, "description": description, "responseData": data, "data": []}


def _report(status: str, code: str, kind: str, *, is_hard: bool = False) -> Report:
    fields = {"mobile": "442079460000", "status": status, "code": code, "reference": MESSAGE_ID}
    expected = {"kind": kind, "message_id": MESSAGE_ID, "recipient": "442079460000", "reason": code, "is_hard": is_hard}
    return Report(body=urlencode({**fields, "time": "2026-07-01 12:00:00"}).encode(), expected=[expected])


CASE = Case(
    id="firetext",
    credentials={"apiKey": "canary-api-key", "from": "Clarion"},
    success=Reply(body=_answer(0, "SMS successfully queued", 1)),
    message_id=MESSAGE_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, "Bad Request"),
        "401": fault(FailureKind.PERMANENT, 200, _answer(1, "Authentication error")),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too Many Requests", wait=2),
        "500": fault(FailureKind.RETRYABLE, 500, "Internal Server Error"),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 200, _answer(2, "Destination number error")),
        "no credit with a 200": fault(FailureKind.PERMANENT, 200, _answer(7, "Insufficient credit")),
    },
    reports=(
        _report("0", "000", "delivered"),
        _report("1", "101", "bounced", is_hard=True),
        _report("1", "102", "bounced"),
        _report("2", "102", "deferred"),
    ),
)
