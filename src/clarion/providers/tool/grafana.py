"""Grafana OnCall: an alert to the URL of an integration of the type Formatted Webhook, for channel endpoints."""

from clarion.providers.chat.grafana_on_call import ACCEPTS, UNKNOWN_KEY
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import ToolProvider
from clarion.providers.definition.request import ProviderRequest, bearer
from clarion.providers.definition.result import own_id, statuses
from clarion.providers.tool.message import Alert

_MAX_TITLE = 255


def request(_: Credentials, alert: Alert) -> ProviderRequest:
    body = {
        # Alerts with the same uid are grouped, so that a repeated send does not page anybody twice.
        "alert_uid": alert.message_id,
        "title": alert.make_title(_MAX_TITLE),
        "state": "alerting",
        "message": alert.text,
    }
    auth = bearer(alert.read_secret("authToken")) if alert.entry.get("authToken") else {}
    return ProviderRequest.json(alert.webhook_url, body, auth=auth)


PROVIDER = ToolProvider(
    id="grafana",
    name="Grafana OnCall",
    credentials=Credentials,
    request=request,
    sent=own_id,
    accepts=ACCEPTS,
    failures=(UNKNOWN_KEY, statuses(recipient_invalid=(401,))),
    casing=snake,
    documentation="https://grafana.com/docs/oncall/latest/integrations/webhook/",
    idempotency="`alert_uid`, unless an override has another",
    note="Goes to endpoints of the type `grafana_oncall_integration`.",
)
