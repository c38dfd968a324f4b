"""WhatsApp Business."""

import hashlib
import hmac
import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_SECRET = "canary-app-secret"
_ID = "wamid.HBgMNDQyMDc5NDYwMDAwFQIAERgSN"


def _refusal(code: int, message: str) -> dict[str, Any]:
    return {
        "error": {
            "message": f"(#{code}) {message}",
            "type": "OAuthException",
            "code": code,
            "error_data": {"messaging_product": "whatsapp", "details": message},
            "fbtrace_id": "Az8or2yhqkZfEZ",
        }
    }


def _report(*statuses: dict[str, Any], expected: list[dict[str, Any]]) -> Report:
    value = {"messaging_product": "whatsapp", "metadata": {"phone_number_id": "106540352242922"}}
    events = [{"id": _ID, "timestamp": str(NOW // 1000), "recipient_id": "442079460000", **one} for one in statuses]
    changes = [{"field": "messages", "value": {**value, "statuses": events}}]
    body = json.dumps({"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": changes}]}).encode()
    signature = hmac.new(_SECRET.encode(), body, hashlib.sha256).hexdigest()
    common = {"provider_message_id": _ID, "recipient": "442079460000", "at": NOW}
    return Report(
        body=body,
        headers={"x-hub-signature-256": f"sha256={signature}"},
        expected=[{**common, **one} for one in expected],
    )


CASE = Case(
    id="whatsapp-business",
    credentials={
        "apiToken": "EAAcanary-token",
        "phoneNumberIdentification": "106540352242922",
        "secretKey": _SECRET,
        "token": "canary-verify-token",
    },
    outgoing={
        "overrides": {
            "template": {
                "name": "build_passed",
                "language": {"code": "en"},
                "components": [{"type": "body", "parameters": [{"type": "text", "text": "7"}]}],
            }
        }
    },
    success=Reply(
        body={
            "messaging_product": "whatsapp",
            "contacts": [{"input": "442079460000", "wa_id": "442079460000"}],
            "messages": [{"id": _ID, "message_status": "accepted"}],
        }
    ),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _refusal(100, "Invalid parameter")),
        "401": fault(FailureKind.PERMANENT, 401, _refusal(190, "Access token has expired")),
        "404": fault(FailureKind.PERMANENT, 404, _refusal(132001, "Template does not exist")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _refusal(130429, "Rate limit hit"), wait=4),
        "a rate limit with a 400": fault(FailureKind.RATE_LIMITED, 400, _refusal(131056, "Pair rate limit hit")),
        "500": fault(FailureKind.RETRYABLE, 500, _refusal(131000, "Something went wrong")),
        "overloaded, with a 400": fault(FailureKind.RETRYABLE, 400, _refusal(131016, "Service unavailable")),
        "the window is closed": fault(FailureKind.PERMANENT, 400, _refusal(131047, "Re-engagement message")),
        "too much marketing": fault(FailureKind.PERMANENT, 400, _refusal(131049, "Not delivered")),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 400, _refusal(131026, "Message undeliverable")),
    },
    reports=(
        _report({"status": "sent"}, expected=[{"kind": "sent", "message_id": None}]),
        _report(
            {"status": "delivered", "biz_opaque_callback_data": MESSAGE_ID},
            {"status": "read", "biz_opaque_callback_data": MESSAGE_ID},
            expected=[
                {"kind": "delivered", "message_id": MESSAGE_ID},
                {"kind": "opened", "message_id": MESSAGE_ID},
            ],
        ),
        _report(
            {"status": "failed", "errors": [{"code": 131026, "title": "Message undeliverable"}]},
            expected=[{"kind": "failed", "reason": "Message undeliverable"}],
        ),
        _report(expected=[]),
    ),
)
