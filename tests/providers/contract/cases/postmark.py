"""Postmark."""

import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_ID = "0a129aee-e1cd-480d-b08d-4f48548ff48d"
_INACTIVE = (
    "Message OK, but will not deliver to these inactive addresses: ada@example.org, hidden@example.org. "
    "Inactive recipients are ones that have generated a hard bounce or a spam complaint."
)


def _report(expected: dict[str, Any] | None, **event: Any) -> Report:
    about = {"MessageID": _ID, "Metadata": {"clarion_message_id": MESSAGE_ID}, "Tag": ""}
    return Report(body=json.dumps(about | event).encode(), expected=[expected] if expected else [])


def _bounce(kind: str, expected: dict[str, Any] | None) -> Report:
    return _report(
        expected,
        RecordType="Bounce",
        Type=kind,
        Email="ada@example.org",
        BouncedAt="2026-01-01T00:00:01Z",
        Description="The server was unable to deliver your message",
    )


def _error(code: int, message: str) -> dict[str, Any]:
    return {"ErrorCode": code, "Message": message}


CASE = Case(
    id="postmark",
    credentials={"apiKey": "canary-server-token", "from": "news@example.com", "senderName": "Doe, Jörg"},
    success=Reply(
        body={
            "To": "ada@example.org",
            "SubmittedAt": "2026-01-01T00:00:00Z",
            "MessageID": _ID,
            "ErrorCode": 0,
            "Message": "OK",
        }
    ),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, "Bad Request"),
        "401": fault(FailureKind.PERMANENT, 401, _error(10, "No Account or Server API tokens were supplied.")),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, _error(429, "Rate limit exceeded"), wait=4),
        "500": fault(FailureKind.RETRYABLE, 500, "Internal Server Error"),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 422, _error(300, "Error parsing 'To': Illegal email domain 'x'")
        ),
        "invalid sender": fault(FailureKind.PERMANENT, 422, _error(300, "Invalid 'From' address: 'x'.")),
        "inactive recipient": fault(
            FailureKind.RECIPIENT_INVALID,
            422,
            _error(406, "You tried to send to a recipient that has been marked as inactive."),
        ),
        "the copies alone go out": fault(
            FailureKind.RECIPIENT_INVALID, 200, {"MessageID": _ID, "ErrorCode": 0, "Message": _INACTIVE}
        ),
        "an error with a 200": fault(FailureKind.PERMANENT, 200, _error(412, "Your account is pending approval.")),
        "maintenance": fault(FailureKind.RETRYABLE, 503, _error(100, "Maintenance")),
    },
    reports=(
        _report(
            {
                "kind": "delivered",
                "provider_message_id": _ID,
                "message_id": MESSAGE_ID,
                "recipient": "ada@example.org",
                "at": NOW,
            },
            RecordType="Delivery",
            Recipient="ada@example.org",
            DeliveredAt="2026-01-01T00:00:00.0000000Z",
            Details="smtp;250 OK",
        ),
        _bounce(
            "HardBounce",
            {
                "kind": "bounced",
                "is_hard": True,
                "recipient": "ada@example.org",
                "reason": "The server was unable to deliver your message",
                "at": NOW + 1000,
            },
        ),
        _bounce("SoftBounce", {"kind": "bounced", "is_hard": False}),
        _bounce("Transient", {"kind": "deferred"}),
        _bounce("AutoResponder", None),
        _report({"kind": "complained"}, RecordType="SpamComplaint", Type="SpamComplaint", Email="ada@example.org"),
        _report(
            {"kind": "unsubscribed", "recipient": "ada@example.org"},
            RecordType="SubscriptionChange",
            Recipient="ada@example.org",
            SuppressSending=True,
            SuppressionReason="ManualSuppression",
        ),
        _report(None, RecordType="SubscriptionChange", Recipient="ada@example.org", SuppressSending=False),
    ),
)
