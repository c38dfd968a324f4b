"""Chat Webhook."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply

CASE = Case(
    id="chat-webhook",
    credentials={"webhookUrl": "https://hooks.example.org/account/canary-address", "secretKey": "canary-secret-key"},
    outgoing={
        "webhook_url": "https://hooks.example.org/chat/canary-path",
        "entry": {"channel": "builds"},
        "overrides": {"color": "green", "hmacSecretKey": "not-for-triggers"},
    },
    success=Reply(body={"id": "own-42"}),
    message_id="own-42",
    any_body_is_success=True,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, {"message": "no content"}),
        "401": fault(FailureKind.PERMANENT, 401, "Unauthorized"),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Slow down", wait=7),
        "500": fault(FailureKind.RETRYABLE, 500, "Oops"),
        "425": fault(FailureKind.RETRYABLE, 425, ""),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 410, "Gone"),
    },
)
