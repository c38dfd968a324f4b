"""Mandrill."""

import base64
import hashlib
import hmac
import json
from typing import Any
from urllib.parse import urlencode

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, RECEIPTS_URL, Case, Report, fault
from tests.providers.contract.vendor import Reply

_KEY = "canary-webhook-key"
_ID = "abc123abc123abc123abc123abc123"


def _event(kind: str, **more: Any) -> dict[str, Any]:
    about = {"email": "ada@example.org", "metadata": {"clarion_message_id": MESSAGE_ID}}
    return {"event": kind, "_id": _ID, "ts": NOW // 1000, "msg": about | more}


def _report(events: list[dict[str, Any]], *expected: dict[str, Any]) -> Report:
    text = json.dumps(events)
    signed = f"{RECEIPTS_URL}mandrill_events{text}".encode()
    signature = base64.b64encode(hmac.new(_KEY.encode(), signed, hashlib.sha1).digest()).decode()
    about = {"provider_message_id": _ID, "message_id": MESSAGE_ID, "recipient": "ada@example.org", "at": NOW}
    return Report(
        body=urlencode({"mandrill_events": text}).encode(),
        headers={"x-mandrill-signature": signature},
        expected=[about | one for one in expected],
    )


def _entries(status: str, reason: str | None = None) -> list[dict[str, Any]]:
    return [
        {"email": "grace@example.org", "status": "sent", "_id": "copy", "reject_reason": None},
        {"email": "Ada@Example.org", "status": status, "_id": _ID, "reject_reason": reason},
    ]


def _error(name: str, message: str) -> dict[str, Any]:
    return {"status": "error", "code": -1, "name": name, "message": message}


CASE = Case(
    id="mandrill",
    credentials={
        "apiKey": "md-canary-api-key",
        "from": "news@example.com",
        "senderName": "Doe, Jörg",
        "ipPoolName": "Main Pool",
        "secretKey": _KEY,
    },
    success=Reply(body=_entries("queued")),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error("ValidationError", "You must specify a key value")),
        "401": fault(FailureKind.PERMANENT, 401, _error("Invalid_Key", "Invalid API key")),
        "404": fault(FailureKind.PERMANENT, 404, _error("Unknown_Method", "Unknown method")),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too Many Requests", wait=2),
        "500": fault(FailureKind.RETRYABLE, 500, _error("GeneralError", "An unexpected error occurred")),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 200, _entries("invalid")),
        "bounced before": fault(FailureKind.RECIPIENT_INVALID, 200, _entries("rejected", "hard-bounce")),
        "unsigned domain": fault(FailureKind.PERMANENT, 200, _entries("rejected", "unsigned")),
        "bad key with a 500": fault(FailureKind.PERMANENT, 500, _error("Invalid_Key", "Invalid API key")),
        "no word about the recipient": fault(FailureKind.RETRYABLE, 200, _entries("sent")[:1]),
    },
    reports=(
        _report(
            [_event("send"), _event("hard_bounce", diag="550 5.1.1"), _event("soft_bounce"), _event("whitelist")],
            {"kind": "sent"},
            {"kind": "bounced", "is_hard": True, "reason": "550 5.1.1"},
            {"kind": "bounced", "is_hard": False},
        ),
    ),
)
