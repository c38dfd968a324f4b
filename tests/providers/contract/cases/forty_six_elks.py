"""46elks."""

from urllib.parse import urlencode

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_ID = "s70df59406a1b4643b96f3f91e0bfb7b0"

CASE = Case(
    id="forty-six-elks",
    credentials={"user": "u0123456789abcdef", "password": "canary-password", "from": "Clarion"},
    success=Reply(
        body={
            "id": _ID,
            "status": "created",
            "from": "Clarion",
            "to": "+442079460000",
            "created": "2026-01-01T00:00:00.000000",
            "direction": "outgoing",
            "cost": 3500,
        }
    ),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, "Missing key from"),
        "401": fault(FailureKind.PERMANENT, 401, "API access requires Basic HTTP authentication"),
        "403": fault(FailureKind.PERMANENT, 403, "Not enough credits"),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too Many Requests", wait=2),
        "500": fault(FailureKind.RETRYABLE, 500, "Internal Server Error"),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 400, "Invalid to number"),
    },
    reports=(
        Report(
            body=urlencode({"id": _ID, "status": "delivered", "delivered": "2026-01-01T00:00:00.000000"}).encode(),
            expected=[{"kind": "delivered", "provider_message_id": _ID, "at": NOW}],
        ),
        Report(
            body=urlencode({"id": _ID, "status": "failed"}).encode(),
            expected=[{"kind": "bounced", "provider_message_id": _ID, "is_hard": False}],
        ),
    ),
)
