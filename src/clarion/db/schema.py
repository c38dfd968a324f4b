"""Every table: the map of the data.

organizations ─ environments ─ api_keys             idempotency_keys
subscribers ─ subscriber_channels                   topics ─ topic_subscriptions
workflows ─ workflow_versions (immutable)           preferences (what a person switched)
integrations                                        triggers ─ notifications ─ jobs ─ messages

Rules: every table carries `environment_id` and leads its keys with it. Ids are 16 bytes and time-ordered, so
a primary key is also the order of creation. Moments are milliseconds in BIGINT, JSON is text encoded by us (it
keeps the caller's order and numbers). No foreign keys: the hot path writes parents and children in one
transaction, and deletion is spelled out where it happens. What is the same for many is written once: payload and
overrides live in the trigger, step texts in the workflow version.

SQLAlchemy describes the tables for the migrations and their test; it never runs a query.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Computed,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import BYTEA, UUID

metadata = MetaData()

Id = LargeBinary(16).with_variant(UUID(), "postgresql")
Digest = LargeBinary(16).with_variant(BYTEA(), "postgresql")
FULL_NAME = "TRIM(COALESCE(first_name, '') || ' ' || COALESCE(last_name, ''))"


def _id(name: str, *, key: bool = False, optional: bool = False) -> Column[bytes]:
    return Column(name, Id, primary_key=key, nullable=optional)


def _text(name: str, *, optional: bool = False, default: str | None = None) -> Column[str]:
    return Column(name, Text, nullable=optional, server_default=default)


def _moment(name: str, *, optional: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=optional)


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


organizations = Table(
    "organizations",
    metadata,
    _id("id", key=True),
    _text("name"),
    _moment("created_at"),
)

environments = Table(
    "environments",
    metadata,
    _id("id", key=True),
    _id("organization_id"),
    _id("parent_id", optional=True),
    _text("name"),
    _text("kind"),
    Column("identifier", Text, nullable=False, unique=True),
    _moment("created_at"),
    _moment("updated_at"),
    UniqueConstraint("organization_id", "name", name="environments_name"),
)

api_keys = Table(
    "api_keys",
    metadata,
    _id("environment_id", key=True),
    _id("id", key=True),
    Column("hash", LargeBinary(32).with_variant(BYTEA(), "postgresql"), nullable=False, unique=True),
    _text("name"),
    _text("hint"),  # the last four characters, for people to tell keys apart
    _text("scopes"),  # JSON array
    _moment("created_at"),
    _moment("expires_at", optional=True),
    _moment("last_used_at", optional=True),
    _moment("revoked_at", optional=True),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    _id("id", key=True),  # in order of time: rows are appended, and expire from the front
    _id("environment_id"),
    Column("digest", Digest, nullable=False),  # of environment, method, path and key
    Column("fingerprint", Digest, nullable=False),  # of rights, query and body
    Column("status", SmallInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),  # sealed
    Index("idempotency_keys_digest", "digest", unique=True),
    sqlite_with_rowid=False,
)

subscribers = Table(
    "subscribers",
    metadata,
    _id("environment_id", key=True),
    _id("id", key=True),
    _text("key"),
    _text("first_name", optional=True),
    _text("last_name", optional=True),
    _text("email", optional=True),
    _text("phone", optional=True),
    _text("avatar", optional=True),
    _text("locale", optional=True),
    _text("timezone", optional=True),
    _text("data", optional=True),  # JSON object
    _text("schedule", optional=True),  # JSON object: when the person wants to hear from us
    Column("is_online", Boolean, nullable=True),
    _moment("last_online_at", optional=True),
    Column("version", Integer, nullable=False, server_default="0"),
    _moment("created_at"),
    _moment("updated_at"),
    Column("search_row", BigInteger, nullable=False),  # row of SQLite's text index; PostgreSQL has no use for it
    Column("full_name", Text, Computed(FULL_NAME, persisted=True)),
    Index("subscribers_key", "environment_id", "key", unique=True),
    Index("subscribers_updated", "environment_id", "updated_at", "id"),
    Index("subscribers_email", "environment_id", "email"),
    Index("subscribers_search_row", "search_row"),
)

subscriber_channels = Table(
    "subscriber_channels",
    metadata,
    _id("environment_id", key=True),
    _id("subscriber_id", key=True),
    _id("integration_id", key=True),
    _text("provider_id"),
    _text("credentials"),  # JSON object
    _moment("created_at"),
    Index("subscriber_channels_integration", "environment_id", "integration_id"),
    sqlite_with_rowid=False,
)

topics = Table(
    "topics",
    metadata,
    _id("environment_id", key=True),
    _id("id", key=True),
    _text("key"),
    _text("name", optional=True),
    _moment("created_at"),
    _moment("updated_at"),
    Index("topics_key", "environment_id", "key", unique=True),
    Index("topics_updated", "environment_id", "updated_at", "id"),
)

topic_subscriptions = Table(
    "topic_subscriptions",
    metadata,
    _id("environment_id", key=True),
    _id("id", key=True),
    _id("topic_id"),
    _id("subscriber_id"),
    _moment("created_at"),
    Index("topic_subscriptions_member", "environment_id", "topic_id", "subscriber_id", unique=True),
    Index("topic_subscriptions_topic", "environment_id", "topic_id", "id"),
    Index("topic_subscriptions_subscriber", "environment_id", "subscriber_id", "id"),
    sqlite_with_rowid=False,
)

workflows = Table(
    "workflows",
    metadata,
    _id("environment_id", key=True),
    _id("id", key=True),
    _text("key"),
    _text("name"),
    _text("description", optional=True),
    _flag("active"),
    _text("tags"),  # JSON array
    _text("severity"),
    _text("default_preference", optional=True),  # JSON: what the workflow's author set
    _text("user_preference", optional=True),  # JSON: what the team overrode
    _id("version_id"),
    _moment("created_at"),
    _moment("updated_at"),
    _moment("deleted_at", optional=True),
    Index(
        "workflows_key",
        "environment_id",
        "key",
        unique=True,
        sqlite_where=text("deleted_at IS NULL"),
        postgresql_where=text("deleted_at IS NULL"),
    ),
)

workflow_versions = Table(
    "workflow_versions",
    metadata,
    _id("environment_id", key=True),
    _id("id", key=True),
    _id("workflow_id"),
    Column("number", Integer, nullable=False),
    _text("steps"),  # JSON array
    _text("payload_schema", optional=True),  # JSON
    _flag("validate_payload"),
    _moment("created_at"),
    Index("workflow_versions_number", "environment_id", "workflow_id", "number", unique=True),
)

integrations = Table(
    "integrations",
    metadata,
    _id("environment_id", key=True),
    _id("id", key=True),
    _text("provider_id"),
    _text("channel"),
    _text("name"),
    _text("identifier"),
    _text("credentials"),  # sealed JSON object
    _text("conditions"),  # JSON array
    _flag("active"),
    _flag("is_primary"),
    Column("priority", Integer, nullable=False),
    _moment("created_at"),
    _moment("updated_at"),
    _moment("deleted_at", optional=True),
    _id("deleted_by", optional=True),
    Index(
        "integrations_identifier",
        "environment_id",
        "identifier",
        unique=True,
        sqlite_where=text("deleted_at IS NULL"),
        postgresql_where=text("deleted_at IS NULL"),
    ),
    Index(
        "integrations_primary",
        "environment_id",
        "channel",
        unique=True,
        sqlite_where=text("is_primary AND deleted_at IS NULL"),
        postgresql_where=text("is_primary AND deleted_at IS NULL"),
    ),
)

preferences = Table(
    "preferences",
    metadata,
    _id("environment_id", key=True),
    _id("subscriber_id", key=True),
    _id("workflow_id", key=True),  # sixteen zero bytes: the person's global layer
    Column("channel", Text, primary_key=True),
    _flag("enabled"),
    _moment("updated_at"),
    sqlite_with_rowid=False,
)

triggers = Table(
    "triggers",
    metadata,
    _id("environment_id", key=True),
    _id("id", key=True),
    _text("transaction_key"),
    _id("workflow_id"),
    _id("version_id"),
    _text("payload"),  # JSON object
    _text("overrides", optional=True),  # JSON object
    _id("actor_id", optional=True),
    _moment("created_at"),
    Index("triggers_transaction", "environment_id", "transaction_key", unique=True),
)

notifications = Table(
    "notifications",
    metadata,
    _id("environment_id", key=True),
    _id("id", key=True),
    _id("trigger_id"),
    _id("workflow_id"),
    _id("version_id"),
    _id("subscriber_id"),
    Column("step_types", Integer, nullable=False),  # one bit for each step type of the run
    _text("recipient", optional=True),  # JSON: the recipient as the caller wrote it
    _text("topics", optional=True),  # JSON array of {_topicId, topicKey}
    _id("digested_into", optional=True),
    _moment("created_at"),
    _moment("updated_at"),
    Index("notifications_recipient", "environment_id", "trigger_id", "subscriber_id", unique=True),
    Index("notifications_subscriber", "environment_id", "subscriber_id", "id"),
    Index("notifications_workflow", "environment_id", "workflow_id", "id"),
)

jobs = Table(
    "jobs",
    metadata,
    _id("environment_id", key=True),
    _id("id", key=True),
    _id("notification_id"),
    Column("step", SmallInteger, nullable=False),  # position in the workflow version
    _text("type"),
    _text("status"),
    _text("provider_id", optional=True),
    _text("digest", optional=True),  # JSON object
    _text("details"),  # JSON array of execution details
    _moment("due_at", optional=True),
    Column("attempt", Integer, nullable=False, server_default="0"),
    _moment("lease_until", optional=True),
    _moment("created_at"),
    _moment("updated_at"),
    Index("jobs_step", "environment_id", "notification_id", "step", unique=True),
)

messages = Table(
    "messages",
    metadata,
    _id("environment_id", key=True),
    _id("id", key=True),
    _id("notification_id"),
    _id("job_id"),
    _id("trigger_id"),
    _id("workflow_id"),
    _id("step_id"),
    _id("subscriber_id"),
    _text("channel"),
    _text("provider_id", optional=True),
    _text("status"),
    _text("content"),
    _text("subject", optional=True),
    _text("title", optional=True),
    _text("email", optional=True),
    _text("phone", optional=True),
    _text("webhook_url", optional=True),
    _text("device_tokens", optional=True),  # JSON array
    _text("cta", optional=True),  # JSON object
    _text("avatar", optional=True),
    _text("actor", optional=True),  # JSON object
    _text("data", optional=True),  # JSON object
    _text("severity"),
    _flag("seen"),
    _flag("read"),
    _flag("archived"),
    _moment("seen_at", optional=True),
    _moment("read_at", optional=True),
    _moment("archived_at", optional=True),
    _moment("snoozed_until", optional=True),
    _text("delivered_at", optional=True),  # JSON array of moments
    _text("error_id", optional=True),
    _text("error_text", optional=True),
    _moment("created_at"),
    _moment("updated_at"),
    Index("messages_subscriber", "environment_id", "subscriber_id", "channel", "id"),
    Index("messages_trigger", "environment_id", "trigger_id", "id"),
    Index("messages_job", "environment_id", "job_id"),
    Index("messages_channel", "environment_id", "channel", "id"),
)
