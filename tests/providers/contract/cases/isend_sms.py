"""iSend."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, Fault, fault
from tests.providers.contract.vendor import Reply


def _fault(kind: FailureKind, status: int, message: str, *, wait: int | None = None) -> Fault:
    return fault(kind, status, {"status": "error", "message": message}, wait=wait)


CASE = Case(
    id="isend-sms",
    credentials={"apiToken": "canary|api-token", "from": "Acme"},
    success=Reply(
        body={
            "status": "success",
            "message": "Your message was successfully delivered",
            "data": {"uid": "5f3e1a2b4c6d7", "to": "442079460000", "message": "This number is invalid", "cost": "1"},
        }
    ),
    message_id="5f3e1a2b4c6d7",
    faults={
        "400": _fault(FailureKind.PERMANENT, 400, "The sender id is not yours"),
        "401": fault(FailureKind.PERMANENT, 401, {"message": "Unauthenticated."}),
        "404": _fault(FailureKind.PERMANENT, 404, "Not found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, {"message": "Too Many Attempts."}, wait=60),
        "500": fault(FailureKind.RETRYABLE, 500, {"message": "Server Error"}),
        "invalid recipient": _fault(FailureKind.RECIPIENT_INVALID, 422, "Invalid phone number"),
        "invalid recipient with a 200": _fault(FailureKind.RECIPIENT_INVALID, 200, "Invalid phone number"),
        "no credit with a 200": _fault(FailureKind.PERMANENT, 200, "You do not have enough balance"),
        "no id": fault(FailureKind.RETRYABLE, 200, {"status": "success", "data": {}}),
    },
)
