"""RingCentral."""

from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, Fault, fault
from tests.providers.contract.vendor import Reply


def _error(code: str, message: str, **more: str) -> dict[str, Any]:
    return {"errorCode": code, "message": message, "errors": [{"errorCode": code, "message": message, **more}]}


CASE = Case(
    id="ring-central",
    credentials={
        "clientId": "canary-client-id",
        "secretKey": "canary-client-secret",
        "token": "canary.jwt.credential",
        "from": "+14155551234",
    },
    before={
        "/restapi/oauth/token": Reply(
            body={"access_token": "canary-access-token", "token_type": "bearer", "expires_in": 3_600}
        )
    },
    success=Reply(body={"id": 1_234_567_890, "type": "SMS", "messageStatus": "Queued"}),
    message_id="1234567890",
    faults={
        "400": fault(
            FailureKind.PERMANENT, 400, _error("MSG-246", "Sending SMS from extension numbers is not possible")
        ),
        "401": fault(FailureKind.PERMANENT, 401, _error("OAU-128", "Access token is expired")),
        "404": fault(
            FailureKind.PERMANENT, 404, _error("CMN-102", "Resource for parameter [extensionId] is not found")
        ),
        "429": fault(FailureKind.RATE_LIMITED, 429, _error("CMN-301", "Request rate exceeded"), wait=60),
        "429 without Retry-After": Fault(
            reply=Reply(status=429, body=_error("CMN-301", "Request rate exceeded")),
            kind=FailureKind.RATE_LIMITED,
            retry_after=30,
        ),
        "500": fault(FailureKind.RETRYABLE, 500, _error("CMN-201", "Service Temporary Unavailable")),
        "503": fault(FailureKind.RETRYABLE, 503, _error("CMN-201", "Service Temporary Unavailable"), wait=5),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID,
            400,
            _error("CMN-101", "Parameter [to.phoneNumber] value is invalid", parameterName="to.phoneNumber"),
        ),
        "somebody else's number": fault(
            FailureKind.PERMANENT,
            403,
            _error("CMN-101", "Parameter [from] value is invalid", parameterName="from.phoneNumber"),
        ),
    },
)
