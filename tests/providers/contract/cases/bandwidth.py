"""Bandwidth."""

import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_ID = "1589228074636lm4k2je7j7jklbn2"


def _error(kind: str, description: str, *fields: str) -> dict[str, Any]:
    listed = [{"fieldName": name, "description": "must be a valid E164 formatted telephone number"} for name in fields]
    return {"type": kind, "description": description, **({"fieldErrors": listed} if listed else {})}


def _event(kind: str, **more: Any) -> dict[str, Any]:
    message = {"id": _ID, "owner": "+15005550006", "to": ["+442079460000"], "tag": MESSAGE_ID}
    return {"type": kind, "time": "2026-01-01T00:00:00Z", "to": "+442079460000", "message": message, **more}


_RECEIPT = {"provider_message_id": _ID, "message_id": MESSAGE_ID, "recipient": "+442079460000", "at": NOW}

CASE = Case(
    id="bandwidth",
    credentials={
        "user": "clarion",
        "password": "canary-password",
        "accountSid": "5500001",
        "applicationId": "93de2206-9669-4e07-948d-329f4b722ee2",
        "from": "+15005550006",
    },
    success=Reply(status=202, body={"id": _ID, "time": "2026-01-01T00:00:00Z", "segmentCount": 1, "direction": "out"}),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error("request-validation", "Your request was refused", "from")),
        "401": fault(FailureKind.PERMANENT, 401, _error("unauthorized", "Authentication Failed")),
        "404": fault(FailureKind.PERMANENT, 404, _error("resource-not-found", "The resource could not be found")),
        "429": fault(
            FailureKind.RATE_LIMITED, 429, _error("max-message-queue-size-exceeded", "The queue is full"), wait=60
        ),
        "500": fault(FailureKind.RETRYABLE, 500, _error("internal-server-error", "No other information")),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 400, _error("request-validation", "Your request was refused", "to")
        ),
    },
    reports=(
        Report(
            body=json.dumps(
                [
                    _event("message-delivered", description="Message delivered to carrier."),
                    _event("message-failed", description="Opted out", errorCode=4775),
                    _event("message-failed", description="rejected-carrier-service-failure", errorCode=4701),
                    _event("message-received"),
                ]
            ).encode(),
            expected=[
                {**_RECEIPT, "kind": "delivered"},
                {**_RECEIPT, "kind": "bounced", "is_hard": True, "reason": "Opted out"},
                {**_RECEIPT, "kind": "bounced", "is_hard": False},
            ],
        ),
    ),
)
