"""Plunk."""

from typing import Any

from clarion.providers.definition.result import FailureKind
from clarion.vocabulary import Channel
from tests.providers.contract.case import CONTENTS, Case, fault
from tests.providers.contract.vendor import Reply

_ID = "cmb1email0001"


def _error(status: int, code: str, message: str, **more: Any) -> dict[str, Any]:
    return {"success": False, "error": {"code": code, "message": message, "statusCode": status, **more}}


def _reused(status: int | None) -> dict[str, Any]:
    about = {"originalRequest": "POST /v1/send", "originalStatusCode": status}
    return _error(409, "IDEMPOTENCY_KEY_REUSED", "Idempotency-Key has already been used", details=about)


CASE = Case(
    id="plunk",
    credentials={"apiKey": "sk_canary_api_key", "from": "news@example.com", "senderName": "Doe, Jörg"},
    outgoing={"content": CONTENTS[Channel.EMAIL]["content"] + "<p>{{ unsubscribeUrl }} {% if %}</p>"},
    success=Reply(
        body={
            "success": True,
            "data": {
                "emails": [{"contact": {"id": "contact-1", "email": "ada@example.org"}, "email": _ID}],
                "timestamp": "2026-01-01T00:00:00.000Z",
            },
        }
    ),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error(400, "BAD_REQUEST", "Invalid request")),
        "401": fault(FailureKind.PERMANENT, 401, _error(401, "UNAUTHORIZED", "Invalid API key")),
        "404": fault(FailureKind.PERMANENT, 404, _error(404, "NOT_FOUND", "Template not found")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _error(429, "RATE_LIMIT_EXCEEDED", "Rate limit"), wait=60),
        "500": fault(FailureKind.RETRYABLE, 500, _error(500, "INTERNAL_SERVER_ERROR", "An unexpected error occurred")),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID,
            422,
            _error(
                422,
                "VALIDATION_ERROR",
                "Request validation failed",
                errors=[{"field": "to.0", "message": "Invalid email", "code": "invalid_string"}],
            ),
        ),
        "the first try is under way": fault(FailureKind.RETRYABLE, 409, _reused(None)),
        "the first try had failed": fault(FailureKind.PERMANENT, 409, _reused(500)),
        "a failure with a 200": fault(FailureKind.PERMANENT, 200, _error(403, "PROJECT_DISABLED", "Disabled")),
    },
)
