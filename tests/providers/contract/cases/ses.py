"""Amazon SES."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Fault, Report, fault
from tests.providers.contract.vendor import Reply
from tests.rsa_keys import rsa_key

_KEY = rsa_key(1_024)
_NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
_CERTIFICATE = (
    x509.CertificateBuilder()
    .subject_name(_NAME)
    .issuer_name(_NAME)
    .public_key(_KEY.public_key())
    .serial_number(1)
    .not_valid_before(datetime.now(UTC) - timedelta(days=1))
    .not_valid_after(datetime.now(UTC) + timedelta(days=1))
    .sign(_KEY, SHA256())
    .public_bytes(Encoding.PEM)
    .decode()
)


def _signed(**fields: Any) -> bytes:
    notification = {
        "MessageId": "event-1",
        "Timestamp": "2026-01-01T00:00:00.000Z",
        "TopicArn": "arn:aws:sns:eu-west-1:1:ses",
        **fields,
    }
    text = "".join(f"{name}\n{notification[name]}\n" for name in sorted(notification))
    signature = _KEY.sign(text.encode(), padding.PKCS1v15(), SHA256())
    proof = {
        "SignatureVersion": "2",
        "Signature": base64.b64encode(signature).decode(),
        "SigningCertURL": f"https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-{'0af3' * 8}.pem",
    }
    return json.dumps(notification | proof).encode()


_BOUNCE = {
    "eventType": "Bounce",
    "mail": {
        "messageId": "0100018a-ses",
        "destination": ["ada@example.org"],
        "tags": {"clarion_message_id": [MESSAGE_ID]},
    },
    "bounce": {
        "bounceType": "Permanent",
        "bouncedRecipients": [{"emailAddress": "ada@example.org", "diagnosticCode": "smtp; 550 5.1.1 user unknown"}],
        "timestamp": "2026-01-01T00:00:01.000Z",
    },
}


def _fault(kind: FailureKind, status: int, error: str, message: str, *, wait: int | None = None) -> Fault:
    return fault(kind, status, {"message": message}, wait=wait, x_amzn_ErrorType=f"{error}:http://internal.amazon.com/")


def _forge(callback: Any) -> Any:
    return type(callback)(
        method=callback.method,
        url=callback.url,
        body=callback.body.replace(b"user unknown", b"user  known "),
        received_at=callback.received_at,
    )


CASE = Case(
    id="ses",
    credentials={
        "apiKey": "canary-access-key-id",
        "secretKey": "canary-secret-access-key",
        "region": "eu-west-1",
        "from": "news@example.com",
        "senderName": "Doe, Jörg",
    },
    success=Reply(body={"MessageId": "0100018a-ses"}),
    message_id="0100018a-ses",
    opens="Content.Raw.Data",
    before={"sns.eu-west-1.amazonaws.com": Reply(body=_CERTIFICATE)},
    faults={
        "400": _fault(FailureKind.PERMANENT, 400, "BadRequestException", "The raw message is not valid"),
        "401": _fault(FailureKind.PERMANENT, 401, "UnrecognizedClientException", "The security token is invalid."),
        "403": _fault(FailureKind.PERMANENT, 403, "SignatureDoesNotMatch", "The request signature does not match"),
        "404": _fault(FailureKind.PERMANENT, 404, "NotFoundException", "Configuration set does not exist"),
        "429": _fault(
            FailureKind.RATE_LIMITED, 429, "TooManyRequestsException", "Maximum sending rate exceeded.", wait=2
        ),
        "500": _fault(FailureKind.RETRYABLE, 500, "InternalFailure", "We encountered an internal error"),
        "invalid recipient": _fault(FailureKind.RECIPIENT_INVALID, 400, "BadRequestException", "Illegal address"),
        "quota used up": _fault(
            FailureKind.RATE_LIMITED, 400, "LimitExceededException", "Daily message quota exceeded"
        ),
        "sandbox": _fault(FailureKind.PERMANENT, 400, "MessageRejected", "Email address is not verified."),
    },
    reports=(
        Report(
            body=_signed(Type="Notification", Message=json.dumps(_BOUNCE)),
            forge=_forge,
            expected=[
                {
                    "kind": "bounced",
                    "is_hard": True,
                    "provider_message_id": "0100018a-ses",
                    "message_id": MESSAGE_ID,
                    "recipient": "ada@example.org",
                    "reason": "smtp; 550 5.1.1 user unknown",
                    "event_id": "event-1",
                    "at": NOW + 1000,
                }
            ],
        ),
        Report(
            body=_signed(
                Type="SubscriptionConfirmation",
                Message="You have chosen to subscribe: user unknown",
                SubscribeURL="https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=t",
                Token="t",
            ),
            forge=_forge,
            expected=[],
        ),
    ),
)
