"""PagerDuty, Events API v2."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, Case, fault
from tests.providers.contract.vendor import Reply


def _invalid(error: str) -> dict[str, object]:
    return {"status": "invalid event", "message": "Event object is invalid", "errors": [error]}


CASE = Case(
    id="pagerduty",
    credentials={},
    outgoing={
        "entry": {"routingKey": "canaryroutingkey0000000000000007", "region": "eu"},
        "overrides": {"payload": {"severity": "critical"}, "routingKey": "not-for-triggers"},
    },
    success=Reply(status=202, body={"status": "success", "message": "Event processed", "dedup_key": MESSAGE_ID}),
    message_id=MESSAGE_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _invalid("'payload.severity' is invalid")),
        "401": fault(FailureKind.RECIPIENT_INVALID, 401, "Unauthorized"),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, {"status": "throttle exceeded"}, wait=9),
        "500": fault(FailureKind.RETRYABLE, 500, "Internal Server Error"),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID,
            400,
            _invalid("Length of 'routing_key' is incorrect (should be 32 characters)"),
        ),
    },
)
