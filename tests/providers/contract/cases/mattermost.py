"""Mattermost."""

from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply


def _refusal(name: str, status: int, message: str) -> dict[str, Any]:
    return {"id": name, "message": message, "detailed_error": "", "request_id": "r", "status_code": status}


CASE = Case(
    id="mattermost",
    credentials={},
    outgoing={
        "webhook_url": "https://chat.example.org/hooks/canary-hook-id",
        "entry": {"channel": "town-square"},
        "overrides": {"iconUrl": "https://example.com/a.png", "props": {"card": "More"}},
    },
    success=Reply(body="ok", headers={"X-Request-Id": "hoan6o9ws7rp5xj7wu9rmysrte"}),
    message_id="hoan6o9ws7rp5xj7wu9rmysrte",
    faults={
        "400": fault(
            FailureKind.PERMANENT, 400, _refusal("web.incoming_webhook.text.app_error", 400, "No text specified.")
        ),
        "401": fault(
            FailureKind.PERMANENT, 403, _refusal("web.incoming_webhook.channel_locked.app_error", 403, "Locked.")
        ),
        "404": fault(FailureKind.PERMANENT, 404, "404 page not found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "limit exceeded", wait=1),
        "500": fault(FailureKind.RETRYABLE, 500, _refusal("app.post.save.app_error", 500, "Unable to save.")),
        "webhooks are switched off": fault(
            FailureKind.PERMANENT, 501, _refusal("web.incoming_webhook.disabled.app_error", 501, "Disabled.")
        ),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 400, _refusal("web.incoming_webhook.invalid.app_error", 400, "Invalid hook.")
        ),
        "no such channel": fault(
            FailureKind.RECIPIENT_INVALID, 404, _refusal("web.incoming_webhook.channel.app_error", 404, "No channel.")
        ),
    },
)
