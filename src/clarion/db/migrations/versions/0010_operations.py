"""What running an installation needs: options of environments, the audit log, rate limits, processes, traces."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import UUID

revision = "0010"
down_revision = "0009"
works_with = "0009"

# Tables that rows are deleted from all the time. By default PostgreSQL waits until a fifth of a table is dead: a table
# of ten million rows has up to two million places that are not used again.
DELETED_FROM = (
    *("triggers", "notifications", "jobs", "messages", "trigger_parts", "digest_events", "throttle_passes"),
    *("webhook_events", "webhook_deliveries", "receipts", "idempotency_keys", "audit_entries"),
)
VACUUM = "autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000"

ID = sa.LargeBinary(16).with_variant(UUID(), "postgresql")


def upgrade() -> None:
    op.add_column("environments", sa.Column("options", sa.Text(), nullable=True))
    op.add_column("environments", sa.Column("deleted_at", sa.BigInteger(), nullable=True))
    op.add_column("triggers", sa.Column("trace_context", sa.Text(), nullable=True))
    _create_audit_entries()
    _create_tables_of_people()
    op.create_table(
        "rate_limit_buckets",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Float(), nullable=False),
        sa.Column("refilled_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "category"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "processes",
        sa.Column("id", ID, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("clock_at", sa.BigInteger(), nullable=False),
        sa.Column("report", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    _prepare_retention()


def _create_audit_entries() -> None:
    op.create_table(
        "audit_entries",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("target_type", sa.Text(), nullable=False),
        sa.Column("target_id", sa.Text(), nullable=False),
        sa.Column("target_name", sa.Text(), nullable=True),
        sa.Column("actor_type", sa.Text(), nullable=False),
        sa.Column("actor_id", sa.Text(), nullable=True),
        sa.Column("actor_name", sa.Text(), nullable=True),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("after", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id"),
    )
    op.create_index("audit_entries_target", "audit_entries", ["environment_id", "target_type", "target_id", "id"])
    op.create_index("audit_entries_actor", "audit_entries", ["environment_id", "actor_id", "id"])


def _create_tables_of_people() -> None:
    """What finds the data of a person, to erase it."""
    op.create_index("awaited_receipts_message", "awaited_receipts", ["environment_id", "message_id"])
    op.create_table(
        "webhook_event_people",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("subscriber_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "subscriber_id", "event_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("webhook_event_people_event", "webhook_event_people", ["environment_id", "event_id"])
    op.create_table(
        "erasures",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("subscriber_id", ID, nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("requested_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "subscriber_id"),
        sqlite_with_rowid=False,
    )


def _prepare_retention() -> None:
    op.create_table(
        "retention_progress",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("walk", sa.Text(), nullable=False),
        sa.Column("position", ID, nullable=False),
        sa.Column("swept_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "walk"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "leases",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("owner", ID, nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
        sqlite_with_rowid=False,
    )
    if op.get_bind().dialect.name == "postgresql":
        for table in DELETED_FROM:
            op.execute(f"ALTER TABLE {table} SET ({VACUUM})")
