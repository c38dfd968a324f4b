"""Telegram."""

from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply


def _refusal(code: int, description: str, **parameters: Any) -> dict[str, Any]:
    return {"ok": False, "error_code": code, "description": description} | (
        {"parameters": parameters} if parameters else {}
    )


CASE = Case(
    id="telegram",
    credentials={"apiToken": "123456:canary-bot-token"},
    outgoing={"entry": {"channel": "-1001234"}, "overrides": {"parseMode": "HTML"}},
    success=Reply(body={"ok": True, "result": {"message_id": 77, "chat": {"id": -1001234}}}),
    message_id="77",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _refusal(400, "Bad Request: message is too long")),
        "401": fault(FailureKind.PERMANENT, 401, _refusal(401, "Unauthorized")),
        "404": fault(FailureKind.PERMANENT, 404, _refusal(404, "Not Found")),
        "429": fault(
            FailureKind.RATE_LIMITED, 429, _refusal(429, "Too Many Requests: retry after 5", retry_after=5), wait=5
        ),
        "500": fault(FailureKind.RETRYABLE, 500, _refusal(500, "Internal Server Error")),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 400, _refusal(400, "Bad Request: chat not found")),
        "a bot that was blocked": fault(
            FailureKind.RECIPIENT_INVALID, 403, _refusal(403, "Forbidden: bot was blocked by the user")
        ),
    },
)
