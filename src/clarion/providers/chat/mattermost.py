"""Mattermost: a post by an incoming webhook."""

from clarion.providers.account import Credentials
from clarion.providers.answer import either, header_id, own_id
from clarion.providers.chat.message import Chat
from clarion.providers.definition import ChatProvider
from clarion.providers.failures import codes, text_matches
from clarion.providers.overrides import snake
from clarion.providers.request import ProviderRequest, filled


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
