"""SMS Central."""

from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, Case, Report, fault
from tests.providers.contract.vendor import Reply


def _report(status: str, description: str, **expected: Any) -> Report:
    query = {
        "USER_NAME": "clarion",
        "ORIGINATOR": "61435748922",
        "RECIPIENT": "442079460000",
        "ID": "17",
        "REFERENCE": MESSAGE_ID,
        "STATUS": status,
        "STATUSDESCRIPTION": description,
    }
    receipt = {"message_id": MESSAGE_ID, "recipient": "442079460000"}
    return Report(method="GET", query=query, expected=[receipt | expected])


CASE = Case(
    id="sms-central",
    credentials={"user": "clarion", "password": "canary password&1", "from": "+61435748922"},
    success=Reply(body="0"),
    message_id=MESSAGE_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, "Bad Request"),
        "401": fault(FailureKind.PERMANENT, 200, "Invalid username or password"),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Too Many Requests", wait=12),
        "500": fault(FailureKind.RETRYABLE, 500, "Internal Server Error"),
        # The error codes are not documented, so no error is classified as a wrong number.
        "invalid recipient": fault(FailureKind.PERMANENT, 200, "515"),
        "a number that only begins with zero": fault(FailureKind.PERMANENT, 200, "0515"),
    },
    reports=(
        _report("DELIVERD", "", kind="delivered"),
        _report("BUFFRED", "", kind="deferred"),
        _report("FAILED", "Unknown subscriber", kind="bounced", is_hard=False, reason="Unknown subscriber"),
    ),
)
