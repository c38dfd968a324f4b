"""Stream Chat with its API; test_push_and_chat covers webhooks."""

from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, Case, Fault, fault
from tests.providers.contract.vendor import Reply


def _refusal(code: int, status: int, message: str) -> dict[str, Any]:
    return {
        "code": code,
        "StatusCode": status,
        "message": f'SendMessage failed with error: "{message}"',
        "more_info": "https://getstream.io/chat/docs/api_errors_response",
        "duration": "0.00ms",
    }


CASE = Case(
    id="getstream",
    credentials={"apiKey": "canary-api-key", "secretKey": "canary-api-secret", "user": "robot"},
    outgoing={
        "entry": {"channel": "team:builds"},
        "overrides": {"attachments": [{"type": "image"}], "parentId": "parent-1"},
    },
    success=Reply(status=201, body={"message": {"id": MESSAGE_ID, "cid": "team:builds"}, "duration": "4.01ms"}),
    message_id=MESSAGE_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _refusal(4, 400, "message.text is a required field")),
        "401": fault(FailureKind.PERMANENT, 401, _refusal(43, 401, "signature is not valid")),
        "404": fault(FailureKind.PERMANENT, 404, "404 page not found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, _refusal(9, 429, "Too many requests"), wait=20),
        "429 by a header": Fault(
            reply=Reply(
                status=429, body=_refusal(9, 429, "Too many requests"), headers={"X-RateLimit-Reset": "1767225630"}
            ),
            kind=FailureKind.RATE_LIMITED,
            retry_after=30,
        ),
        "500": fault(FailureKind.RETRYABLE, 500, _refusal(-1, 500, "internal error")),
        "408": fault(FailureKind.RETRYABLE, 408, _refusal(23, 408, "request timed out")),
        "not allowed": fault(FailureKind.PERMANENT, 403, _refusal(17, 403, "not allowed")),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 404, _refusal(16, 404, "Can't find channel with id team:builds")
        ),
    },
)
