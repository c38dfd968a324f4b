"""What the engine needs: queued triggers and jobs, digest windows, throttles."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

ID = sa.LargeBinary(length=16).with_variant(sa.UUID(), "postgresql")
DIGEST = sa.LargeBinary(length=16)


def upgrade() -> None:
    op.add_column("triggers", sa.Column("state", sa.Text(), nullable=False, server_default="done"))
    op.add_column("triggers", sa.Column("priority", sa.SmallInteger(), nullable=False, server_default="1"))
    op.add_column("triggers", sa.Column("recipients", sa.Text(), nullable=True))
    op.add_column("triggers", sa.Column("position", sa.Text(), nullable=True))
    _partial_index("triggers_queued", "triggers", ["environment_id", "priority", "id"], "state = 'queued'")
    op.drop_column("jobs", "lease_until")
    op.add_column("jobs", sa.Column("runnable", sa.SmallInteger(), nullable=True))
    op.add_column("jobs", sa.Column("outputs", sa.Text(), nullable=True))
    _partial_index("jobs_lane", "jobs", ["environment_id", "due_at", "id"], "runnable = 1")
    _partial_index("jobs_send", "jobs", ["environment_id", "due_at", "id"], "runnable = 2")
    _digests()
    _throttles()


def _partial_index(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _digests() -> None:
    op.create_table(
        "digest_windows",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("workflow_id", ID, nullable=False),
        sa.Column("step_id", ID, nullable=False),
        sa.Column("subscriber_id", ID, nullable=False),
        sa.Column("key_digest", DIGEST, nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("leader_id", ID, nullable=True),
        sa.Column("leader_run_id", ID, nullable=True),
        sa.Column("closes_at", sa.BigInteger(), nullable=True),
        sa.Column("last_event_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id"),
    )
    identity = ["environment_id", "workflow_id", "step_id", "subscriber_id", "key_digest"]
    op.create_index("digest_windows_identity", "digest_windows", identity, unique=True)
    op.create_table(
        "digest_events",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("window_id", ID, nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("trigger_id", ID, nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "window_id", "generation", "job_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("digest_events_job", "digest_events", ["environment_id", "job_id"])


def _throttles() -> None:
    op.create_table(
        "throttle_passes",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("step_id", ID, nullable=False),
        sa.Column("subscriber_id", ID, nullable=False),
        sa.Column("key_digest", DIGEST, nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("passed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "step_id", "subscriber_id", "key_digest", "job_id"),
        sqlite_with_rowid=False,
    )
