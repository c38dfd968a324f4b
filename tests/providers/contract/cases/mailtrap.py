"""Mailtrap."""

import hashlib
import hmac
import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_KEY = "canary-signature-key"
_ID = "0c7fd939-02cf-11ed-88c2-0a58a9feac02"


def _event(kind: str, **more: Any) -> dict[str, Any]:
    about = {"event_id": "event-1", "email": "ada@example.org", "timestamp": NOW // 1000 + 1, "message_id": _ID}
    return {"event": kind, **about, "custom_variables": {"clarion_message_id": MESSAGE_ID}, **more}


def _receipt(kind: str, **more: Any) -> dict[str, Any]:
    about = {"provider_message_id": _ID, "message_id": MESSAGE_ID, "recipient": "ada@example.org", "at": NOW + 1000}
    return {"kind": kind, "event_id": "event-1", **about, **more}


def _report(body: bytes, *expected: dict[str, Any]) -> Report:
    signature = hmac.new(_KEY.encode(), body, hashlib.sha256).hexdigest()
    return Report(body=body, headers={"mailtrap-signature": signature}, expected=expected)


def _errors(*messages: str) -> dict[str, Any]:
    return {"success": False, "errors": list(messages)}


CASE = Case(
    id="mailtrap",
    credentials={
        "apiKey": "canary-api-token",
        "from": "news@example.com",
        "senderName": "Doe, Jörg",
        "secretKey": _KEY,
    },
    success=Reply(body={"success": True, "message_ids": [_ID, "copy-1", "copy-2"]}),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _errors("'subject' is required")),
        "401": fault(FailureKind.PERMANENT, 401, {"error": "Incorrect API token"}),
        "403": fault(FailureKind.PERMANENT, 403, _errors("Sending from domain example.com is not allowed")),
        "404": fault(FailureKind.PERMANENT, 404, {"error": "Not Found"}),
        "429": fault(FailureKind.RATE_LIMITED, 429, _errors("Rate limit exceeded"), wait=10),
        "500": fault(FailureKind.RETRYABLE, 500, _errors("Internal error")),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 400, _errors("'to' address is invalid")),
        "a failure with a 200": fault(FailureKind.PERMANENT, 200, _errors("not taken")),
    },
    reports=(
        _report(
            json.dumps(
                {"events": [_event("delivery"), _event("bounce", response="550 5.1.1"), _event("soft bounce")]}
            ).encode(),
            _receipt("delivered"),
            _receipt("bounced", is_hard=True, reason="550 5.1.1"),
            _receipt("deferred"),
        ),
        _report(
            "\n".join(json.dumps(_event(kind)) for kind in ("open", "reject")).encode(),
            _receipt("opened"),
            _receipt("failed"),
        ),
    ),
)
