"""Tool Webhook."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply

CASE = Case(
    id="tool-webhook",
    credentials={"secretKey": "canary-secret-key"},
    outgoing={
        "webhook_url": "https://hooks.example.org/alerts/canary-path",
        "entry": {"method": "PUT", "headers": {"X-Api-Key": "canary-header-value"}},
        "overrides": {"team": "builds", "_passthrough": {"headers": {"X-Api-Key": "not-for-triggers"}}},
    },
    success=Reply(body={"id": "own-43"}),
    message_id="own-43",
    any_body_is_success=True,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, {"message": "no content"}),
        "401": fault(FailureKind.RECIPIENT_INVALID, 401, "Unauthorized"),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Slow down", wait=7),
        "500": fault(FailureKind.RETRYABLE, 500, "Oops"),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 410, "Gone"),
    },
)
