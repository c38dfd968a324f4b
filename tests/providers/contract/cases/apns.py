"""Apple Push Notification service."""

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, Fault, fault
from tests.providers.contract.vendor import Reply

KEY = ec.generate_private_key(ec.SECP256R1())
_PEM = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
_ID = "eabeae54-14a8-11e5-b60b-1697f925ec7b"


def _refusal(kind: FailureKind, status: int, reason: str) -> Fault:
    return fault(kind, status, {"reason": reason}, apns_id=_ID)


CASE = Case(
    id="apns",
    credentials={
        "secretKey": _PEM,
        "apiKey": "canary-key-id",
        "projectName": "TEAM123456",
        "applicationId": "com.canary.app",
        "secure": True,
    },
    outgoing={
        "device_tokens": ("device-canary-one",),
        "overrides": {
            "badge": 3,
            "sound": "ping.wav",
            "image": "https://example.com/7.png",
            "subtitle": "Two parcels",
            "threadId": "orders",
            "contentAvailable": True,
            "priority": 5,
            "payload": {"orderPart": 2},
        },
    },
    success=Reply(headers={"apns-id": _ID}),
    message_id=_ID,
    masks={r"eyJ[\w.-]+": "<signed token>"},
    faults={
        "400": _refusal(FailureKind.PERMANENT, 400, "BadCollapseId"),
        "401": _refusal(FailureKind.PERMANENT, 403, "InvalidProviderToken"),
        "404": _refusal(FailureKind.PERMANENT, 404, "BadPath"),
        "429": fault(FailureKind.RATE_LIMITED, 429, {"reason": "TooManyRequests"}, wait=10),
        "500": _refusal(FailureKind.RETRYABLE, 500, "InternalServerError"),
        "503": _refusal(FailureKind.RETRYABLE, 503, "Shutdown"),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 410, {"reason": "Unregistered", "timestamp": 1_767_225_000_000}
        ),
        "a token of the other server": _refusal(FailureKind.RECIPIENT_INVALID, 400, "BadDeviceToken"),
        "a token that ran out": _refusal(FailureKind.RECIPIENT_INVALID, 410, "ExpiredToken"),
        "a token of another app": _refusal(FailureKind.PERMANENT, 400, "DeviceTokenNotForTopic"),
        "too large": _refusal(FailureKind.PERMANENT, 413, "PayloadTooLarge"),
        "a connection that idled": _refusal(FailureKind.RETRYABLE, 400, "IdleTimeout"),
        "a signed token that ran out": _refusal(FailureKind.RETRYABLE, 403, "ExpiredProviderToken"),
    },
)
