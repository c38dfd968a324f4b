"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

ID = sa.LargeBinary(length=16).with_variant(sa.UUID(), "postgresql")
DIGEST = sa.LargeBinary(length=16)


def upgrade() -> None:
    op.create_table(
        "api_keys",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hint", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("environment_id", "id"),
        sa.UniqueConstraint("hash"),
    )
    op.create_table(
        "environments",
        sa.Column("id", ID, nullable=False),
        sa.Column("organization_id", ID, nullable=False),
        sa.Column("parent_id", ID, nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("identifier", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("identifier"),
        sa.UniqueConstraint("organization_id", "name", name="environments_name"),
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("id", ID, nullable=False),
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("fingerprint", DIGEST, nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_with_rowid=False,
    )
    op.create_index("idempotency_keys_digest", "idempotency_keys", ["digest"], unique=True)
    op.create_table(
        "integrations",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("provider_id", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("identifier", sa.Text(), nullable=False),
        sa.Column("credentials", sa.Text(), nullable=False),
        sa.Column("conditions", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("is_primary", sa.Boolean(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.Column("deleted_by", ID, nullable=True),
        sa.PrimaryKeyConstraint("environment_id", "id"),
    )
    op.create_index(
        "integrations_identifier",
        "integrations",
        ["environment_id", "identifier"],
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_index(
        "integrations_primary",
        "integrations",
        ["environment_id", "channel"],
        unique=True,
        sqlite_where=sa.text("is_primary AND deleted_at IS NULL"),
        postgresql_where=sa.text("is_primary AND deleted_at IS NULL"),
    )
    op.create_table(
        "jobs",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("notification_id", ID, nullable=False),
        sa.Column("step", sa.SmallInteger(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("provider_id", sa.Text(), nullable=True),
        sa.Column("digest", sa.Text(), nullable=True),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("attempt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id"),
    )
    op.create_index("jobs_step", "jobs", ["environment_id", "notification_id", "step"], unique=True)
    op.create_table(
        "messages",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("notification_id", ID, nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("trigger_id", ID, nullable=False),
        sa.Column("workflow_id", ID, nullable=False),
        sa.Column("step_id", ID, nullable=False),
        sa.Column("subscriber_id", ID, nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("provider_id", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("email", sa.Text(), nullable=True),
        sa.Column("phone", sa.Text(), nullable=True),
        sa.Column("webhook_url", sa.Text(), nullable=True),
        sa.Column("device_tokens", sa.Text(), nullable=True),
        sa.Column("cta", sa.Text(), nullable=True),
        sa.Column("avatar", sa.Text(), nullable=True),
        sa.Column("actor", sa.Text(), nullable=True),
        sa.Column("data", sa.Text(), nullable=True),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("seen", sa.Boolean(), nullable=False),
        sa.Column("read", sa.Boolean(), nullable=False),
        sa.Column("archived", sa.Boolean(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=True),
        sa.Column("read_at", sa.BigInteger(), nullable=True),
        sa.Column("archived_at", sa.BigInteger(), nullable=True),
        sa.Column("snoozed_until", sa.BigInteger(), nullable=True),
        sa.Column("delivered_at", sa.Text(), nullable=True),
        sa.Column("error_id", sa.Text(), nullable=True),
        sa.Column("error_text", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id"),
    )
    op.create_index("messages_channel", "messages", ["environment_id", "channel", "id"], unique=False)
    op.create_index("messages_job", "messages", ["environment_id", "job_id"], unique=False)
    op.create_index(
        "messages_subscriber", "messages", ["environment_id", "subscriber_id", "channel", "id"], unique=False
    )
    op.create_index("messages_trigger", "messages", ["environment_id", "trigger_id", "id"], unique=False)
    op.create_table(
        "notifications",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("trigger_id", ID, nullable=False),
        sa.Column("workflow_id", ID, nullable=False),
        sa.Column("version_id", ID, nullable=False),
        sa.Column("subscriber_id", ID, nullable=False),
        sa.Column("step_types", sa.Integer(), nullable=False),
        sa.Column("recipient", sa.Text(), nullable=True),
        sa.Column("topics", sa.Text(), nullable=True),
        sa.Column("digested_into", ID, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id"),
    )
    op.create_index(
        "notifications_recipient", "notifications", ["environment_id", "trigger_id", "subscriber_id"], unique=True
    )
    op.create_index(
        "notifications_subscriber", "notifications", ["environment_id", "subscriber_id", "id"], unique=False
    )
    op.create_index("notifications_workflow", "notifications", ["environment_id", "workflow_id", "id"], unique=False)
    op.create_table(
        "organizations",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "preferences",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("subscriber_id", ID, nullable=False),
        sa.Column("workflow_id", ID, nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "subscriber_id", "workflow_id", "channel"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "subscriber_channels",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("subscriber_id", ID, nullable=False),
        sa.Column("integration_id", ID, nullable=False),
        sa.Column("provider_id", sa.Text(), nullable=False),
        sa.Column("credentials", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "subscriber_id", "integration_id"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "subscriber_channels_integration", "subscriber_channels", ["environment_id", "integration_id"], unique=False
    )
    op.create_table(
        "subscribers",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("first_name", sa.Text(), nullable=True),
        sa.Column("last_name", sa.Text(), nullable=True),
        sa.Column("email", sa.Text(), nullable=True),
        sa.Column("phone", sa.Text(), nullable=True),
        sa.Column("avatar", sa.Text(), nullable=True),
        sa.Column("locale", sa.Text(), nullable=True),
        sa.Column("timezone", sa.Text(), nullable=True),
        sa.Column("data", sa.Text(), nullable=True),
        sa.Column("schedule", sa.Text(), nullable=True),
        sa.Column("is_online", sa.Boolean(), nullable=True),
        sa.Column("last_online_at", sa.BigInteger(), nullable=True),
        sa.Column("version", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("search_row", sa.BigInteger(), nullable=False),
        sa.Column(
            "full_name",
            sa.Text(),
            sa.Computed("TRIM(COALESCE(first_name, '') || ' ' || COALESCE(last_name, ''))", persisted=True),
            nullable=True,
        ),
        sa.PrimaryKeyConstraint("environment_id", "id"),
    )
    op.create_index("subscribers_email", "subscribers", ["environment_id", "email"], unique=False)
    op.create_index("subscribers_key", "subscribers", ["environment_id", "key"], unique=True)
    op.create_index("subscribers_search_row", "subscribers", ["search_row"], unique=False)
    op.create_index("subscribers_updated", "subscribers", ["environment_id", "updated_at", "id"], unique=False)
    op.create_table(
        "topic_subscriptions",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("topic_id", ID, nullable=False),
        sa.Column("subscriber_id", ID, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "topic_subscriptions_member",
        "topic_subscriptions",
        ["environment_id", "topic_id", "subscriber_id"],
        unique=True,
    )
    op.create_index(
        "topic_subscriptions_subscriber", "topic_subscriptions", ["environment_id", "subscriber_id", "id"], unique=False
    )
    op.create_index(
        "topic_subscriptions_topic", "topic_subscriptions", ["environment_id", "topic_id", "id"], unique=False
    )
    op.create_table(
        "topics",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id"),
    )
    op.create_index("topics_key", "topics", ["environment_id", "key"], unique=True)
    op.create_index("topics_updated", "topics", ["environment_id", "updated_at", "id"], unique=False)
    op.create_table(
        "triggers",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("transaction_key", sa.Text(), nullable=False),
        sa.Column("workflow_id", ID, nullable=False),
        sa.Column("version_id", ID, nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("overrides", sa.Text(), nullable=True),
        sa.Column("actor_id", ID, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id"),
    )
    op.create_index("triggers_transaction", "triggers", ["environment_id", "transaction_key"], unique=True)
    op.create_table(
        "workflow_versions",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("workflow_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("steps", sa.Text(), nullable=False),
        sa.Column("payload_schema", sa.Text(), nullable=True),
        sa.Column("validate_payload", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id"),
    )
    op.create_index(
        "workflow_versions_number", "workflow_versions", ["environment_id", "workflow_id", "number"], unique=True
    )
    op.create_table(
        "workflows",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("default_preference", sa.Text(), nullable=True),
        sa.Column("user_preference", sa.Text(), nullable=True),
        sa.Column("version_id", ID, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("environment_id", "id"),
    )
    op.create_index(
        "workflows_key",
        "workflows",
        ["environment_id", "key"],
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
