"""Netcore."""

import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_ID = "163575013837604800"


def _event(kind: str, **more: Any) -> dict[str, Any]:
    about = {"TRANSID": int(_ID), "EMAIL": "ada@example.org", "TIMESTAMP": NOW // 1000, "X-APIHEADER": MESSAGE_ID}
    return {"EVENT": kind, **about, **more}


def _receipt(kind: str, **more: Any) -> dict[str, Any]:
    about = {"provider_message_id": _ID, "message_id": MESSAGE_ID, "recipient": "ada@example.org", "at": NOW}
    return {"kind": kind, **about, **more}


def _error(field: str, message: str) -> dict[str, Any]:
    return {"status": "error", "message": "Error", "error_info": [{"field": field, "message": message}]}


CASE = Case(
    id="netcore",
    credentials={
        "apiKey": "canary-api-key",
        "from": "news@example.com",
        "senderName": "Doe, Jörg",
        "ipPoolName": "main",
    },
    success=Reply(
        status=202, body={"status": "success", "message": "Accepted successfully.", "data": {"message_id": _ID}}
    ),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error("subject", "The subject is required")),
        "401": fault(FailureKind.PERMANENT, 401, _error("api_key", "Invalid API key")),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too Many Requests", wait=3),
        "500": fault(FailureKind.RETRYABLE, 500, "Internal Server Error"),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 400, _error("personalizations.0.to.0.email", "must be an e-mail address")
        ),
        "an error with a 200": fault(FailureKind.PERMANENT, 200, _error("from", "The domain is not approved")),
    },
    reports=(
        Report(
            body=json.dumps(
                [_event("sent"), _event("bounced", RESPONSE="550 5.1.1"), _event("dropped"), _event("new")]
            ).encode(),
            expected=[
                _receipt("delivered"),
                _receipt("bounced", is_hard=True, reason="550 5.1.1"),
                _receipt("failed"),
            ],
        ),
    ),
)
