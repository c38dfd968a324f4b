"""Grafana OnCall: an alert to an integration of the kind Formatted Webhook."""

from clarion.providers.chat.message import Chat
from clarion.providers.definition.answer import own_id
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.failures import text_matches, words
from clarion.providers.definition.kinds import ChatProvider
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.request import ProviderRequest, filled
from clarion.providers.definition.result import FailureKind


class GrafanaOnCallCredentials(Credentials):
    """What alerts say where the subscriber does not say otherwise."""

    alert_uid: str = ""
    title: str = ""
    image_url: str = ""
    state: str = ""
    external_link: str = ""


def request(account: GrafanaOnCallCredentials, chat: Chat) -> ProviderRequest:
    own = chat.entry.get
    body = {
        # Alerts of the same uid are one group, so that a second try does not wake anybody again.
        "alert_uid": own("alertUid") or account.alert_uid or chat.message_id,
        "title": own("title") or account.title,
        "image_url": own("imageUrl") or account.image_url,
        "state": own("state") or account.state,
        "link_to_upstream_details": own("externalUrl") or account.external_link,
        "message": chat.text,
    }
    return ProviderRequest.json(chat.webhook_url, filled(body))


PROVIDER = ChatProvider(
    id="grafana-on-call",
    name="Grafana OnCall",
    credentials=GrafanaOnCallCredentials,
    request=request,
    sent=own_id,
    accepts=text_matches(r'^"?Ok\.?"?\s*$'),
    failures=(words(r"integration key was not found", FailureKind.RECIPIENT_INVALID, status=403),),
    casing=snake,
    page="https://grafana.com/docs/oncall/latest/integrations/webhook/",
    idempotency="`alert_uid`, unless an alert has its own",
)
