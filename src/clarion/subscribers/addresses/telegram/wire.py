"""Shapes of the operations of links and bots."""

from typing import Annotated

from msgspec import Meta, UnsetType

from clarion.contexts.wire import ContextsIn
from clarion.http.wire import DateTimeText, SubscriberKeyText, Wire

_Text = Annotated[str, Meta(min_length=1, max_length=512)]


class ChatLinkIn(Wire):
    subscriber_id: SubscriberKeyText
    """The person whose chat is connected; created if there is none."""
    integration_identifier: _Text
    context: ContextsIn | None = None
    context_hash: str | None = None
    """The hexadecimal HMAC-SHA256 of the context, as for sessions of the inbox."""


class ChatLinkMetadata(Wire):
    bot_username: str
    """The name of the bot that the link opens."""
    expires_at: DateTimeText
    """When the link stops working."""


class ChatLinkOut(Wire):
    url: str
    """What the person opens, once: the bot, or the page of Slack."""
    provider_metadata: ChatLinkMetadata | UnsetType
    """Of links to a bot."""


class MobileLinkIn(Wire):
    subscriber_id: SubscriberKeyText | None = None
    """A person for whom the page shows a link to the bot, when that is connected; needs `subscribers:write`."""


class MobileLinkOut(Wire):
    token: str
    """What the page knows the integration by; of one use."""
    url: str
    """The page to open on a phone."""
    expires_at: DateTimeText
    """When the page stops working."""


class TelegramWebhookOut(Wire):
    webhook_url: str
    """Where Telegram reports what people write to the bot."""
    configured_at: DateTimeText
    """When it was set."""
    bot_username: str
    """The name of the bot."""


class SetupQuery(Wire):
    token: str = ""
    """What the link was given."""
