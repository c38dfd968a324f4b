"""Ryver."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, Case, fault
from tests.providers.contract.vendor import Reply

CASE = Case(
    id="ryver",
    credentials={},
    outgoing={
        "webhook_url": "https://acme.ryver.com/application/webhook/canary-token",
        "overrides": {"createSource": {"displayName": "Builder"}},
    },
    success=Reply(),
    message_id=MESSAGE_ID,
    any_body_is_success=True,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, "Bad Request"),
        "401": fault(FailureKind.PERMANENT, 401, "Unauthorized"),
        "404": fault(FailureKind.RECIPIENT_INVALID, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too Many Requests", wait=3),
        "500": fault(FailureKind.RETRYABLE, 500, "Internal Server Error"),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 410, "Gone"),
    },
)
