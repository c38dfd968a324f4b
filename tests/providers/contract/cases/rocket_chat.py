"""Rocket.Chat."""

from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, Case, Fault, fault
from tests.providers.contract.vendor import Reply

_SLOW_DOWN = (
    "Error, too many requests. Please slow down. You must wait 42 seconds before trying this endpoint again. "
    "[error-too-many-requests]"
)


def _refusal(error: str, **more: Any) -> dict[str, Any]:
    return {"success": False, "error": error, **more}


CASE = Case(
    id="rocket-chat",
    credentials={"token": "canary-personal-token", "user": "rbAXPnMktTFbNpwtJ"},
    outgoing={
        "webhook_url": "https://acme.rocket.chat/",
        "entry": {"channel": "GENERAL"},
        "overrides": {"alias": "Builder", "attachments": [{"title": "Build 7"}]},
    },
    success=Reply(body={"message": {"_id": MESSAGE_ID, "rid": "GENERAL", "msg": "Build"}, "success": True}),
    message_id=MESSAGE_ID,
    faults={
        "400": fault(
            FailureKind.PERMANENT,
            400,
            _refusal("Message size exceeds [error-message-size-exceeded]", errorType="error-message-size-exceeded"),
        ),
        "401": fault(FailureKind.PERMANENT, 401, {"status": "error", "message": "You must be logged in to do this."}),
        "404": fault(FailureKind.PERMANENT, 404, _refusal("Resource not found")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _refusal("Too many requests"), wait=9),
        "429 by its words": Fault(
            reply=Reply(status=429, body=_refusal(_SLOW_DOWN)), kind=FailureKind.RATE_LIMITED, retry_after=42
        ),
        "429 of older servers": Fault(
            reply=Reply(status=400, body=_refusal(_SLOW_DOWN, errorType="error-too-many-requests")),
            kind=FailureKind.RATE_LIMITED,
            retry_after=42,
        ),
        "500": fault(FailureKind.RETRYABLE, 500, _refusal("Internal server error")),
        "not a member": fault(FailureKind.PERMANENT, 400, _refusal("error-not-allowed")),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 400, _refusal("error-invalid-room")),
    },
)
