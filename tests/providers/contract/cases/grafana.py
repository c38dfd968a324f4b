"""Grafana OnCall, for channel endpoints."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, Case, fault
from tests.providers.contract.vendor import Reply

CASE = Case(
    id="grafana",
    credentials={},
    outgoing={
        "webhook_url": "https://acme.grafana.net/integrations/v1/formatted_webhook/canary-key/",
        "entry": {"authToken": "canary-service-account"},
        "overrides": {"linkToUpstreamDetails": "https://example.com/7"},
    },
    success=Reply(body='"Ok."'),
    message_id=MESSAGE_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, "This url is for integration with Webhook. Key is for Sentry"),
        "401": fault(FailureKind.RECIPIENT_INVALID, 401, {"detail": "Unauthorized"}),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Rate limited", wait=30),
        "500": fault(FailureKind.RETRYABLE, 500, "Server Error (500)"),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 403, "Integration key was not found. Permission denied."
        ),
    },
)
