"""Amazon SNS."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, Fault, fault
from tests.providers.contract.vendor import Reply

_SPACE = "http://sns.amazonaws.com/doc/2010-03-31/"
_ID = "567910cd-659e-55d4-8ccb-5aaf14679dc0"


def _error(kind: FailureKind, status: int, code: str, message: str, *, wait: int | None = None) -> Fault:
    error = f"<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>"
    body = f'<ErrorResponse xmlns="{_SPACE}">{error}<RequestId>1</RequestId></ErrorResponse>'
    return fault(kind, status, body, wait=wait)


CASE = Case(
    id="sns",
    credentials={
        "apiKey": "canary-access-key-id",
        "secretKey": "canary-secret-access-key",
        "region": "eu-west-1",
        "from": "Acme",
        "token": "canary-session-token",
    },
    success=Reply(
        body=f'<PublishResponse xmlns="{_SPACE}"><PublishResult><MessageId>{_ID}</MessageId></PublishResult>'
        "<ResponseMetadata><RequestId>2</RequestId></ResponseMetadata></PublishResponse>"
    ),
    message_id=_ID,
    faults={
        "400": _error(FailureKind.PERMANENT, 400, "InvalidParameter", "Invalid parameter: Empty message"),
        "401": _error(FailureKind.PERMANENT, 403, "InvalidClientTokenId", "The security token is invalid"),
        "403": _error(FailureKind.PERMANENT, 403, "SignatureDoesNotMatch", "The request signature does not match"),
        "404": _error(FailureKind.PERMANENT, 404, "NotFound", "Topic does not exist"),
        "429": _error(FailureKind.RATE_LIMITED, 429, "Throttled", "Rate exceeded", wait=2),
        "500": _error(FailureKind.RETRYABLE, 500, "InternalError", "Internal error"),
        "invalid recipient": _error(
            FailureKind.RECIPIENT_INVALID,
            400,
            "InvalidParameter",
            "Invalid parameter: PhoneNumber Reason: +44 is not valid to publish to",
        ),
        "throttled with a 400": _error(FailureKind.RATE_LIMITED, 400, "Throttling", "Rate exceeded"),
        "opted out": _error(FailureKind.RECIPIENT_INVALID, 400, "OptedOut", "The number has opted out"),
        "no id": fault(FailureKind.RETRYABLE, 200, "<PublishResponse/>"),
    },
)
