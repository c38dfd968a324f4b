"""E-mail webhook."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, Case, fault
from tests.providers.contract.vendor import Reply

CASE = Case(
    id="email-webhook",
    credentials={
        "webhookUrl": "https://mail.example.com/hooks/canary-path",
        "secretKey": "canary-secret-key",
        "from": "news@example.com",
        "senderName": "Doe, Jörg",
    },
    outgoing={
        "context": {
            "transactionId": "transaction-1",
            "workflowIdentifier": "order-shipped",
            "subscriberId": "ada",
            "payload": {"order": 7},
        }
    },
    success=Reply(status=202),
    message_id=MESSAGE_ID,
    any_body_is_success=True,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, {"error": "bad request"}),
        "401": fault(FailureKind.PERMANENT, 401, {"error": "bad signature"}),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "slow down", wait=9),
        "500": fault(FailureKind.RETRYABLE, 500, "Internal Server Error"),
        # Receivers of the webhook have no common error for an invalid recipient.
        "invalid recipient": fault(FailureKind.PERMANENT, 422, {"error": "no such recipient"}),
    },
)
