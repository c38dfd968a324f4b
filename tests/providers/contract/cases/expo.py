"""Expo Push."""

from typing import Any

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply

_TICKET = "c1a9d6f2-5f0e-4f5e-9d53-0d1c0a5e7b11"


def _refusal(code: str, message: str) -> dict[str, Any]:
    return {"errors": [{"code": code, "message": message, "isTransient": False}]}


def _ticket(error: str, message: str) -> dict[str, Any]:
    return {"data": {"status": "error", "message": message, "details": {"error": error}}}


CASE = Case(
    id="expo",
    credentials={"apiKey": "canary-access-token"},
    outgoing={
        "device_tokens": ("ExponentPushToken[device-canary-one]",),
        "overrides": {
            "badge": 3,
            "sound": "default",
            "image": "https://example.com/7.png",
            "channelId": "orders",
            "ttl": 60,
        },
    },
    success=Reply(body={"data": {"status": "ok", "id": _TICKET}}),
    message_id=_TICKET,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, _refusal("VALIDATION_ERROR", '"ttl" must be a number.')),
        "401": fault(FailureKind.PERMANENT, 401, _refusal("UNAUTHORIZED", "The bearer token is invalid.")),
        "404": fault(FailureKind.PERMANENT, 404, _refusal("NOT_FOUND", "Not Found")),
        "429": fault(FailureKind.RATE_LIMITED, 429, _refusal("TOO_MANY_REQUESTS", "Too many requests"), wait=5),
        "500": fault(FailureKind.RETRYABLE, 500, _refusal("INTERNAL_SERVER_ERROR", "An unknown error occurred.")),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID,
            200,
            _ticket("DeviceNotRegistered", "The device is not a registered push notification recipient"),
        ),
        "a token that is none": fault(
            FailureKind.RECIPIENT_INVALID,
            400,
            _refusal("VALIDATION_ERROR", '"to" is not a valid Expo push token'),
        ),
        "a ticket for a token that is none": fault(
            FailureKind.RECIPIENT_INVALID,
            200,
            {"data": {"status": "error", "message": '"to" is not a valid Expo push token'}},
        ),
        "credentials of Apple are missing": fault(
            FailureKind.PERMANENT, 200, _ticket("InvalidCredentials", "No credentials for this app")
        ),
        "too large with a 200": fault(FailureKind.PERMANENT, 200, _ticket("MessageTooBig", "Too big")),
        "too many for one device with a 200": fault(
            FailureKind.RATE_LIMITED, 200, _ticket("MessageRateExceeded", "Slow down")
        ),
        "a fault of Expo with a 200": fault(FailureKind.RETRYABLE, 200, _ticket("ExpoError", "Try again")),
    },
)
