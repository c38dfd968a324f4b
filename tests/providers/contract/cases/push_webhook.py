"""Push Webhook."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import MESSAGE_ID, Case, fault
from tests.providers.contract.vendor import Reply

CASE = Case(
    id="push-webhook",
    credentials={"webhookUrl": "https://hooks.example.org/push/canary-path", "secretKey": "canary-secret-key"},
    outgoing={
        "device_tokens": ("device-canary-one",),
        "context": {"transactionId": "txn-1", "payload": {"orderId": 7, "subscriber": {"subscriberId": "ada"}}},
        "overrides": {"badge": 3, "sound": "ping.wav", "image": "https://example.com/7.png", "color": "#ff0000"},
    },
    success=Reply(status=202, body="thanks"),
    message_id=MESSAGE_ID,
    any_body_is_success=True,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, {"message": "no title"}),
        "401": fault(FailureKind.PERMANENT, 401, "Unauthorized"),
        "404": fault(FailureKind.PERMANENT, 404, "Not Found"),
        "429": fault(FailureKind.RATE_LIMITED, 429, "Slow down", wait=7),
        "500": fault(FailureKind.RETRYABLE, 500, "Oops"),
        "408": fault(FailureKind.RETRYABLE, 408, ""),
        "invalid recipient": fault(FailureKind.RECIPIENT_INVALID, 410, "Gone"),
    },
)
