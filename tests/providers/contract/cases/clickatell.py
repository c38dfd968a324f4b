"""Clickatell."""

import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_ID = "77fda2a54ce94fdbb3e0a4f9e4a7b2bd"


def _answer(error: dict[str, Any] | None = None) -> dict[str, Any]:
    message = {"apiMessageId": None if error else _ID, "accepted": error is None, "to": "442079460000", "error": error}
    return {"messages": [message], "error": None}


def _refused(code: int, description: str) -> dict[str, Any]:
    return _answer({"code": code, "description": description})


def _whole(code: int, description: str) -> dict[str, Any]:
    return {"messages": [], "error": {"code": code, "description": description}}


def _update(code: int, status: str) -> dict[str, Any]:
    return {
        "channel": "sms",
        "messageId": _ID,
        "clientMessageId": MESSAGE_ID,
        "statusCode": code,
        "status": status,
        "timestamp": NOW,
    }


_RECEIPT = {"provider_message_id": _ID, "message_id": MESSAGE_ID, "at": NOW}

CASE = Case(
    id="clickatell",
    credentials={"apiKey": "canary-api-key==", "from": "+27820000000"},
    success=Reply(status=202, body=_answer()),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _refused(21, "Invalid or missing content")),
        "401": fault(FailureKind.PERMANENT, 401, _whole(1, "Authentication failed")),
        "402": fault(FailureKind.PERMANENT, 402, _refused(20, "Insufficient balance")),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too Many Requests", wait=5),
        "500": fault(FailureKind.RETRYABLE, 500, _whole(18, "Internal error")),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 400, _refused(25, "Invalid recipient")),
        "opted out": fault(FailureKind.RECIPIENT_INVALID, 400, _refused(26, "Recipient opted out")),
        "too fast with a 400": fault(FailureKind.RATE_LIMITED, 400, _whole(43, "Rate limit exceeded")),
        "refused with a 207": fault(FailureKind.PERMANENT, 207, _refused(45, "FROM number is not yours")),
        "refused without a reason": fault(FailureKind.PERMANENT, 202, {"messages": [{"accepted": False}]}),
    },
    reports=(
        Report(
            body=json.dumps(
                {
                    "integrationId": "1",
                    "integrationName": "clarion",
                    "event": {
                        "messageStatusUpdate": [
                            _update(5, "DEVICE_ACK"),
                            _update(29, "RECIPIENT_DOES_NOT_EXIST"),
                            _update(20, "EXPIRED"),
                            _update(2, "QUEUED"),
                        ]
                    },
                }
            ).encode(),
            expected=[
                {**_RECEIPT, "kind": "delivered"},
                {**_RECEIPT, "kind": "bounced", "is_hard": True, "reason": "RECIPIENT_DOES_NOT_EXIST"},
                {**_RECEIPT, "kind": "bounced", "is_hard": False},
            ],
        ),
    ),
)
