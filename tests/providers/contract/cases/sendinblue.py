"""Brevo."""

import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_ID = "<202601010000.123@smtp-relay.mailin.fr>"


def _event(kind: str, **more: Any) -> dict[str, Any]:
    return {
        "event": kind,
        "email": "ada@example.org",
        "id": 26224,
        "date": "2026-01-01 05:30:00",
        "ts_epoch": NOW + 1000,
        "message-id": _ID,
        "X-Mailin-custom": MESSAGE_ID,
        **more,
    }


def _receipt(kind: str, **more: Any) -> dict[str, Any]:
    about = {"provider_message_id": _ID, "message_id": MESSAGE_ID, "recipient": "ada@example.org", "at": NOW + 1000}
    return {"kind": kind, **about, **more}


def _error(code: str, message: str) -> dict[str, str]:
    return {"code": code, "message": message}


CASE = Case(
    id="sendinblue",
    credentials={"apiKey": "xkeysib-canary-api-key", "from": "news@example.com", "senderName": "Doe, Jörg"},
    success=Reply(status=201, body={"messageId": _ID}),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error("missing_parameter", "subject is missing")),
        "401": fault(FailureKind.PERMANENT, 401, _error("unauthorized", "Key not found")),
        "402": fault(FailureKind.PERMANENT, 402, _error("not_enough_credits", "Not enough credits")),
        "404": fault(FailureKind.PERMANENT, 404, _error("document_not_found", "Not found")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _error("too_many_requests", "Too many requests"), wait=12),
        "500": fault(FailureKind.RETRYABLE, 500, _error("internal_error", "Internal error")),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 400, _error("invalid_parameter", "email is not valid in to")
        ),
        "invalid copy": fault(FailureKind.PERMANENT, 400, _error("invalid_parameter", "email is not valid in cc")),
    },
    reports=(
        Report(body=json.dumps(_event("delivered")).encode(), expected=[_receipt("delivered")]),
        Report(
            body=json.dumps(
                [_event("hard_bounce", reason="No such user"), _event("soft_bounce"), _event("list_addition")]
            ).encode(),
            expected=[
                _receipt("bounced", is_hard=True, reason="No such user"),
                _receipt("bounced", is_hard=False),
            ],
        ),
    ),
)
