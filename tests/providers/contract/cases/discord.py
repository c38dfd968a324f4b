"""Discord."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, Fault, fault
from tests.providers.contract.vendor import Reply

CASE = Case(
    id="discord",
    credentials={},
    outgoing={
        "webhook_url": "https://discord.com/api/webhooks/1234/canary-webhook-token",
        "entry": {"channel": "9876"},
        "overrides": {"embeds": [{"title": "Build 7"}], "avatarUrl": "https://example.com/a.png"},
    },
    success=Reply(body={"id": "1456001122334455667", "timestamp": "2026-01-01T00:00:00.000000+00:00"}),
    message_id="1456001122334455667",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, {"code": 50006, "message": "Cannot send an empty message"}),
        "401": fault(FailureKind.PERMANENT, 401, {"code": 0, "message": "401: Unauthorized"}),
        "404": fault(FailureKind.PERMANENT, 404, {"code": 0, "message": "404: Not Found"}),
        "429": fault(
            FailureKind.RATE_LIMITED, 429, {"message": "You are being rate limited.", "retry_after": 0.3}, wait=1
        ),
        "429 by its body": Fault(
            reply=Reply(status=429, body={"message": "You are being rate limited.", "retry_after": 4.2}),
            kind=FailureKind.RATE_LIMITED,
            retry_after=5,
        ),
        "500": fault(FailureKind.RETRYABLE, 500, {"code": 0, "message": "500: Internal Server Error"}),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 404, {"code": 10015, "message": "Unknown Webhook"}),
        "webhook of another token": fault(
            FailureKind.RECIPIENT_INVALID, 401, {"code": 50027, "message": "Invalid Webhook Token"}
        ),
    },
)
