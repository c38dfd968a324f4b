"""People and what they have: subscribers, channels, topics, preferences."""

from sqlalchemy import BigInteger, Boolean, Column, Computed, Index, Integer, Table, Text, text

from clarion.db.schema.columns import FULL_NAME, flag, id_, metadata, moment, text_

subscribers = Table(
    "subscribers",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    text_("key"),
    text_("first_name", optional=True),
    text_("last_name", optional=True),
    text_("email", optional=True),
    text_("phone", optional=True),
    text_("avatar", optional=True),
    text_("locale", optional=True),
    text_("timezone", optional=True),
    text_("data", optional=True),  # JSON object
    text_("schedule", optional=True),  # JSON object: when the person wants to hear from us
    Column("is_online", Boolean, nullable=True),
    moment("last_online_at", optional=True),
    Column("version", Integer, nullable=False, server_default="0"),
    moment("created_at"),
    moment("updated_at"),
    Column("search_row", BigInteger, nullable=False),  # row of SQLite's text index; PostgreSQL has no use for it
    Column("full_name", Text, Computed(FULL_NAME, persisted=True)),
    # Created by a session without proof, and not changed by the application since.
    Column("is_unproven", Boolean, nullable=False, server_default=text("FALSE")),
    Index("subscribers_key", "environment_id", "key", unique=True),
    Index("subscribers_updated", "environment_id", "updated_at", "id"),
    Index("subscribers_email", "environment_id", "email"),
    Index(
        "subscribers_phone",
        "environment_id",
        "phone",
        sqlite_where=text("phone IS NOT NULL"),
        postgresql_where=text("phone IS NOT NULL"),
    ),
    Index(
        "subscribers_timezone",
        "environment_id",
        "timezone",
        "id",
        sqlite_where=text("timezone IS NOT NULL"),
        postgresql_where=text("timezone IS NOT NULL"),
    ),
    Index("subscribers_search_row", "search_row"),
    Index(
        "subscribers_unproven",
        "environment_id",
        sqlite_where=text("is_unproven"),
        postgresql_where=text("is_unproven"),
    ),
)

subscriber_channels = Table(
    "subscriber_channels",
    metadata,
    id_("environment_id", key=True),
    id_("subscriber_id", key=True),
    id_("integration_id", key=True),
    text_("provider_id"),
    text_("credentials"),  # JSON object
    moment("created_at"),
    Index("subscriber_channels_integration", "environment_id", "integration_id"),
    sqlite_with_rowid=False,
)

segments = Table(
    "segments",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    text_("key"),
    text_("name"),
    text_("description", optional=True),
    text_("condition"),  # JSON-logic over a subscriber
    moment("created_at"),
    moment("updated_at"),
    Index("segments_key", "environment_id", "key", unique=True),
    Index("segments_updated", "environment_id", "updated_at", "id"),
)

topics = Table(
    "topics",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    text_("key"),
    text_("name", optional=True),
    moment("created_at"),
    moment("updated_at"),
    Column("is_open", Boolean, nullable=False, server_default=text("FALSE")),  # whether people may join themselves
    id_("creator_id", optional=True),  # the person who made it by subscribing; NULL: the application
    Index("topics_key", "environment_id", "key", unique=True),
    Index("topics_updated", "environment_id", "updated_at", "id"),
    Index(
        "topics_creator",
        "environment_id",
        "creator_id",
        sqlite_where=text("creator_id IS NOT NULL"),
        postgresql_where=text("creator_id IS NOT NULL"),
    ),
)

topic_subscriptions = Table(
    "topic_subscriptions",
    metadata,
    id_("environment_id", key=True),
    id_("id", key=True),
    id_("topic_id"),
    id_("subscriber_id"),
    text_("identifier", default=""),  # chosen by the caller; empty: derived from the topic and the subscriber
    text_("name", optional=True),
    text_("preferences", optional=True),  # JSON array: which workflows, and under which conditions
    text_("context_keys", optional=True),  # JSON array of "type:id", sorted; NULL: messages of any context
    moment("created_at"),
    moment("updated_at", optional=True),
    Index("topic_subscriptions_member", "environment_id", "topic_id", "subscriber_id", "identifier", unique=True),
    Index(
        "topic_subscriptions_rules",
        "environment_id",
        "topic_id",
        "subscriber_id",
        sqlite_where=text("preferences IS NOT NULL"),
        postgresql_where=text("preferences IS NOT NULL"),
    ),
    Index(
        "topic_subscriptions_identifier",
        "environment_id",
        "topic_id",
        "identifier",
        sqlite_where=text("identifier <> ''"),
        postgresql_where=text("identifier <> ''"),
    ),
    Index("topic_subscriptions_topic", "environment_id", "topic_id", "id"),
    Index("topic_subscriptions_subscriber", "environment_id", "subscriber_id", "id"),
    sqlite_with_rowid=False,
)

preferences = Table(
    "preferences",
    metadata,
    id_("environment_id", key=True),
    id_("subscriber_id", key=True),
    id_("workflow_id", key=True),  # sixteen zero bytes: the person's global layer
    Column("channel", Text, primary_key=True),
    flag("enabled"),
    moment("updated_at"),
    text_("reason", optional=True),  # what changed it, if not the person's settings: preferences.model.ChangeReason
    sqlite_with_rowid=False,
)

context_preferences = Table(
    "context_preferences",  # what holds in exactly some contexts alone
    metadata,
    id_("environment_id", key=True),
    id_("subscriber_id", key=True),
    text_("context_keys", key=True),  # JSON array of "type:id", sorted
    id_("workflow_id", key=True),  # as in preferences
    text_("channel", key=True),
    flag("enabled"),
    moment("updated_at"),
    text_("reason", optional=True),
    sqlite_with_rowid=False,
)

online_people = Table(
    "online_people",  # who has sockets open, and in which process
    metadata,
    id_("environment_id", key=True),
    id_("subscriber_id", key=True),
    id_("host_id", key=True),
    Index("online_people_host", "host_id"),
    sqlite_with_rowid=False,
)

erasures = Table(
    "erasures",  # of people with a long history, while they are under way
    metadata,
    id_("environment_id", key=True),
    id_("subscriber_id", key=True),
    text_("author"),  # JSON object: who asked for it
    moment("requested_at"),
    sqlite_with_rowid=False,
)

socket_hosts = Table(
    "socket_hosts",  # processes that serve sockets
    metadata,
    id_("id", key=True),
    text_("environment_ids"),  # JSON array: the environments that somebody is connected to
    moment("seen_at"),  # the last heartbeat
)
