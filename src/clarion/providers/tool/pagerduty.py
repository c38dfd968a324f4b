"""PagerDuty: an event that triggers an incident of a service (Events API v2)."""

from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import ToolProvider
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import FailureKind, error_text, json_id, statuses
from clarion.providers.tool.message import KNOWN, Alert

_HOSTS = {"us": "events.pagerduty.com", "eu": "events.eu.pagerduty.com"}
_MAX_SUMMARY = 1024
_KEYS = frozenset({"routingKey", "routing_key"})


def request(_: Credentials, alert: Alert) -> ProviderRequest:
    host = _HOSTS.get(str(alert.entry.get("region")), _HOSTS["us"])
    body = {
        "routing_key": alert.read_secret("routingKey").reveal(),
        "event_action": "trigger",
        # Events with the same key are one incident, so that a repeated send does not page anybody twice.
        "dedup_key": alert.message_id,
        "payload": {
            "summary": alert.make_title(_MAX_SUMMARY),
            "source": "clarion",
            "severity": "error",
            "custom_details": {"text": alert.text},
        },
    }
    return ProviderRequest.json(f"https://{host}/v2/enqueue", body)


PROVIDER = ToolProvider(
    id="pagerduty",
    name="PagerDuty",
    credentials=Credentials,
    request=request,
    sent=json_id("dedup_key"),
    failures=(
        error_text(r"routing_key|routing key|invalid key", FailureKind.RECIPIENT_INVALID, status=400),
        statuses(recipient_invalid=(401, 403)),
    ),
    casing=snake,
    known=KNOWN | _KEYS,
    without=_KEYS,
    documentation="https://developer.pagerduty.com/docs/send-alert-event",
    idempotency="`dedup_key`, unless an override has another",
    note="Goes to endpoints of the type `pagerduty_service`; overrides are merged into the event, such as "
    '`{"payload": {"severity": "critical"}}`.',
)
