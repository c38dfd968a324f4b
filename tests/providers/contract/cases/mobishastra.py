"""Mobishastra."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, Fault, fault
from tests.providers.contract.vendor import Reply


def _refusal(kind: FailureKind, words: str) -> Fault:
    return fault(kind, 200, [{"msg_id": " ", "str_response": words}])


CASE = Case(
    id="mobishastra",
    credentials={
        "baseUrl": "https://mshastra.com/sendsms_api_json.aspx",
        "user": "20099999",
        "password": "canary-password",
        "from": "Acme",
    },
    success=Reply(body=[{"msg_id": " 1735689600 ", "str_response": "Send Successful"}]),
    message_id="1735689600",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, "Bad Request"),
        "401": _refusal(FailureKind.PERMANENT, "Invalid Password"),
        "404": fault(FailureKind.PERMANENT, 404, "The resource cannot be found."),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too many requests", wait=11),
        "500": fault(FailureKind.RETRYABLE, 500, "Server Error in '/' Application."),
        "invalid recipient": _refusal(FailureKind.RECIPIENT_INVALID, "008 - Invalid receiver"),
        "do not disturb": _refusal(FailureKind.RECIPIENT_INVALID, "006 - DND number"),
        "profile blocked": _refusal(FailureKind.PERMANENT, "009 - Profile blocked"),
        "server error with a 200": _refusal(FailureKind.RETRYABLE, "013 - Server error"),
        "neither id nor words": fault(FailureKind.RETRYABLE, 200, [{"msg_id": ""}]),
    },
)
