"""Sendchamp."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, Fault, fault
from tests.providers.contract.vendor import Reply


def _error(kind: FailureKind, status: int, message: str, *, wait: int | None = None) -> Fault:
    return fault(kind, status, {"status_code": status, "message": message, "data": None}, wait=wait)


CASE = Case(
    id="sendchamp",
    credentials={"apiKey": "sendchamp_live_canary", "from": "Acme"},
    success=Reply(
        body={
            "status_code": 200,
            "message": "Message sent",
            "data": {"reference": "MN-SMS-8c1a", "status": "sent", "phone_number": "+442079460000"},
        }
    ),
    message_id="MN-SMS-8c1a",
    faults={
        "400": _error(FailureKind.PERMANENT, 400, "insufficient fund"),
        "401": _error(FailureKind.PERMANENT, 401, "Unauthorized"),
        "404": _error(FailureKind.PERMANENT, 404, "Not found"),
        "429": _error(FailureKind.RATE_LIMITED, 429, "Too many requests", wait=8),
        "500": _error(FailureKind.RETRYABLE, 500, "Something went wrong"),
        # A wrong route has the same error text.
        "invalid recipient": _error(FailureKind.PERMANENT, 400, "Message failed to send"),
        "refused with a 200": fault(
            FailureKind.PERMANENT, 200, {"status": "error", "code": 400, "message": "Invalid sender", "data": None}
        ),
        "failed with a 200": fault(
            FailureKind.PERMANENT, 200, {"status": "success", "code": 200, "data": {"id": "1", "status": "failed"}}
        ),
    },
)
