"""SendGrid."""

import base64
import json

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, NOW, Case, Report, fault
from tests.providers.contract.vendor import Reply

_KEY = ec.generate_private_key(ec.SECP256R1())
_PUBLIC = base64.b64encode(_KEY.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).decode()
_EVENTS = json.dumps(
    [
        {
            "event": "delivered",
            "email": "ada@example.org",
            "timestamp": 1767225600,
            "sg_event_id": "event-1",
            "sg_message_id": "14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0",
            "clarion_message_id": MESSAGE_ID,
        },
        {
            "event": "bounce",
            "type": "bounce",
            "email": "ada@example.org",
            "timestamp": 1767225601,
            "sg_event_id": "event-2",
            "sg_message_id": "14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0",
            "reason": "550 5.1.1 No such user",
        },
        {"event": "bounce", "type": "blocked", "email": "ada@example.org", "sg_message_id": "14c5d75ce93.x"},
        {"event": "something new"},
    ]
).encode()
_MOMENT = str(NOW // 1000)
_SIGNATURE = base64.b64encode(_KEY.sign(_MOMENT.encode() + _EVENTS, ec.ECDSA(SHA256()))).decode()


def _error(message: str, field: str | None = None) -> dict[str, object]:
    return {"errors": [{"message": message, "field": field, "help": None}]}


CASE = Case(
    id="sendgrid",
    credentials={
        "apiKey": "SG.canary-api-key",
        "from": "news@example.com",
        "senderName": "Doe, Jörg",
        "ipPoolName": "transactional",
        "secretKey": _PUBLIC,
    },
    success=Reply(status=202, headers={"X-Message-Id": "14c5d75ce93"}),
    message_id="14c5d75ce93",
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _error("The subject is required.", "subject")),
        "401": fault(FailureKind.PERMANENT, 401, _error("The provided authorization grant is invalid")),
        "404": fault(FailureKind.PERMANENT, 404, _error("not found")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _error("too many requests"), wait=7),
        "500": fault(FailureKind.RETRYABLE, 500, _error("internal error")),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID,
            400,
            _error("Does not contain a valid address.", "personalizations.0.to.0.email"),
        ),
    },
    reports=(
        Report(
            body=_EVENTS,
            headers={
                "x-twilio-email-event-webhook-timestamp": _MOMENT,
                "x-twilio-email-event-webhook-signature": _SIGNATURE,
            },
            expected=[
                {
                    "kind": "delivered",
                    "provider_message_id": "14c5d75ce93",
                    "message_id": MESSAGE_ID,
                    "recipient": "ada@example.org",
                    "at": NOW,
                    "event_id": "event-1",
                },
                {"kind": "bounced", "is_hard": True, "reason": "550 5.1.1 No such user", "at": NOW + 1000},
                {"kind": "bounced", "is_hard": False, "provider_message_id": "14c5d75ce93"},
            ],
        ),
    ),
)
