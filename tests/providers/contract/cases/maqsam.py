"""Maqsam."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, Fault, fault
from tests.providers.contract.vendor import Reply


def _fault(kind: FailureKind, status: int, message: str, *, wait: int | None = None) -> Fault:
    return fault(kind, status, {"result": "error", "message": message}, wait=wait)


CASE = Case(
    id="maqsam",
    credentials={"apiKey": "canary-access-key", "secretKey": "canary-access-secret", "from": "Acme"},
    success=Reply(body={"result": "success", "message": {"identifier": "af9c2b7e", "timestamp": 1_767_225_600}}),
    message_id="af9c2b7e",
    faults={
        "400": _fault(FailureKind.PERMANENT, 400, "sender is missing"),
        "401": _fault(FailureKind.PERMANENT, 401, "unauthorized"),
        "404": _fault(FailureKind.PERMANENT, 404, "not found"),
        "429": _fault(FailureKind.RATE_LIMITED, 429, "too many requests", wait=7),
        "500": _fault(FailureKind.RETRYABLE, 500, "internal error"),
        # The error for a wrong number is not documented.
        "invalid recipient": _fault(FailureKind.PERMANENT, 422, "to is not valid"),
        "refused with a 200": _fault(FailureKind.PERMANENT, 200, "sender is not registered"),
        "no id": fault(FailureKind.RETRYABLE, 200, {"result": "success", "message": {}}),
    },
)
