"""AfroMessage."""

import json
from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, Report, fault
from tests.providers.contract.vendor import Reply

_ID = "0dc1d4c8-6f0e-4a2c-9b0f-6b1f3e9b7a10"


def _refusal(sentence: str) -> dict[str, Any]:
    return {"acknowledge": "error", "response": {"errors": [sentence], "relatedObject": "/api/send"}}


CASE = Case(
    id="afro-message",
    credentials={
        "apiKey": "canary-api-key",
        "from": "e80ad9d8-adf3-463f-80f4-7c4b39f7f164",
        "senderName": "Clarion",
    },
    success=Reply(
        body={
            "acknowledge": "success",
            "response": {"status": "Send", "message_id": _ID, "message": "SMS is queued", "to": "+442079460000"},
        }
    ),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _refusal("The message is missing.")),
        "401": fault(FailureKind.PERMANENT, 401, "Unauthorized"),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too Many Requests", wait=4),
        "500": fault(FailureKind.RETRYABLE, 500, "Internal Server Error"),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 200, _refusal("Invalid phone number.")),
        "a bad sender with a 200": fault(
            FailureKind.PERMANENT,
            200,
            _refusal("Either your sender id/name or the identifier(short code) you use are invalid."),
        ),
        "an error that is a sentence": fault(
            FailureKind.PERMANENT, 200, {"acknowledge": "error", "response": "invalid sender"}
        ),
    },
    reports=(
        Report(
            method="GET",
            query={"message_id": _ID, "status": "Delivered", "to": "+442079460000"},
            expected=[{"kind": "delivered", "provider_message_id": _ID, "recipient": "+442079460000"}],
        ),
        Report(
            body=json.dumps({"message_id": _ID, "status": "REJECTED"}).encode(),
            expected=[{"kind": "failed", "provider_message_id": _ID}],
        ),
    ),
)
