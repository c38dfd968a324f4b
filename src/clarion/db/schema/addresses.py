"""Where people are reached in chats: workspaces that were connected, and addresses in them."""

from sqlalchemy import Column, Index, Table

from clarion.db.schema.columns import Digest, flag, id_, metadata, moment, text_

channel_connections = Table(
    "channel_connections",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    text_("identifier"),
    id_("integration_id"),
    id_("subscriber_id", optional=True),  # NULL: shared by those of its contexts
    text_("context_keys"),  # JSON array of "type:id", sorted
    text_("workspace"),  # JSON object
    text_("auth"),  # sealed JSON object
    text_("trouble", optional=True),  # JSON object: why the token could not be renewed
    moment("renewing_until", optional=True),  # until then one process alone renews the token
    moment("created_at"),
    moment("updated_at"),
    Index("channel_connections_identifier", "environment_id", "identifier", unique=True),
    Index("channel_connections_integration", "environment_id", "integration_id", "subscriber_id"),
    Index("channel_connections_subscriber", "environment_id", "subscriber_id"),
)

channel_endpoints = Table(
    "channel_endpoints",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    text_("identifier"),
    id_("integration_id"),
    id_("connection_id", optional=True),
    id_("subscriber_id"),
    text_("context_keys"),  # JSON array of "type:id", sorted
    text_("type"),
    text_("endpoint"),  # sealed JSON object
    moment("created_at"),
    moment("updated_at"),
    Index("channel_endpoints_identifier", "environment_id", "identifier", unique=True),
    Index("channel_endpoints_subscriber", "environment_id", "subscriber_id", "integration_id"),
    Index("channel_endpoints_connection", "environment_id", "connection_id"),
    Index("channel_endpoints_integration", "environment_id", "integration_id"),
)

spent_oauth_states = Table(
    "spent_oauth_states",  # answers of vendors that came once, until they would be too old anyway
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    moment("expires_at"),
    Index("spent_oauth_states_expires", "environment_id", "expires_at"),
)

telegram_webhooks = Table(
    "telegram_webhooks",  # where Telegram reports what people write to a bot
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),  # of the integration
    text_("bot_id"),
    text_("bot_username"),
    text_("secret"),  # sealed; Telegram sends it with each report
    moment("configured_at"),
)

chat_links = Table(
    "chat_links",  # codes that were given out, until they are used or too old
    metadata,
    id_("environment_id", key=True),
    Column("digest", Digest, primary_key=True),  # of the code
    text_("purpose"),
    id_("integration_id"),
    id_("subscriber_id", optional=True),
    text_("context_keys"),  # JSON array of "type:id", sorted
    flag("replaces"),
    moment("expires_at"),
    Index("chat_links_expires", "environment_id", "expires_at"),
    Index("chat_links_integration", "environment_id", "integration_id", "subscriber_id"),
    Index("chat_links_subscriber", "environment_id", "subscriber_id"),
)
