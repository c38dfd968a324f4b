"""Twilio."""

import base64
import hashlib
import hmac
from typing import Any
from urllib.parse import urlencode

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import RECEIPTS_URL, Case, Report, fault
from tests.providers.contract.vendor import Reply

_TOKEN = "canary-auth-token"
_SID = "SM0123456789abcdef0123456789abcdef"


def _report(status: str, **more: str) -> Report:
    fields = {"MessageSid": _SID, "MessageStatus": status, "To": "+442079460000", "AccountSid": "AC1", **more}
    text = RECEIPTS_URL + "".join(f"{name}{fields[name]}" for name in sorted(fields))
    signature = base64.b64encode(hmac.new(_TOKEN.encode(), text.encode(), hashlib.sha1).digest()).decode()
    expected: dict[str, Any] = {"provider_message_id": _SID, "recipient": "+442079460000"}
    expected["kind"] = "bounced" if status == "undelivered" else status
    expected["is_hard"] = more.get("ErrorCode") == "30005"
    return Report(body=urlencode(fields).encode(), headers={"x-twilio-signature": signature}, expected=[expected])


def _error(code: int, status: int, message: str) -> dict[str, Any]:
    return {
        "code": code,
        "message": message,
        "more_info": f"https://www.twilio.com/docs/errors/{code}",
        "status": status,
    }


CASE = Case(
    id="twilio",
    credentials={"accountSid": "ACcanary-account-sid", "token": _TOKEN, "from": "+15005550006"},
    success=Reply(status=201, body={"sid": _SID, "status": "queued", "error_code": None, "num_segments": "1"}),
    message_id=_SID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error(21606, 400, "The From number is not valid")),
        "401": fault(FailureKind.PERMANENT, 401, _error(20003, 401, "Authenticate")),
        "404": fault(FailureKind.PERMANENT, 404, _error(20404, 404, "The requested resource was not found")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _error(20429, 429, "Too Many Requests"), wait=3),
        "500": fault(FailureKind.RETRYABLE, 500, _error(20500, 500, "Internal Server Error")),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 400, _error(21211, 400, "The 'To' number is not a valid phone number.")
        ),
        "STOP": fault(
            FailureKind.RECIPIENT_INVALID, 400, _error(21610, 400, "Attempt to send to unsubscribed recipient")
        ),
    },
    reports=(
        _report("delivered"),
        _report("undelivered", ErrorCode="30005"),
        _report("undelivered", ErrorCode="30003"),
    ),
)
