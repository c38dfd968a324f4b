"""Plivo."""

import base64
import hashlib
import hmac
from typing import Any
from urllib.parse import urlencode

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import RECEIPTS_URL, Case, Fault, Report, fault
from tests.providers.contract.vendor import Reply

_TOKEN = "canary-auth-token"
_ID = "db3ce55a-7f1d-11e1-8ea7-1231380bc196"


def _report(status: str, error: str = "", **expected: Any) -> Report:
    fields = {"MessageUUID": _ID, "Status": status, "To": "442079460000", "From": "14155551234", "ErrorCode": error}
    text = RECEIPTS_URL.split("?", maxsplit=1)[0] + "12345678901234567890"
    signature = base64.b64encode(hmac.new(_TOKEN.encode(), text.encode(), hashlib.sha256).digest()).decode()
    return Report(
        body=urlencode(fields).encode(),
        headers={"x-plivo-signature-v2": signature, "x-plivo-signature-v2-nonce": "12345678901234567890"},
        expected=[{"provider_message_id": _ID, "recipient": "442079460000"} | expected],
    )


def _error(kind: FailureKind, status: int, error: str, *, wait: int | None = None) -> Fault:
    return fault(kind, status, {"api_id": "97ceeb52-58b6-11e1-86da-77300b68f8bb", "error": error}, wait=wait)


CASE = Case(
    id="plivo",
    credentials={"accountSid": "MAcanary-auth-id", "token": _TOKEN, "from": "+14155551234"},
    success=Reply(
        status=202,
        body={"message": "message(s) queued", "message_uuid": [_ID], "api_id": "db342550-7f1d-11e1-8ea7-1231380bc196"},
    ),
    message_id=_ID,
    faults={
        "400": _error(FailureKind.PERMANENT, 400, "src parameter is invalid"),
        "401": fault(FailureKind.PERMANENT, 401, "Could not verify your access level for that URL."),
        "404": _error(FailureKind.PERMANENT, 404, "not found"),
        "429": _error(FailureKind.RATE_LIMITED, 429, "rate limit exceeded", wait=2),
        "500": _error(FailureKind.RETRYABLE, 500, "server error"),
        "invalid recipient": _error(FailureKind.RECIPIENT_INVALID, 400, "'1111111' is not a valid phone number."),
        "no id": fault(FailureKind.RETRYABLE, 202, {"message": "message(s) queued", "message_uuid": []}),
    },
    reports=(
        _report("delivered", kind="delivered"),
        _report("undelivered", "50", kind="bounced", is_hard=True, reason="50"),
        _report("undelivered", "20", kind="bounced", is_hard=False),
        _report("failed", "900", kind="failed"),
    ),
)
