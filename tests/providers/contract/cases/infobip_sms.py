"""Infobip SMS."""

import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Fault, Report, fault
from tests.providers.contract.vendor import Reply


def _answer(group: tuple[int, str], status: tuple[int, str]) -> dict[str, Any]:
    described = {"groupId": group[0], "groupName": group[1], "id": status[0], "name": status[1], "description": "…"}
    message = {"messageId": MESSAGE_ID, "status": described, "destination": "442079460000"}
    return {"bulkId": "2034072219640523072", "messages": [message]}


def _refusal(kind: FailureKind, status: int, name: str) -> Fault:
    return fault(kind, 200, _answer((5, "REJECTED"), (status, name)))


def _error(status: int, description: str, **more: Any) -> dict[str, Any]:
    return {"errorCode": f"E{status}", "description": description, "action": "…", "violations": [], **more}


def _report(group: int, error: str, **expected: Any) -> Report:
    result = {
        "bulkId": "2034072219640523072",
        "messageId": MESSAGE_ID,
        "to": "442079460000",
        "doneAt": "2026-01-01T00:00:01.000+0000",
        "status": {"groupId": group, "id": 5},
        "error": {"groupId": 0, "id": 0, "name": error, "permanent": False},
    }
    receipt = {"provider_message_id": MESSAGE_ID, "recipient": "442079460000", "at": NOW + 1000, "reason": error}
    return Report(body=json.dumps({"results": [result]}).encode(), expected=[receipt | expected])


CASE = Case(
    id="infobip-sms",
    credentials={"apiKey": "canary-api-key", "baseUrl": "xyz.api.infobip.com", "from": "+447491163443"},
    success=Reply(body=_answer((1, "PENDING"), (26, "PENDING_ACCEPTED"))),
    message_id=MESSAGE_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error(400, "Request cannot be processed.")),
        "401": fault(FailureKind.PERMANENT, 401, _error(401, "The request lacks valid credentials.")),
        "404": fault(FailureKind.PERMANENT, 404, _error(404, "Requested resource not found.")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _error(429, "Too many requests."), wait=4),
        "500": fault(FailureKind.RETRYABLE, 500, _error(500, "Something went wrong.")),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID,
            400,
            _error(400, "…", violations=[{"property": "messages[0].destinations[0].to", "violation": "must be valid"}]),
        ),
        "no such destination with a 200": _refusal(FailureKind.RECIPIENT_INVALID, 52, "REJECTED_DESTINATION"),
        "do not disturb with a 200": _refusal(FailureKind.RECIPIENT_INVALID, 10, "REJECTED_DND"),
        "flooding with a 200": _refusal(FailureKind.RATE_LIMITED, 20, "REJECTED_FLOODING_FILTER"),
        "system error with a 200": _refusal(FailureKind.RETRYABLE, 21, "REJECTED_SYSTEM_ERROR"),
        "no credit with a 200": _refusal(FailureKind.PERMANENT, 12, "REJECTED_NOT_ENOUGH_CREDITS"),
    },
    reports=(
        _report(3, "NO_ERROR", kind="delivered"),
        _report(2, "EC_UNKNOWN_SUBSCRIBER", kind="bounced", is_hard=True),
        _report(4, "EC_ABSENT_SUBSCRIBER", kind="bounced", is_hard=False),
        _report(5, "EC_SOURCE_ADDRESS_BLOCKED", kind="failed"),
    ),
)
