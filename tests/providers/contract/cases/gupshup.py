"""Gupshup."""

import json
from urllib.parse import urlencode

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_ID = "3326385443113498-4141"
_RECEIPT = {"provider_message_id": _ID, "recipient": "442079460000", "at": NOW}
_EVENTS = [
    {"externalId": _ID, "eventType": kind, "eventTs": NOW, "destAddr": "442079460000", "cause": cause}
    for kind, cause in (("DELIVERED", "SUCCESS"), ("FAILED", "ABSENT_SUBSCRIBER"))
]

CASE = Case(
    id="gupshup",
    credentials={"user": "2000012345", "password": "canary password&1", "from": "CLARIN"},
    success=Reply(body=f"success | 442079460000 | {_ID}\n"),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, "Bad Request"),
        "401": fault(
            FailureKind.PERMANENT, 200, "error | 102 | Authentication failed due to invalid userId or password"
        ),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too Many Requests", wait=2),
        "500": fault(FailureKind.RETRYABLE, 500, "Internal Server Error"),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 200, "error | 105 | The phone number is not valid."),
        "an unknown error with a 200": fault(FailureKind.RETRYABLE, 200, "error | 100 | Unknown error"),
        "a bad mask with a 200": fault(FailureKind.PERMANENT, 200, "error | 108 | The mask is not valid."),
        "an error without a code": fault(FailureKind.PERMANENT, 200, "error | The account is not active"),
    },
    reports=(
        Report(
            method="GET",
            query={
                "externalId": _ID,
                "deliveredTS": str(NOW),
                "status": "SUCCESS",
                "cause": "SUCCESS",
                "phoneNo": "442079460000",
                "errCode": "000",
                "noOfFrags": "1",
            },
            expected=[{**_RECEIPT, "kind": "delivered"}],
        ),
        Report(
            body=urlencode({"response": json.dumps(_EVENTS)}).encode(),
            expected=[
                {**_RECEIPT, "kind": "delivered"},
                {**_RECEIPT, "kind": "bounced", "reason": "ABSENT_SUBSCRIBER", "is_hard": False},
            ],
        ),
    ),
)
