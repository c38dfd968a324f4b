"""Azure Communication Services."""

import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_ID = "Outgoing_20260101000000_noam"


def _answer(status: int, **more: Any) -> dict[str, Any]:
    return {"value": [{"to": "+442079460000", "httpStatusCode": status, "successful": status == 202, **more}]}


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def _event(status: str, details: str) -> dict[str, Any]:
    return {
        "id": f"event-{status}",
        "eventType": "Microsoft.Communication.SMSDeliveryReportReceived",
        "data": {
            "messageId": _ID,
            "from": "+18335550100",
            "to": "+442079460000",
            "deliveryStatus": status,
            "deliveryStatusDetails": details,
            "deliveryAttempts": [],
            "receivedTimestamp": "2026-01-01T00:00:00.0000000Z",
            "tag": MESSAGE_ID,
        },
    }


_RECEIPT = {"provider_message_id": _ID, "message_id": MESSAGE_ID, "recipient": "+442079460000", "at": NOW}

CASE = Case(
    id="azure-sms",
    credentials={
        # The key is `canary access key` in base64.
        "accessKey": "endpoint=https://clarion.communication.azure.com/;accesskey=Y2FuYXJ5IGFjY2VzcyBrZXk=",
        "from": "+18335550100",
    },
    success=Reply(status=202, body=_answer(202, messageId=_ID, repeatabilityResult="accepted")),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error("BadRequest", "The message is empty.")),
        "401": fault(FailureKind.PERMANENT, 401, _error("Denied", "Denied by the resource provider.")),
        "404": fault(FailureKind.PERMANENT, 404, _error("NotFound", "Not found.")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _error("TooManyRequests", "Throttled."), wait=10),
        "500": fault(FailureKind.RETRYABLE, 500, _error("InternalError", "Something went wrong.")),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 202, _answer(400, errorMessage="Invalid To phone number format.")
        ),
        "throttled with a 202": fault(FailureKind.RATE_LIMITED, 202, _answer(429, errorMessage="Throttled.")),
        "an error with a 202": fault(FailureKind.RETRYABLE, 202, _answer(503, errorMessage="Unavailable.")),
        "a sender of others with a 202": fault(FailureKind.PERMANENT, 202, _answer(404, errorMessage="Not owned.")),
        "another message of the same id": fault(
            FailureKind.PERMANENT, 202, _answer(409, repeatabilityResult="rejected")
        ),
    },
    reports=(
        Report(
            body=json.dumps(
                [
                    _event("Delivered", "No error."),
                    _event("Failed", "Sender blocked for given recipient."),
                    _event("Failed", "Unreachable."),
                ]
            ).encode(),
            headers={"aeg-event-type": "Notification"},
            expected=[
                {**_RECEIPT, "kind": "delivered", "event_id": "event-Delivered"},
                {**_RECEIPT, "kind": "bounced", "is_hard": True},
                {**_RECEIPT, "kind": "bounced", "is_hard": False, "reason": "Unreachable."},
            ],
        ),
    ),
)
