"""Firebase Cloud Messaging."""

import json
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply
from tests.rsa_keys import rsa_key

KEY = rsa_key(1_024)
_PEM = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
_ACCOUNT = {
    "type": "service_account",
    "project_id": "acme-app",
    "private_key_id": "canary-key-id",
    "private_key": _PEM,
    "client_email": "clarion@acme-app.iam.gserviceaccount.com",
    "token_uri": "https://oauth2.googleapis.com/token",
}


def _error(code: int, status: str, message: str, *details: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


def _code(error: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": error}


def _field(name: str) -> dict[str, Any]:
    violation = {"field": name, "description": "Invalid value"}
    return {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]}


CASE = Case(
    id="fcm",
    credentials={"serviceAccount": json.dumps(_ACCOUNT)},
    before={
        "oauth2.googleapis.com": Reply(
            body={"access_token": "ya29.canary-access-token", "expires_in": 3599, "token_type": "Bearer"}
        )
    },
    success=Reply(body={"name": "projects/acme-app/messages/0:1500415314455276%31bd1c96"}),
    message_id="projects/acme-app/messages/0:1500415314455276%31bd1c96",
    masks={r"eyJ[\w.-]+": "<signed token>"},
    outgoing={
        "device_tokens": ("device-canary-one",),
        "overrides": {
            "badge": 3,
            "sound": "ping.wav",
            "imageUrl": "https://example.com/7.png",
            "color": "#ff0000",
            "collapseId": "order-7",
            "android": {
                "ttl": 60_000,
                "notification": {"channelId": "orders", "imageUrl": "https://example.com/a.png"},
            },
            "apns": {
                "headers": {"apns-priority": 5},
                "payload": {"aps": {"contentAvailable": True, "threadId": "orders"}, "orderId": 7},
            },
            "webPush": {"fcmOptions": {"link": "https://example.com/7"}, "notification": {"requireInteraction": True}},
            "fcmOptions": {"analyticsLabel": "orders"},
        },
    },
    faults={
        "400": fault(
            FailureKind.PERMANENT,
            400,
            _error(400, "INVALID_ARGUMENT", "Invalid value at 'message.android.ttl'", _field("message.android.ttl")),
        ),
        "401": fault(
            FailureKind.PERMANENT,
            401,
            _error(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
        ),
        "404": fault(FailureKind.PERMANENT, 404, _error(404, "NOT_FOUND", "Requested project was not found.")),
        "429": fault(
            FailureKind.RATE_LIMITED,
            429,
            _error(429, "RESOURCE_EXHAUSTED", "Quota exceeded", _code("QUOTA_EXCEEDED")),
            wait=60,
        ),
        "500": fault(FailureKind.RETRYABLE, 500, _error(500, "INTERNAL", "Internal error", _code("INTERNAL"))),
        "503": fault(FailureKind.RETRYABLE, 503, _error(503, "UNAVAILABLE", "Overloaded", _code("UNAVAILABLE"))),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID,
            404,
            _error(404, "NOT_FOUND", "Requested entity was not found.", _code("UNREGISTERED")),
        ),
        "a token that is none": fault(
            FailureKind.RECIPIENT_INVALID,
            400,
            _error(
                400,
                "INVALID_ARGUMENT",
                "The registration token is not a valid FCM registration token",
                _code("INVALID_ARGUMENT"),
            ),
        ),
        "a token of another sender": fault(
            FailureKind.RECIPIENT_INVALID,
            403,
            _error(403, "PERMISSION_DENIED", "SenderId mismatch", _code("SENDER_ID_MISMATCH")),
        ),
    },
)
