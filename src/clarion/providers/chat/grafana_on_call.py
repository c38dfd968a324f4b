"""Grafana OnCall: an alert to an integration of the type Formatted Webhook."""

from clarion.providers.chat.message import Chat
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import ChatProvider
from clarion.providers.definition.request import ProviderRequest, drop_empty
from clarion.providers.definition.result import FailureKind, error_text, own_id, text_matches


class GrafanaOnCallCredentials(Credentials):
    """Default values of alerts, which the subscriber's credentials can override."""

    alert_uid: str = ""
    title: str = ""
    image_url: str = ""
    state: str = ""
    external_link: str = ""


def request(account: GrafanaOnCallCredentials, chat: Chat) -> ProviderRequest:
    entry = chat.entry.get
    body = {
        # Alerts with the same uid are grouped, so that a repeated send does not page anybody twice.
        "alert_uid": entry("alertUid") or account.alert_uid or chat.message_id,
        "title": entry("title") or account.title,
        "image_url": entry("imageUrl") or account.image_url,
        "state": entry("state") or account.state,
        "link_to_upstream_details": entry("externalUrl") or account.external_link,
        "message": chat.text,
    }
    return ProviderRequest.json(chat.webhook_url, drop_empty(body))


ACCEPTS = text_matches(r'^"?Ok\.?"?\s*$')
UNKNOWN_KEY = error_text(r"integration key was not found", FailureKind.RECIPIENT_INVALID, status=403)

PROVIDER = ChatProvider(
    id="grafana-on-call",
    name="Grafana OnCall",
    credentials=GrafanaOnCallCredentials,
    request=request,
    sent=own_id,
    accepts=ACCEPTS,
    failures=(UNKNOWN_KEY,),
    casing=snake,
    documentation="https://grafana.com/docs/oncall/latest/integrations/webhook/",
    idempotency="`alert_uid`, unless an alert has its own",
)
