"""Microsoft Teams."""

from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply

_RUN = "08584700123456789012345678901CU21"
_FAILED = "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error"


def _refusal(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


CASE = Case(
    id="msteams",
    credentials={},
    outgoing={
        "webhook_url": "https://prod-7.westeurope.logic.azure.com:443/workflows/canary-workflow/triggers/manual"
        "/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=canary-signature",
    },
    success=Reply(status=202, headers={"x-ms-workflow-run-id": _RUN}),
    message_id=_RUN,
    any_body_is_success=True,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _refusal("TriggerInputSchemaMismatch", "The input is not valid")),
        "401": fault(FailureKind.PERMANENT, 401, _refusal("DirectApiAuthorizationRequired", "Not allowed")),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, _refusal("TooManyRequests", "Slow down"), wait=20),
        "500": fault(FailureKind.RETRYABLE, 500, _refusal("InternalServerError", "Try again")),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 404, _refusal("WorkflowNotFound", "The workflow could not be found")
        ),
        "switched off": fault(
            FailureKind.RECIPIENT_INVALID, 400, _refusal("WorkflowTriggerIsNotEnabled", "In state 'Deleted'")
        ),
        "a connector that is throttled, with a 200": fault(
            FailureKind.RATE_LIMITED, 200, f"{_FAILED} 429 with ContextId tcid=0"
        ),
        "a connector that fails, with a 200": fault(FailureKind.RETRYABLE, 200, f"{_FAILED} 502 with ContextId"),
        "a connector that is gone, with a 200": fault(FailureKind.RECIPIENT_INVALID, 200, f"{_FAILED} 404"),
        "a connector that refuses, with a 200": fault(FailureKind.PERMANENT, 200, f"{_FAILED} 413"),
    },
)
