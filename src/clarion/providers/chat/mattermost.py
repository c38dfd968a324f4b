"""Mattermost: a post by an incoming webhook."""

from clarion.providers.chat.message import Chat
from clarion.providers.definition.answer import either, header_id, own_id
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.failures import codes, text_matches
from clarion.providers.definition.kinds import ChatProvider
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.request import ProviderRequest, filled


def request(_: Credentials, chat: Chat) -> ProviderRequest:
    return ProviderRequest.json(chat.webhook_url, filled({"text": chat.text, "channel": chat.channel}))


PROVIDER = ChatProvider(
    id="mattermost",
    name="Mattermost",
    credentials=Credentials,
    request=request,
    sent=either(header_id("X-Request-Id"), own_id),
    accepts=text_matches(r"^ok\s*$"),
    failures=(
        codes(
            "id",
            # The webhook or its channel is gone, which is said with a 400 as well.
            recipient_invalid=(
                "web.incoming_webhook.invalid.app_error",
                "web.incoming_webhook.channel.app_error",
                "app.channel.get.existing.app_error",
            ),
            # A switch of the server, and a 501.
            permanent=("web.incoming_webhook.disabled.app_error",),
        ),
    ),
    casing=snake,
    page="https://developers.mattermost.com/integrate/webhooks/incoming/",
)
