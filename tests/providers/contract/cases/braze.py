"""Braze."""

from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply


def _error(message: str, *minor: str) -> dict[str, Any]:
    return {"message": message, "errors": list(minor)}


CASE = Case(
    id="braze",
    credentials={
        "apiKey": "canary-rest-api-key",
        "baseUrl": "https://rest.fra-01.braze.eu",
        "applicationId": "3e8ae6e8-6e5c-4d0a-9d5a-canary-app",
        "from": "news@example.com",
        "senderName": "Doe, Jörg",
    },
    outgoing={
        "subject": "Save {{7}} %",
        "overrides": {
            "bcc": "archive@example.com",
            "replyTo": "help@example.com",
            "headers": {"X-Campaign": "spring"},
            "recipientSubscriptionState": "all",
        },
    },
    before={"/users/export/ids": Reply(status=201, body={"users": [{"external_id": "user-7"}], "message": "success"})},
    success=Reply(status=201, body={"dispatch_id": "dispatch-1", "message": "success"}),
    message_id="dispatch-1",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error("Bad Request", "The 'messages' parameter is not valid")),
        "401": fault(FailureKind.PERMANENT, 401, _error("Invalid API key")),
        "404": fault(FailureKind.PERMANENT, 404, _error("Invalid URL")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _error("Rate limited"), wait=30),
        "500": fault(FailureKind.RETRYABLE, 500, _error("Internal Server Error")),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 400, _error("No Recipients")),
        "an error with a 201": fault(
            FailureKind.PERMANENT, 201, {"dispatch_id": "dispatch-1", **_error("success", "the app_id is not valid")}
        ),
    },
)
