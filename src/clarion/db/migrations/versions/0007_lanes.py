"""Lanes of people, priorities of sends, and a version of each environment's configuration."""

import uuid
from hashlib import blake2b
from zlib import crc32

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import BYTEA, UUID

revision = "0007"
down_revision = "0006"

ID = sa.LargeBinary(16).with_variant(UUID(), "postgresql")
BYTES = sa.LargeBinary().with_variant(BYTEA(), "postgresql")

DIGEST = sa.LargeBinary(16).with_variant(BYTEA(), "postgresql")

_LANES = 32
_WINDOWS = sa.table(
    "digest_windows",
    *(sa.column(name, ID) for name in ("environment_id", "id", "workflow_id", "step_id", "subscriber_id")),
    sa.column("key_digest", DIGEST),
)
_EVENTS = sa.table("digest_events", sa.column("environment_id", ID), sa.column("window_id", ID))


def upgrade() -> None:
    op.add_column("environments", sa.Column("timezone", sa.Text(), nullable=True))
    op.add_column("environments", sa.Column("configuration_version", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "workers",
        sa.Column("id", ID, nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    _partial_index(
        "notifications_digested", "notifications", ["environment_id", "digested_into"], "digested_into IS NOT NULL"
    )
    op.drop_column("messages", "actor")
    op.add_column("messages", sa.Column("retry_at", sa.BigInteger(), nullable=True))
    op.add_column("messages", sa.Column("given_up_at", sa.BigInteger(), nullable=True))
    op.add_column("messages", sa.Column("email_options", sa.Text(), nullable=True))
    _triggers()
    _jobs()
    _digest_windows()
    _throttle_passes()


def _triggers() -> None:
    op.drop_index("triggers_queued", "triggers")
    op.drop_column("triggers", "actor_id")
    op.add_column("triggers", sa.Column("lane", sa.SmallInteger(), nullable=False, server_default="0"))
    # Priorities were 0 critical, 1 usual, 2 fan-out; 1 is a critical fan-out now.
    op.execute("UPDATE triggers SET priority = priority + 1 WHERE state = 'queued' AND priority > 0")
    op.execute("UPDATE triggers SET state = 'splitting' WHERE state = 'queued'")
    _partial_index("triggers_queued", "triggers", ["environment_id", "priority", "id", "lane"], "state = 'queued'")
    _partial_index("triggers_canceling", "triggers", ["environment_id", "id"], "state = 'canceling'")
    _partial_index("triggers_splitting", "triggers", ["environment_id", "priority", "id"], "state = 'splitting'")
    op.create_table(
        "trigger_parts",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("trigger_id", ID, nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("lane", sa.SmallInteger(), nullable=False),
        sa.Column("topic", sa.SmallInteger(), nullable=True),
        sa.Column("subscriber_ids", BYTES, nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "id"),
    )
    op.create_index("trigger_parts_queued", "trigger_parts", ["environment_id", "priority", "trigger_id", "id", "lane"])
    op.create_index("trigger_parts_trigger", "trigger_parts", ["environment_id", "trigger_id"])


def _jobs() -> None:
    op.drop_index("jobs_lane", "jobs")
    op.drop_index("jobs_send", "jobs")
    op.execute("ALTER TABLE jobs RENAME COLUMN runnable TO queue")
    op.add_column("jobs", sa.Column("lane", sa.SmallInteger(), nullable=False, server_default="0"))
    op.add_column("jobs", sa.Column("priority", sa.SmallInteger(), nullable=False, server_default="2"))
    _fill_lanes()
    _partial_index("jobs_decide", "jobs", ["environment_id", "due_at", "id", "lane"], "queue = 1")
    _partial_index("jobs_send", "jobs", ["environment_id", "type", "priority", "due_at", "id"], "queue = 2")


def _fill_lanes() -> None:
    """Give unfinished jobs the lane of their person."""
    connection = op.get_bind()
    rows = connection.execute(
        sa.text("""
            SELECT j.environment_id, j.id, s.key FROM jobs AS j
            JOIN notifications AS n ON n.environment_id = j.environment_id AND n.id = j.notification_id
            JOIN subscribers AS s ON s.environment_id = n.environment_id AND s.id = n.subscriber_id
            WHERE j.status IN ('pending', 'queued', 'running', 'delayed', 'merged')
        """)
    ).all()
    values = [{"e": row[0], "i": row[1], "lane": crc32(row[2].encode()) % _LANES} for row in rows]
    if values:
        connection.execute(sa.text("UPDATE jobs SET lane = :lane WHERE environment_id = :e AND id = :i"), values)


def _digest_windows() -> None:
    """Derive the ids of windows from what identifies them."""
    connection = op.get_bind()
    rows = connection.execute(
        sa.select(
            *(_WINDOWS.c[name] for name in ("environment_id", "id", "workflow_id", "step_id", "subscriber_id")),
            _WINDOWS.c.key_digest,
        )
    ).all()
    for environment_id, old_id, *identity in rows:
        new_id = _bind(_derive(*identity))
        for table, column in ((_WINDOWS, _WINDOWS.c.id), (_EVENTS, _EVENTS.c.window_id)):
            connection.execute(
                table.update()
                .where(table.c.environment_id == environment_id, column == old_id)
                .values({column.name: new_id})
            )
    op.drop_index("digest_windows_identity", "digest_windows")
    for name in ("workflow_id", "step_id", "key_digest"):
        op.drop_column("digest_windows", name)
    op.create_index("digest_windows_subscriber", "digest_windows", ["environment_id", "subscriber_id"])


def _throttle_passes() -> None:
    op.rename_table("throttle_passes", "old_throttle_passes")
    op.create_table(
        "throttle_passes",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("throttle_id", ID, nullable=False),
        sa.Column("passed_at", sa.BigInteger(), nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("subscriber_id", ID, nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "throttle_id", "passed_at", "job_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("throttle_passes_subscriber", "throttle_passes", ["environment_id", "subscriber_id"])
    connection = op.get_bind()
    rows = connection.execute(
        sa.text("SELECT environment_id, step_id, subscriber_id, key_digest, job_id, passed_at FROM old_throttle_passes")
    ).all()
    new = sa.table(
        "throttle_passes",
        *(sa.column(name, ID) for name in ("environment_id", "throttle_id", "job_id", "subscriber_id")),
        sa.column("passed_at", sa.BigInteger()),
    )
    values = [
        {
            "environment_id": environment_id,
            "throttle_id": _bind(_derive(step_id, subscriber_id, key_digest)),
            "passed_at": passed_at,
            "job_id": job_id,
            "subscriber_id": subscriber_id,
        }
        for environment_id, step_id, subscriber_id, key_digest, job_id, passed_at in rows
    ]
    if values:
        connection.execute(new.insert(), values)
    op.drop_table("old_throttle_passes")


def _derive(*parts: object) -> bytes:
    return blake2b(b"".join(_bytes(part) for part in parts), digest_size=16).digest()


def _bytes(value: object) -> bytes:
    return value.bytes if isinstance(value, uuid.UUID) else bytes(value)  # type: ignore[call-overload]


def _bind(value: bytes) -> object:
    """An id as the database takes it."""
    return uuid.UUID(bytes=value) if op.get_bind().dialect.name == "postgresql" else value


def _partial_index(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
