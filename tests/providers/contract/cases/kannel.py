"""Kannel."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, Case, Report, fault
from tests.providers.contract.vendor import Reply

CASE = Case(
    id="kannel",
    credentials={
        "host": "sms.example.com",
        "port": "13013",
        "user": "clarion",
        "password": "canary password&1",
        "from": "12345",
    },
    success=Reply(status=202, body="0: Accepted for delivery"),
    message_id=MESSAGE_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, "Empty receiver number not allowed, rejected"),
        "401": fault(FailureKind.PERMANENT, 403, "Authorization failed for sendsms"),
        "404": fault(FailureKind.PERMANENT, 404, "Unknown request."),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too many requests", wait=5),
        "500": fault(FailureKind.RETRYABLE, 500, "Sending failed."),
        "503": fault(FailureKind.RETRYABLE, 503, "Temporal failure, try again later."),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 403, "Not routable. Do not try again."),
    },
    reports=(
        Report(
            method="GET",
            query={"id": MESSAGE_ID, "type": "1", "text": "stat:DELIVRD"},
            expected=[{"kind": "delivered", "message_id": MESSAGE_ID, "reason": "stat:DELIVRD"}],
        ),
        Report(
            method="GET",
            query={"id": MESSAGE_ID, "type": "16"},
            expected=[{"kind": "failed", "message_id": MESSAGE_ID}],
        ),
    ),
)
