"""Mailjet."""

import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from clarion.vocabulary import Channel
from tests.providers.contract.case import CONTENTS, MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_ID = 1152921507279473666


def _event(kind: str, **more: Any) -> dict[str, Any]:
    about = {"time": NOW // 1000, "MessageID": _ID, "email": "ada@example.org", "CustomID": MESSAGE_ID}
    return {"event": kind, **about, **more}


def _receipt(kind: str, **more: Any) -> dict[str, Any]:
    about = {"provider_message_id": str(_ID), "message_id": MESSAGE_ID, "recipient": "ada@example.org", "at": NOW}
    return {"kind": kind, **about, **more}


def _refusal(code: str, status: int, message: str, related: str) -> dict[str, Any]:
    error = {
        "ErrorIdentifier": "f987008f-251a-4dff-8ffc-40f1583ad7bc",
        "ErrorCode": code,
        "StatusCode": status,
        "ErrorMessage": message,
        "ErrorRelatedTo": [related],
    }
    return {"Messages": [{"Status": "error", "Errors": [error]}]}


def _failure(code: str, status: int, message: str) -> dict[str, Any]:
    return {"ErrorIdentifier": "id", "ErrorCode": code, "StatusCode": status, "ErrorMessage": message}


CASE = Case(
    id="mailjet",
    credentials={
        "apiKey": "canary-public-key",
        "secretKey": "canary-private-key",
        "from": "news@example.com",
        "senderName": "Doe, Jörg",
    },
    outgoing={"overrides": CONTENTS[Channel.EMAIL]["overrides"] | {"customCampaign": "spring", "templateId": 7}},
    success=Reply(
        body={
            "Messages": [
                {
                    "Status": "success",
                    "CustomID": MESSAGE_ID,
                    "To": [{"Email": "ada@example.org", "MessageUUID": "uuid-1", "MessageID": _ID}],
                    "Cc": [{"Email": "grace@example.org", "MessageUUID": "uuid-2", "MessageID": _ID + 1}],
                }
            ]
        }
    ),
    message_id=str(_ID),
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _failure("mj-0002", 400, "Malformed JSON")),
        "401": fault(FailureKind.PERMANENT, 401, _failure("mj-0001", 401, "API key authentication failure.")),
        "404": fault(FailureKind.PERMANENT, 404, _failure("mj-0004", 404, "Not found")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _failure("", 429, "Too many requests"), wait=5),
        "500": fault(FailureKind.RETRYABLE, 500, _failure("mj-0005", 500, "Internal error")),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID,
            400,
            _refusal("mj-0013", 400, '"ada" is an invalid email address.', "To[0].Email"),
        ),
        "invalid sender": fault(
            FailureKind.PERMANENT, 403, _refusal("send-0008", 403, "The sender is not validated.", "From")
        ),
        "an error with a 200": fault(
            FailureKind.PERMANENT, 200, _refusal("mj-0013", 400, '"x" is an invalid email address.', "Cc[0].Email")
        ),
    },
    reports=(
        Report(body=json.dumps(_event("sent")).encode(), expected=[_receipt("delivered")]),
        Report(
            body=json.dumps(
                [_event("bounce", hard_bounce=True, error="user unknown"), _event("bounce", hard_bounce=False)]
            ).encode(),
            expected=[
                _receipt("bounced", is_hard=True, reason="user unknown"),
                _receipt("bounced", is_hard=False),
            ],
        ),
    ),
)
