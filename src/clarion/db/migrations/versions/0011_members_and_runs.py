"""People who sign in: members, sessions, links that let them in. The status of runs. Who made versions of workflows."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import BYTEA, UUID

from clarion.db.online import fill_column

revision = "0011"
down_revision = "0010"
works_with = "0009"

ID = sa.LargeBinary(16).with_variant(UUID(), "postgresql")
HASH = sa.LargeBinary(32).with_variant(BYTEA(), "postgresql")

_WAITS = """
    (j.status = 'delayed'
    OR j.status = 'queued' AND j.queue IS NOT NULL AND j.queue = 2
    AND (j.attempt % 1000 > 0 OR j.put_off_since IS NOT NULL))
"""
_DELIVERED = "j.status = 'completed' AND j.type NOT IN ('delay', 'digest', 'throttle', 'trigger')"
# What the jobs of a run come to: the rule of jobs/run_status.py.
STATUS = f"""
    (SELECT CASE
        WHEN count(CASE WHEN j.status IN ('queued', 'running') AND NOT ({_WAITS}) THEN 1 END) > 0 THEN 1
        WHEN count(CASE WHEN {_WAITS} THEN 1 END) > 0 THEN 2
        WHEN count(CASE WHEN j.status = 'pending' THEN 1 END) > 0 THEN 1
        WHEN count(CASE WHEN j.status = 'completed' AND j.dead_at IS NOT NULL THEN 1 END) > 0 THEN 4
        WHEN count(CASE WHEN j.status = 'failed' THEN 1 END) > 0 THEN
            CASE WHEN count(CASE WHEN j.status = 'merged' OR {_DELIVERED} THEN 1 END) > 0 THEN 4 ELSE 5 END
        WHEN count(CASE WHEN j.status = 'canceled' THEN 1 END) > 0 THEN 7
        WHEN count(CASE WHEN j.status = 'merged' THEN 1 END) > 0 THEN 8
        WHEN count(CASE WHEN j.status = 'skipped' THEN 1 END) > 0 AND count(CASE WHEN {_DELIVERED} THEN 1 END) = 0
            THEN 6
        ELSE 3
    END
    FROM jobs AS j WHERE j.environment_id = notifications.environment_id AND j.notification_id = notifications.id)
"""


def upgrade() -> None:
    _create_members()
    _create_version_notes()
    _create_tables_of_integrations()
    op.add_column("notifications", sa.Column("status", sa.SmallInteger(), nullable=True))
    fill_column("notifications", "status", STATUS)
    _partial_index("notifications_status", "notifications", ["environment_id", "status", "id"], "status <> 3")
    changed = ["environment_id", "updated_at", "id"]
    _partial_index("notifications_changed", "notifications", changed, "updated_at <> created_at")
    _partial_index("jobs_due", "jobs", ["due_at", "environment_id"], "queue = 1")


def _partial_index(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)


def _create_members() -> None:
    op.create_table(
        "members",
        sa.Column("id", ID, nullable=False),
        sa.Column("organization_id", ID, nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("environment_roles", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("email"),
    )
    op.create_index("members_organization", "members", ["organization_id", "id"])
    op.create_table(
        "member_sessions",
        sa.Column("hash", HASH, nullable=False),
        sa.Column("member_id", ID, nullable=False),
        sa.Column("user_agent", sa.Text(), nullable=True),
        sa.Column("address", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("hash"),
        sqlite_with_rowid=False,
    )
    op.create_index("member_sessions_member", "member_sessions", ["member_id"])
    op.create_table(
        "member_links",
        sa.Column("hash", HASH, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("organization_id", ID, nullable=False),
        sa.Column("email", sa.Text(), nullable=True),
        sa.Column("role", sa.Text(), nullable=True),
        sa.Column("environment_roles", sa.Text(), nullable=False),
        sa.Column("invited_by", ID, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("hash"),
        sqlite_with_rowid=False,
    )
    op.create_index("member_links_email", "member_links", ["email"])


def _create_version_notes() -> None:
    # Not columns of the versions: processes of the version before read all columns of theirs.
    op.create_table(
        "workflow_version_notes",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("source_id", ID, nullable=True),
        sa.Column("actor_type", sa.Text(), nullable=True),
        sa.Column("actor_id", sa.Text(), nullable=True),
        sa.Column("actor_name", sa.Text(), nullable=True),
        sa.Column("changes", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id"),
        sqlite_with_rowid=False,
    )


def _create_tables_of_integrations() -> None:
    """How integrations and endpoints of webhooks do."""
    op.add_column("integration_health", sa.Column("errors", sa.Text(), nullable=True))
    op.add_column("webhook_deliveries", sa.Column("attempt_log", sa.Text(), nullable=True))
    op.create_table(
        "integration_counts",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("integration_id", ID, nullable=False),
        sa.Column("slot", sa.SmallInteger(), nullable=False),
        sa.Column("sent", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("milliseconds", sa.BigInteger(), nullable=False),
        sa.Column("slowest", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id", "integration_id", "slot"),
        sqlite_with_rowid=False,
    )
