"""Termii."""

import hashlib
import hmac
import json
from dataclasses import replace
from typing import Any

from clarion.providers.definition.receipts import Callback
from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, Fault, Report, fault
from tests.providers.contract.vendor import Reply

_KEY = "canary-secret-key"
_ID = "5964465985113503103"


def _report(status: str, **expected: Any) -> Report:
    event = {
        "type": "outbound",
        "message_id": _ID,
        "receiver": "442079460000",
        "sender": "Acme",
        "sent_at": "2026-01-01 00:00:00",
        "status": status,
        "channel": "generic",
    }
    body = json.dumps(event).encode()
    signature = hmac.new(_KEY.encode(), body, hashlib.sha512).hexdigest()
    receipt = {"provider_message_id": _ID, "recipient": "442079460000", "reason": status}
    return Report(body=body, headers={"x-termii-signature": signature}, expected=[receipt | expected])


def _altered(callback: Callback) -> Callback:
    return replace(callback, body=callback.body.replace(b"Rejected", b"Expired "))


def _error(kind: FailureKind, status: int, message: str, *, wait: int | None = None) -> Fault:
    return fault(kind, status, {"code": status, "message": message, "status": "error"}, wait=wait)


CASE = Case(
    id="termii",
    credentials={"apiKey": "canary-api-key", "secretKey": _KEY, "from": "Acme"},
    success=Reply(body={"code": "ok", "message_id": _ID, "message": "Successfully Sent", "balance": 9, "user": "Ada"}),
    message_id=_ID,
    faults={
        "400": _error(FailureKind.PERMANENT, 400, "Invalid Sender Id"),
        "401": _error(FailureKind.PERMANENT, 401, "Invalid api key"),
        "404": _error(FailureKind.PERMANENT, 404, "ApplicationSenderId not found"),
        "429": _error(FailureKind.RATE_LIMITED, 429, "Too Many Requests", wait=5),
        "500": _error(FailureKind.RETRYABLE, 500, "Something went wrong"),
        # The error for a wrong number is not documented.
        "invalid recipient": _error(FailureKind.PERMANENT, 422, "The to field is not right"),
        "refused with a 200": _error(FailureKind.PERMANENT, 200, "Insufficient balance"),
        "no id": fault(FailureKind.RETRYABLE, 200, {"code": "ok"}),
    },
    reports=(
        _report("DELIVERED | Message delivered to handset", kind="delivered"),
        _report("Delivered", kind="delivered"),
        _report("Message Sent", kind="sent"),
        _report("DND Active on Phone Number", kind="bounced", is_hard=False),
        replace(_report("Rejected", kind="failed"), forge=_altered),
    ),
)
