"""Opsgenie: an alert of an API integration."""

from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.provider import ToolProvider
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import FailureKind, error_text, json_id, statuses
from clarion.providers.tool.message import Alert

_HOSTS = {"us": "api.opsgenie.com", "eu": "api.eu.opsgenie.com"}
_MAX_MESSAGE = 130
_MAX_DESCRIPTION = 15_000


def request(_: Credentials, alert: Alert) -> ProviderRequest:
    host = _HOSTS.get(str(alert.entry.get("region")), _HOSTS["us"])
    body = {
        "message": alert.make_title(_MAX_MESSAGE),
        # Open alerts with the same alias are one, so that a repeated send does not page anybody twice.
        "alias": alert.message_id,
        "description": alert.text[:_MAX_DESCRIPTION],
    }
    auth = {"Authorization": f"GenieKey {alert.read_secret('apiKey').reveal()}"}
    return ProviderRequest.json(f"https://{host}/v2/alerts", body, auth=auth)


PROVIDER = ToolProvider(
    id="opsgenie",
    name="Opsgenie",
    credentials=Credentials,
    request=request,
    sent=json_id("requestId"),
    failures=(
        error_text(r"key format is not valid", FailureKind.RECIPIENT_INVALID, status=422),
        statuses(recipient_invalid=(401, 403)),
    ),
    documentation="https://docs.opsgenie.com/docs/alert-api#create-alert",
    idempotency="`alias`, unless an override has another",
    note="Goes to endpoints of the type `opsgenie_integration`; overrides are fields of the alert, such as "
    '`{"priority": "P1"}`.',
)
