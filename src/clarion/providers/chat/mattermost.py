"""Mattermost: a post through an incoming webhook."""

from clarion.providers.chat.message import Chat
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.overrides import snake
from clarion.providers.definition.provider import ChatProvider
from clarion.providers.definition.request import ProviderRequest, drop_empty
from clarion.providers.definition.result import codes, either, header_id, own_id, text_matches


def request(_: Credentials, chat: Chat) -> ProviderRequest:
    return ProviderRequest.json(chat.webhook_url, drop_empty({"text": chat.text, "channel": chat.channel}))


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
            # The webhook or its channel no longer exists; the status may be 400.
            recipient_invalid=(
                "web.incoming_webhook.invalid.app_error",
                "web.incoming_webhook.channel.app_error",
                "app.channel.get.existing.app_error",
            ),
            # Webhooks are disabled on the server; the status is 501, which would be retryable.
            permanent=("web.incoming_webhook.disabled.app_error",),
        ),
    ),
    casing=snake,
    documentation="https://developers.mattermost.com/integrate/webhooks/incoming/",
)
