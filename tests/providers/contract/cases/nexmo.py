"""Vonage."""

import json
from typing import Any
from urllib.parse import urlencode

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_DELIVERED = {
    "msisdn": "442079460000",
    "messageId": "0A0000000123ABCD1",
    "status": "delivered",
    "err-code": "0",
    "client-ref": MESSAGE_ID,
    "message-timestamp": "2026-01-01 00:00:00",
}
_RECEIPT = {
    "kind": "delivered",
    "provider_message_id": "0A0000000123ABCD1",
    "message_id": MESSAGE_ID,
    "recipient": "442079460000",
    "at": NOW,
}


def _refusal(status: str, text: str) -> dict[str, Any]:
    return {"message-count": "1", "messages": [{"status": status, "error-text": text}]}


CASE = Case(
    id="nexmo",
    credentials={"apiKey": "canary-api-key", "secretKey": "canary-api-secret", "from": "+447700900000"},
    success=Reply(
        body={
            "message-count": "2",
            "messages": [
                {"to": "442079460000", "message-id": "0A0000000123ABCD1", "status": "0"},
                {"to": "442079460000", "message-id": "0A0000000123ABCD2", "status": "0"},
            ],
        }
    ),
    message_id="0A0000000123ABCD1",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, "Bad Request"),
        "401": fault(FailureKind.PERMANENT, 401, {"error-code": "401", "error-code-label": "authentication failed"}),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too Many Requests", wait=1),
        "500": fault(FailureKind.RETRYABLE, 500, "Internal Server Error"),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 200, _refusal("6", "Unroutable message - rejected")),
        "bad credentials with a 200": fault(FailureKind.PERMANENT, 200, _refusal("4", "Bad Credentials")),
        "throttled with a 200": fault(FailureKind.RATE_LIMITED, 200, _refusal("1", "Throughput Rate Exceeded")),
        "internal error with a 200": fault(FailureKind.RETRYABLE, 200, _refusal("5", "Internal Error")),
        "one part of two refused": fault(
            FailureKind.PERMANENT,
            200,
            {"message-count": "2", "messages": [{"status": "0", "message-id": "1"}, {"status": "9"}]},
        ),
    },
    reports=(
        Report(body=json.dumps(_DELIVERED).encode(), expected=[_RECEIPT]),
        Report(body=urlencode(_DELIVERED).encode(), expected=[_RECEIPT]),
        Report(method="GET", query=_DELIVERED, expected=[_RECEIPT]),
    ),
)
