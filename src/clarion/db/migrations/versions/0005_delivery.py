"""Delivery: the health of providers, receipts, suppressions, dead letters, webhooks."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

ID = sa.LargeBinary(length=16).with_variant(sa.UUID(), "postgresql")
DIGEST = sa.LargeBinary(length=16)


def upgrade() -> None:
    op.add_column("integrations", sa.Column("weight", sa.Integer(), nullable=False, server_default="100"))
    op.add_column("integrations", sa.Column("rate_limit", sa.Float(), nullable=True))
    op.add_column("jobs", sa.Column("dead_at", sa.BigInteger(), nullable=True))
    _partial_index("jobs_dead", "jobs", ["environment_id", "dead_at", "id"], "dead_at IS NOT NULL")
    op.add_column("messages", sa.Column("integration_id", ID, nullable=True))
    op.add_column("messages", sa.Column("provider_message_id", sa.Text(), nullable=True))
    op.add_column("messages", sa.Column("delivery", sa.Text(), nullable=True))
    op.drop_index("messages_job", "messages")
    _partial_index("messages_job", "messages", ["environment_id", "job_id"], "channel <> 'in_app'")
    _partial_index(
        "messages_provider", "messages", ["environment_id", "provider_message_id"], "provider_message_id IS NOT NULL"
    )
    _providers()
    _webhooks()


def _partial_index(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _providers() -> None:
    op.create_table(
        "integration_health",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("integration_id", ID, nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("open_until", sa.BigInteger(), nullable=True),
        sa.Column("allowance", sa.Float(), nullable=False, server_default="0"),
        sa.Column("refilled_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "integration_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "suppressions",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("provider_id", sa.Text(), nullable=True),
        sa.Column("message_id", ID, nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "channel", "address"),
        sqlite_with_rowid=False,
    )
    op.create_index("suppressions_recent", "suppressions", ["environment_id", "created_at", "address"])
    op.create_table(
        "receipts",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "digest"),
        sqlite_with_rowid=False,
    )
    op.create_index("receipts_age", "receipts", ["received_at"])


def _webhooks() -> None:
    op.create_table(
        "webhook_endpoints",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("events", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("disabled_reason", sa.Text(), nullable=True),
        sa.Column("failing_since", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id"),
    )
    op.create_table(
        "webhook_events",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id"),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("endpoint_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("response_status", sa.Integer(), nullable=True),
        sa.Column("error_text", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id"),
    )
    _partial_index(
        "webhook_deliveries_due",
        "webhook_deliveries",
        ["environment_id", "endpoint_id", "due_at", "id"],
        "status = 'queued'",
    )
    op.create_index("webhook_deliveries_endpoint", "webhook_deliveries", ["environment_id", "endpoint_id", "id"])
