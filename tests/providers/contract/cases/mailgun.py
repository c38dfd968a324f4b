"""Mailgun."""

import hashlib
import hmac
import json
from dataclasses import replace
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_KEY = "canary-webhook-signing-key"
_MOMENT, _TOKEN = str(NOW // 1000), "a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0"


def _report(**data: Any) -> bytes:
    signature = hmac.new(_KEY.encode(), f"{_MOMENT}{_TOKEN}".encode(), hashlib.sha256).hexdigest()
    event = {
        "id": "event-1",
        "timestamp": 1767225600.5,
        "recipient": "ada@example.org",
        "message": {"headers": {"message-id": "20260101.1@mg.example.com"}},
        "user-variables": {"clarion_message_id": MESSAGE_ID},
    }
    signed = {"timestamp": _MOMENT, "token": _TOKEN, "signature": signature}
    return json.dumps({"signature": signed, "event-data": event | data}).encode()


def _bounce(severity: str, kind: str, *, is_hard: bool) -> Report:
    return Report(
        body=_report(
            event="failed", severity=severity, **{"delivery-status": {"code": 550, "message": "No such user"}}
        ),
        forge=lambda callback: replace(callback, body=callback.body.replace(_TOKEN.encode(), b"another-token")),
        expected=[
            {
                "kind": kind,
                "is_hard": is_hard,
                "provider_message_id": "<20260101.1@mg.example.com>",
                "message_id": MESSAGE_ID,
                "recipient": "ada@example.org",
                "reason": "No such user",
                "event_id": "event-1",
                "at": NOW + 500,
            }
        ],
    )


CASE = Case(
    id="mailgun",
    credentials={
        "apiKey": "canary-api-key",
        "user": "api",
        "domain": "mg.example.com",
        "from": "news@example.com",
        "senderName": "Doe, Jörg",
        "secretKey": _KEY,
    },
    success=Reply(body={"id": "<20260101.1@mg.example.com>", "message": "Queued. Thank you."}),
    message_id="<20260101.1@mg.example.com>",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, {"message": "from parameter is not a valid address"}),
        "401": fault(FailureKind.PERMANENT, 401, "Forbidden"),
        "404": fault(FailureKind.PERMANENT, 404, {"message": "Domain not found: mg.example.com"}),
        "429": fault(FailureKind.RATE_LIMITED, 429, {"message": "too many requests"}, wait=30),
        "500": fault(FailureKind.RETRYABLE, 500, {"message": "Internal Server Error"}),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID,
            400,
            {"message": "to parameter is not a valid address. please check documentation"},
        ),
        "a greeting where nothing is": fault(FailureKind.RETRYABLE, 200, "Mailgun Magnificent API"),
    },
    reports=(
        _bounce("permanent", "bounced", is_hard=True),
        _bounce("temporary", "deferred", is_hard=False),
    ),
)
