"""Webex with the token of a bot; tests/subscribers/addresses has connections."""

from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply


def _refusal(message: str) -> dict[str, Any]:
    return {"message": message, "errors": [{"description": message}], "trackingId": "ROUTER_1"}


CASE = Case(
    id="webex-messaging",
    credentials={
        "clientId": "canary-client-id",
        "secretKey": "canary-client-secret",
        "token": "canary-bot-token",
    },
    outgoing={"entry": {"channel": "room-1"}, "overrides": {"markdown": "**Build** passed"}},
    success=Reply(body={"id": "message-2", "roomId": "room-1"}),
    message_id="message-2",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _refusal("POST failed: text is too long")),
        "401": fault(FailureKind.PERMANENT, 401, _refusal("The request requires a valid access token")),
        "404": fault(FailureKind.RECIPIENT_INVALID, 404, _refusal("Could not find a room with provided ID")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _refusal("Too many requests"), wait=12),
        "500": fault(FailureKind.RETRYABLE, 502, _refusal("Bad gateway")),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 403, _refusal("Not a member of the room")),
    },
)
