"""SparkPost."""

import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from clarion.vocabulary import Channel
from tests.providers.contract.case import CONTENTS, MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_ID = "11668787484950529"


def _event(kind: str, **more: Any) -> dict[str, Any]:
    event = {
        "type": kind,
        "event_id": "event-1",
        "message_id": "another number",
        "transmission_id": _ID,
        "raw_rcpt_to": "ada@example.org",
        "timestamp": str(NOW // 1000),
        "rcpt_meta": {"clarion_message_id": MESSAGE_ID},
    }
    return {"msys": {"message_event": event | more}}


def _receipt(kind: str, **more: Any) -> dict[str, Any]:
    about = {"provider_message_id": _ID, "message_id": MESSAGE_ID, "recipient": "ada@example.org", "at": NOW}
    return {"kind": kind, "event_id": "event-1", **about, **more}


def _error(message: str, code: str, description: str = "") -> dict[str, Any]:
    return {"errors": [{"message": message, "code": code, "description": description}]}


def _results(accepted: int, rejected: int, **more: Any) -> dict[str, Any]:
    return {
        "results": {"total_accepted_recipients": accepted, "total_rejected_recipients": rejected, "id": _ID, **more}
    }


CASE = Case(
    id="sparkpost",
    credentials={
        "apiKey": "canary-api-key",
        "from": "news@example.com",
        "senderName": "Doe, Jörg",
        "region": "eu",
        "ipPoolName": "main",
    },
    outgoing={"subject": "Save {{ 7 }} %", "content": CONTENTS[Channel.EMAIL]["content"] + "<style>@a{b{c:d}}</style>"},
    success=Reply(body=_results(3, 0)),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error("Invalid domain", "7001", "No sending domain specified")),
        "401": fault(FailureKind.PERMANENT, 401, {"errors": [{"message": "Unauthorized."}]}),
        "404": fault(FailureKind.PERMANENT, 404, {"errors": [{"message": "Resource not found"}]}),
        "429": fault(FailureKind.RATE_LIMITED, 429, {"errors": [{"message": "Too many requests"}]}, wait=5),
        "500": fault(FailureKind.RETRYABLE, 500, {"errors": [{"message": "Internal error"}]}),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 400, _error("At least one valid recipient is required", "5002")
        ),
        "sending limit": fault(FailureKind.RATE_LIMITED, 420, _error("Exceed Sending Limit (daily)", "2102")),
        "nobody accepted with a 200": fault(FailureKind.PERMANENT, 200, _results(0, 3)),
        "the copies alone go out": fault(
            FailureKind.RECIPIENT_INVALID,
            200,
            _results(
                2,
                1,
                rcpt_to_errors=[
                    {
                        "message": "invalid data format/type",
                        "description": "invalid recipient address.email: ada@example.org",
                        "code": "1300",
                    }
                ],
            ),
        ),
    },
    reports=(
        Report(
            body=json.dumps(
                [
                    _event("delivery"),
                    _event("bounce", bounce_class="10", raw_reason="550 5.1.1 No such user"),
                    _event("bounce", bounce_class="22"),
                    _event("out_of_band", bounce_class="60"),
                    _event("bounce", bounce_class="90"),
                    _event("initial_open"),
                ]
            ).encode(),
            expected=[
                _receipt("delivered"),
                _receipt("bounced", is_hard=True, reason="550 5.1.1 No such user"),
                _receipt("bounced", is_hard=False),
                _receipt("unsubscribed"),
            ],
        ),
        Report(body=b'[{"msys":{}}]', expected=[]),
    ),
)
