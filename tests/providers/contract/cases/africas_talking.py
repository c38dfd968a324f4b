"""Africa's Talking."""

from typing import Any
from urllib.parse import urlencode

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, Report, fault
from tests.providers.contract.vendor import Reply


def _answer(code: int, status: str, message_id: str) -> dict[str, Any]:
    person = {"statusCode": code, "number": "+442079460000", "status": status, "messageId": message_id, "cost": "0"}
    return {"SMSMessageData": {"Message": "Sent to 1/1 Total Cost: KES 0.8000", "Recipients": [person]}}


def _report(status: str, kind: str, **more: Any) -> Report:
    reason = {"failureReason": more["reason"]} if "reason" in more else {}
    fields = {"id": "ATPid_1", "status": status, "phoneNumber": "+442079460000", "networkCode": "63902", **reason}
    expected = {"kind": kind, "provider_message_id": "ATPid_1", "recipient": "+442079460000", **more}
    return Report(body=urlencode(fields).encode(), expected=[expected])


CASE = Case(
    id="africas-talking",
    credentials={"apiKey": "canary-api-key", "user": "clarion", "from": "CLARION"},
    success=Reply(status=201, body=_answer(101, "Success", "ATPid_1")),
    message_id="ATPid_1",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, "Request is missing required form field 'to'"),
        "401": fault(FailureKind.PERMANENT, 401, "The supplied authentication is invalid"),
        "404": fault(FailureKind.PERMANENT, 404, "The requested resource could not be found."),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too many requests", wait=2),
        "500": fault(FailureKind.RETRYABLE, 500, "There was an internal server error."),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 201, _answer(403, "InvalidPhoneNumber", "None")),
        "blacklisted with a 201": fault(FailureKind.RECIPIENT_INVALID, 201, _answer(406, "UserInBlacklist", "None")),
        "no credit with a 201": fault(FailureKind.PERMANENT, 201, _answer(405, "InsufficientBalance", "None")),
        "gateway error with a 201": fault(FailureKind.RETRYABLE, 201, _answer(501, "GatewayError", "None")),
        "nobody was sent to": fault(
            FailureKind.PERMANENT, 201, {"SMSMessageData": {"Message": "InvalidSenderId", "Recipients": []}}
        ),
    },
    reports=(
        _report("Success", "delivered"),
        _report("Buffered", "deferred"),
        _report("Failed", "bounced", reason="UserDoesNotExist", is_hard=True),
        _report("Rejected", "bounced", reason="DeliveryFailure", is_hard=False),
    ),
)
