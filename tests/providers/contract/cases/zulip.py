"""Zulip."""

from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, Case, Fault, fault
from tests.providers.contract.vendor import Reply


def _refusal(code: str, message: str, **more: Any) -> dict[str, Any]:
    return {"result": "error", "msg": message, "code": code, **more}


CASE = Case(
    id="zulip",
    credentials={},
    outgoing={
        "webhook_url": "https://acme.zulipchat.com/api/v1/external/slack_incoming?api_key=canary-api-key&stream=builds",
        "entry": {"channel": "build 7"},
        "overrides": {"iconEmoji": ":tada:"},
    },
    success=Reply(body={"result": "success", "msg": "", "ok": True}),
    message_id=MESSAGE_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _refusal("REQUEST_VARIABLE_MISSING", "Missing 'payload' argument")),
        "401": fault(FailureKind.PERMANENT, 401, _refusal("UNAUTHORIZED", "Not logged in")),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, _refusal("RATE_LIMIT_HIT", "Exceeded"), wait=29),
        "429 by its body": Fault(
            reply=Reply(status=429, body=_refusal("RATE_LIMIT_HIT", "Exceeded", **{"retry-after": 28.7})),
            kind=FailureKind.RATE_LIMITED,
            retry_after=29,
        ),
        "500": fault(FailureKind.RETRYABLE, 500, _refusal("INTERNAL_SERVER_ERROR", "Internal server error")),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 401, _refusal("INVALID_API_KEY", "Invalid API key")),
        "a stream that is gone": fault(
            FailureKind.RECIPIENT_INVALID, 400, _refusal("STREAM_DOES_NOT_EXIST", "Stream 'builds' does not exist")
        ),
        "a refusal with a 200": fault(FailureKind.PERMANENT, 200, {"ok": False, "error": "invalid_blocks"}),
    },
)
