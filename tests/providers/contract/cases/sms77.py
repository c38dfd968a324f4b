"""seven."""

import hashlib
import hmac
import json
from dataclasses import replace
from typing import Any

from clarion.providers.definition.receipts import Callback
from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import NOW, RECEIPTS_URL, Case, Fault, Report, fault
from tests.providers.contract.vendor import Reply

_KEY = "canary-signing-key"
_ID = "77149843739"
_NONCE = "fpPRhAd1s8GXacfR39mWqKPynmmXfJnc"


def _headers(body: bytes, moment: int) -> dict[str, str]:
    text = f"{moment}\n{_NONCE}\nPOST\n{RECEIPTS_URL}\n{hashlib.md5(body, usedforsecurity=False).hexdigest()}"
    signature = hmac.new(_KEY.encode(), text.encode(), hashlib.sha256).hexdigest()
    return {"x-signature": signature, "x-timestamp": str(moment), "x-nonce": _NONCE}


def _report(status: str, **expected: Any) -> Report:
    event = {
        "data": {"msg_id": _ID, "status": status, "timestamp": "2026-01-01 01:00:00.000000"},
        "webhook_event": "dlr",
        "webhook_timestamp": "2026-01-01T01:00:00+01:00",
    }
    body = json.dumps(event).encode()
    receipt = {"provider_message_id": _ID, "at": NOW}
    return Report(body=body, headers=_headers(body, NOW // 1000), expected=[receipt | expected])


def _late(callback: Callback) -> Callback:
    return replace(callback, headers=_headers(callback.body, NOW // 1000 - 3_600))


def _answer(code: str, **message: Any) -> dict[str, Any]:
    return {"success": code, "total_price": 0.075, "balance": 3.2, "messages": [message] if message else []}


def _refusal(kind: FailureKind, body: Any) -> Fault:
    return fault(kind, 200, body)


CASE = Case(
    id="sms77",
    credentials={"apiKey": "canary-api-key", "secretKey": _KEY, "from": "+4917612345678"},
    success=Reply(body=_answer("100", id=_ID, recipient="442079460000", encoding="ucs2", success=True, error=None)),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, "Bad Request"),
        "401": fault(FailureKind.PERMANENT, 401, "900"),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too Many Requests", wait=3),
        "500": fault(FailureKind.RETRYABLE, 500, "Internal Server Error"),
        "invalid recipient": _refusal(FailureKind.RECIPIENT_INVALID, _answer("202")),
        "invalid recipient of the message": _refusal(
            FailureKind.RECIPIENT_INVALID, _answer("101", id=None, success=False, error=202)
        ),
        "a message refused for another reason": _refusal(
            FailureKind.PERMANENT, _answer("100", id=None, success=False, error=305)
        ),
        "wrong key with a 200": _refusal(FailureKind.PERMANENT, "900"),
        "no credit with a 200": _refusal(FailureKind.PERMANENT, _answer("500")),
        "carrier with a 200": _refusal(FailureKind.RETRYABLE, "600"),
        "daily limit with a 200": _refusal(FailureKind.RATE_LIMITED, _answer("403")),
    },
    reports=(
        _report("DELIVERED", kind="delivered"),
        _report("TRANSMITTED", kind="sent"),
        replace(_report("NOTDELIVERED", kind="bounced", is_hard=False), forge=_late),
        replace(_report("REJECTED", kind="failed"), forge=lambda callback: replace(callback, method="PUT")),
    ),
)
