"""ClickSend."""

import json
from typing import Any
from urllib.parse import urlencode

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_ID = "BF7AD270-0DE2-418B-B606-71D527D9C1AE"


def _answer(status: str, message_id: str = "") -> dict[str, Any]:
    message = {"to": "+442079460000", "message_id": message_id, "status": status, "custom_string": MESSAGE_ID}
    data = {"total_count": 1, "queued_count": int(status == "SUCCESS"), "messages": [message]}
    return {"http_code": 200, "response_code": "SUCCESS", "response_msg": "Queued for delivery.", "data": data}


def _error(status: int, code: str) -> dict[str, Any]:
    return {"http_code": status, "response_code": code, "response_msg": "as the provider says", "data": None}


def _event(code: str, text: str) -> dict[str, str]:
    return {
        "message_id": _ID,
        "status_code": code,
        "status_text": text,
        "error_text": text,
        "custom_string": MESSAGE_ID,
        "timestamp": str(NOW // 1000),
    }


_RECEIPT = {"provider_message_id": _ID, "message_id": MESSAGE_ID, "at": NOW}

CASE = Case(
    id="clicksend",
    credentials={"user": "clarion", "apiKey": "canary-api-key", "from": "+61400000000"},
    success=Reply(body=_answer("SUCCESS", _ID)),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error(400, "BAD_REQUEST")),
        "401": fault(FailureKind.PERMANENT, 401, _error(401, "UNAUTHORIZED")),
        "404": fault(FailureKind.PERMANENT, 404, _error(404, "NOT_FOUND")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _error(429, "TOO_MANY_REQUESTS"), wait=8),
        "500": fault(FailureKind.RETRYABLE, 500, _error(500, "INTERNAL_SERVER_ERROR")),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 200, _answer("INVALID_RECIPIENT")),
        "no credit with a 200": fault(FailureKind.PERMANENT, 200, _answer("INSUFFICIENT_CREDIT")),
        "throttled with a 200": fault(FailureKind.RATE_LIMITED, 200, _answer("THROTTLED")),
        "an error with a 200": fault(FailureKind.RETRYABLE, 200, _answer("INTERNAL_ERROR")),
    },
    reports=(
        Report(body=urlencode(_event("201", "Delivered")).encode(), expected=[{**_RECEIPT, "kind": "delivered"}]),
        Report(body=json.dumps(_event("300", "Retrying")).encode(), expected=[{**_RECEIPT, "kind": "deferred"}]),
        Report(
            body=json.dumps(_event("301", "No such number")).encode(),
            expected=[{**_RECEIPT, "kind": "bounced", "reason": "No such number", "is_hard": False}],
        ),
    ),
)
