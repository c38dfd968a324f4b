"""Infobip."""

import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, RECEIPTS_URL, Case, Fault, Report, fault
from tests.providers.contract.vendor import Reply

_ID = "a28dd97c-1ffb-4fcf-99f1-0b557ed381da"


def _entry(group: str, number: int, name: str) -> dict[str, Any]:
    status = {"groupId": 1, "groupName": group, "id": number, "name": name, "description": name}
    return {"to": "ada@example.org", "messageId": _ID, "status": status}


def _refused(kind: FailureKind, number: int, name: str) -> Fault:
    return fault(kind, 200, {"bulkId": "bulk-1", "messages": [_entry("REJECTED", number, name)]})


def _error(code: str, text: str, **problems: list[str]) -> dict[str, Any]:
    return {"requestError": {"serviceException": {"messageId": code, "text": text, "validationErrors": problems}}}


def _report(group: str, **more: Any) -> dict[str, Any]:
    about = {"messageId": _ID, "to": "ada@example.org", "doneAt": "2026-01-01T00:00:01.000+0000"}
    return about | {"callbackData": MESSAGE_ID, "status": {"groupName": group}} | more


def _receipt(kind: str, **more: Any) -> dict[str, Any]:
    about = {"provider_message_id": _ID, "message_id": MESSAGE_ID, "recipient": "ada@example.org", "at": NOW + 1000}
    return {"kind": kind} | about | more


CASE = Case(
    id="infobip-email",
    credentials={
        "apiKey": "canary-api-key",
        "baseUrl": "xyz.api.infobip.com",
        "applicationId": "marketing-automation",
        "from": "news@example.com",
        "senderName": "Doe, Jörg",
    },
    outgoing={"receipts_url": RECEIPTS_URL},
    success=Reply(
        body={
            "bulkId": "bulk-1",
            "messages": [_entry("PENDING", 26, "PENDING_ACCEPTED"), _entry("REJECTED", 52, "of a copy")],
        }
    ),
    message_id=_ID,
    opens="mimeMessage",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error("BAD_REQUEST", "Bad Request", mimeMessage=["malformed"])),
        "401": fault(FailureKind.PERMANENT, 401, _error("UNAUTHORIZED", "Invalid login details")),
        "404": fault(FailureKind.PERMANENT, 404, _error("NOT_FOUND", "Requested URL not found")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _error("TOO_MANY_REQUESTS", "Too many requests"), wait=1),
        "500": fault(FailureKind.RETRYABLE, 500, _error("GENERAL_ERROR", "Something went wrong.")),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 400, _error("BAD_REQUEST", "Bad Request", destinations=["invalid address"])
        ),
        "invalid recipient with a 200": _refused(FailureKind.RECIPIENT_INVALID, 52, "INVALID_DESTINATION_ADDRESS"),
        "no credits with a 200": _refused(FailureKind.PERMANENT, 12, "REJECTED_NOT_ENOUGH_CREDITS"),
        "system error with a 200": _refused(FailureKind.RETRYABLE, 21, "REJECTED_SYSTEM_ERROR"),
    },
    reports=(
        Report(
            body=json.dumps(
                {
                    "results": [
                        _report("DELIVERED"),
                        _report("UNDELIVERABLE", error={"id": 6002, "name": "EC_HARD_BOUNCE", "permanent": True}),
                        _report("UNDELIVERABLE", error={"id": 6003, "name": "EC_SOFT_BOUNCE", "permanent": False}),
                        _report("REJECTED", error={"id": 6034, "name": "EC_SUPPRESSED_BOUNCE", "permanent": True}),
                        _report("EXPIRED"),
                    ]
                }
            ).encode(),
            expected=[
                _receipt("delivered"),
                _receipt("bounced", is_hard=True, reason="EC_HARD_BOUNCE"),
                _receipt("bounced", is_hard=False),
                _receipt("failed"),
                _receipt("bounced", is_hard=False),
            ],
        ),
        Report(
            body=json.dumps(
                {
                    "notificationType": "OPENED",
                    "messageId": _ID,
                    "recipient": "ada@example.org",
                    "callbackData": MESSAGE_ID,
                    "sendDateTime": NOW,
                }
            ).encode(),
            expected=[{"kind": "opened", "provider_message_id": _ID, "recipient": "ada@example.org"}],
        ),
    ),
)
