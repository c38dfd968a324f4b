"""LINE."""

from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply


def _refusal(message: str) -> dict[str, Any]:
    return {"message": message}


CASE = Case(
    id="line",
    credentials={"token": "canary-channel-access-token"},
    outgoing={"entry": {"channel": "U4af4980629"}, "overrides": {"notificationDisabled": True}},
    success=Reply(body={"sentMessages": [{"id": "461230966842064897", "quoteToken": "IStG5h1Tz7b"}]}),
    message_id="461230966842064897",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _refusal("The request body has 1 error(s)")),
        "401": fault(FailureKind.PERMANENT, 401, _refusal("Authentication failed due to the following reason")),
        "404": fault(FailureKind.PERMANENT, 404, _refusal("Not found")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _refusal("You have reached your monthly limit."), wait=60),
        "500": fault(FailureKind.RETRYABLE, 500, _refusal("Internal server error")),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 400, _refusal("The property, 'to', in the request body is invalid")
        ),
        "a friend who left": fault(FailureKind.RECIPIENT_INVALID, 400, _refusal("Failed to send messages")),
    },
)
