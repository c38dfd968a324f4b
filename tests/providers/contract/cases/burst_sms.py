"""Kudosity."""

import hashlib
import hmac
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_SECRET = "canary-api-secret"


def _answer(code: str, **more: Any) -> dict[str, Any]:
    return {**more, "error": {"code": code, "description": "as the provider says"}}


def _report(status: str, *, token: bool, **expected: Any) -> Report:
    """Sign literal JSON, with or without the token of our URL."""
    query = {"message_id": "339683245", "mobile": "442079460000", "datetime": "2026-01-01 00:00:00", "status": status}
    pairs = ({"token": "canary-receipts-token"} if token else {}) | query | {"note": "a/ü"}
    text = "{" + ",".join(f'"{name}":"{value}"' for name, value in pairs.items()) + "}"
    signed = text.replace("/", r"\/").replace("ü", r"\u00fc").encode()
    receipt = {"provider_message_id": "339683245", "recipient": "442079460000", "at": NOW, **expected}
    return Report(
        method="GET",
        query={**query, "note": "a/ü"},
        headers={"x-transmitsms-signature": hmac.new(_SECRET.encode(), signed, hashlib.sha256).hexdigest()},
        expected=[receipt],
    )


CASE = Case(
    id="burst-sms",
    credentials={"apiKey": "canary-api-key", "secretKey": _SECRET, "from": "+61400000000"},
    success=Reply(body=_answer("SUCCESS", message_id=339683245, recipients=1, sms=1, cost=0.087)),
    message_id="339683245",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _answer("FIELD_INVALID")),
        "401": fault(FailureKind.PERMANENT, 401, _answer("AUTH_FAILED")),
        "404": fault(FailureKind.PERMANENT, 404, _answer("NOT_IMPLEMENTED")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _answer("OVER_LIMIT"), wait=1),
        "500": fault(FailureKind.RETRYABLE, 500, "Internal Server Error"),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 400, _answer("RECIPIENTS_ERROR")),
        "no credit with a 200": fault(FailureKind.PERMANENT, 200, _answer("LEDGER_ERROR")),
        "the number was left out": fault(
            FailureKind.RECIPIENT_INVALID, 200, _answer("SUCCESS", message_id=339683245, recipients=0)
        ),
    },
    reports=(
        _report("delivered", token=True, kind="delivered"),
        _report("hard-bounce", token=False, kind="bounced", is_hard=True),
        _report("soft-bounce", token=True, kind="bounced", is_hard=False),
    ),
)
