"""Brevo SMS."""

import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply


def _report(status: str, kind: str, **expected: Any) -> Report:
    event = {
        "msg_status": status,
        "messageId": 1511882900176220,
        "to": "442079460000",
        "tag": MESSAGE_ID,
        "ts_event": NOW // 1000,
        "description": "as the carrier says",
    }
    receipt = {"kind": kind, "provider_message_id": "1511882900176220", "message_id": MESSAGE_ID, "at": NOW}
    return Report(body=json.dumps(event).encode(), expected=[{**receipt, "recipient": "442079460000", **expected}])


CASE = Case(
    id="brevo-sms",
    credentials={"apiKey": "canary-api-key", "from": "+447700900000"},
    success=Reply(status=201, body={"reference": "ab1cde2fgh3i4jklmno", "messageId": 1511882900176220, "smsCount": 1}),
    message_id="1511882900176220",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, {"code": "missing_parameter", "message": "content is missing"}),
        "401": fault(FailureKind.PERMANENT, 401, {"code": "unauthorized", "message": "Key not found"}),
        "402": fault(FailureKind.PERMANENT, 402, {"code": "not_enough_credits", "message": "Not enough credits"}),
        "404": fault(FailureKind.PERMANENT, 404, {"code": "document_not_found", "message": "Not found"}),
        "429": fault(FailureKind.RATE_LIMITED, 429, {"code": "too_many_requests", "message": "Wait"}, wait=9),
        "500": fault(FailureKind.RETRYABLE, 500, {"code": "internal_error", "message": "Internal error"}),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 400, {"code": "invalid_parameter", "message": "Invalid telephone number"}
        ),
    },
    reports=(
        _report("delivered", "delivered"),
        _report("hard_bounce", "bounced", is_hard=True, reason="as the carrier says"),
        _report("soft_bounce", "bounced", is_hard=False),
        _report("unsubscribe", "unsubscribed"),
    ),
)
