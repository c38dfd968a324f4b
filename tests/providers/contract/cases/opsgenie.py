"""Opsgenie."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply

CASE = Case(
    id="opsgenie",
    credentials={},
    outgoing={
        "entry": {"apiKey": "ca9a5700-0000-4000-8000-00000000c0de", "region": "us"},
        "overrides": {"priority": "P1", "tags": ["builds"]},
    },
    success=Reply(status=202, body={"result": "Request will be processed", "took": 0.3, "requestId": "request-7"}),
    message_id="request-7",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, {"message": "Request body is not processable"}),
        "401": fault(FailureKind.RECIPIENT_INVALID, 401, {"message": "Could not authenticate"}),
        "404": fault(FailureKind.PERMANENT, 404, {"message": "Not found"}),
        "422": fault(FailureKind.PERMANENT, 422, {"message": "Request body is not processable"}),
        "429": fault(FailureKind.RATE_LIMITED, 429, {"message": "You are making too many requests!"}, wait=11),
        "500": fault(FailureKind.RETRYABLE, 503, {"message": "Service unavailable"}),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 422, {"message": "Key format is not valid!"}),
    },
)
