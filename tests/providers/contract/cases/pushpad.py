"""Pushpad."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply

CASE = Case(
    id="pushpad",
    credentials={"apiKey": "canary-auth-token", "applicationId": "canary-project"},
    outgoing={
        "overrides": {
            "badge": 3,
            "sound": "ping.wav",
            "image": "https://example.com/7.png",
            "targetUrl": "https://example.com/7",
            "requireInteraction": True,
        }
    },
    success=Reply(status=201, body={"id": 197123, "scheduled": 3, "uids": ["device-canary-one", "device-canary-two"]}),
    message_id="197123",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, {"error": "Bad Request"}),
        "401": fault(FailureKind.PERMANENT, 401, "HTTP Token: Access denied."),
        "404": fault(FailureKind.PERMANENT, 404, {"error": "Not Found"}),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too Many Requests", wait=5),
        "500": fault(FailureKind.RETRYABLE, 500, "Internal Server Error"),
        "an invoice that is not paid": fault(FailureKind.PERMANENT, 402, {"error": "Payment Required"}),
        "validation": fault(FailureKind.PERMANENT, 422, {"body": ["can't be blank"]}),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 201, {"id": 197124, "scheduled": 0, "uids": []}),
    },
)
