"""OneSignal."""

from clarion.providers.definition.result import FailureKind
from tests.providers.contract.case import Case, fault
from tests.providers.contract.vendor import Reply

FIRST = "1dd608f2-c6a1-11e3-851d-000c2940e62c"
SECOND = "2ee719a3-d7b2-22f4-962e-111d3a51f73d"
_ID = "b98881cc-1e94-4366-bbd9-db8f3429292b"

CASE = Case(
    id="one-signal",
    credentials={"applicationId": "canary-application-id", "apiKey": "os_v2_app_canary", "apiVersion": "playerModel"},
    outgoing={
        "device_tokens": (FIRST, SECOND),
        "overrides": {
            "badge": 3,
            "sound": "ping.wav",
            "image": "https://example.com/7.png",
            "subtitle": "Two parcels",
            "icon": "https://example.com/icon.png",
            "channelId": "orders",
            "mutableContent": True,
            "ios_interruption_level": "active",
            "isAnyWeb": False,
        },
    },
    success=Reply(body={"id": _ID, "external_id": None}),
    message_id=_ID,
    faults={
        "400": fault(FailureKind.PERMANENT, 400, {"errors": ["Message Notifications must have English content"]}),
        "401": fault(FailureKind.PERMANENT, 403, {"errors": ["Access denied.  Please include a valid API key"]}),
        "404": fault(FailureKind.PERMANENT, 404, {"errors": ["Not found"]}),
        "429": fault(FailureKind.RATE_LIMITED, 429, {"errors": ["API rate limit exceeded"]}, wait=60),
        "500": fault(FailureKind.RETRYABLE, 500, "Internal Server Error"),
        "503": fault(FailureKind.RETRYABLE, 503, {"errors": ["Service temporarily unavailable"]}),
        "a plan that is used up": fault(FailureKind.PERMANENT, 422, {"errors": [{"code": "plan", "title": "Limit"}]}),
        "invalid recipient": fault(
            FailureKind.RECIPIENT_INVALID, 200, {"id": "", "errors": ["All included players are not subscribed"]}
        ),
        "ids that nobody has": fault(
            FailureKind.RECIPIENT_INVALID, 200, {"id": "", "errors": {"invalid_player_ids": [FIRST, SECOND]}}
        ),
    },
)
