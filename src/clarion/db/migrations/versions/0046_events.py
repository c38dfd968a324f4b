"""Events that applications emit, and the steps of runs that wait for them."""

import sqlalchemy as sa
from alembic import op

from clarion.db.schema.columns import Digest, Id

revision = "0046"
down_revision = "0045"
works_with = "0023"


def upgrade() -> None:
    op.create_table(
        "emitted_events",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("id", Id, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("lane", sa.SmallInteger, nullable=False),
        sa.Column("subscriber_id", Id),
        sa.Column("topic_id", Id),
        sa.Column("source_key", Digest),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("pending", sa.SmallInteger, nullable=False),
        sa.Column("position", Id),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    _index("emitted_events", "pending", ["environment_id", "created_at", "id", "lane"], where="pending = 1")
    _index("emitted_events", "source", ["environment_id", "source_key"], unique=True, where="source_key IS NOT NULL")
    _index("emitted_events", "person", ["environment_id", "subscriber_id", "name", "created_at"])
    _index("emitted_events", "many", ["environment_id", "name", "created_at"], where="lane = -1")
    _index("emitted_events", "age", ["created_at"])
    op.create_table(
        "event_waits",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("job_id", Id, primary_key=True),
        sa.Column("subscriber_id", Id, nullable=False),
        sa.Column("lane", sa.SmallInteger, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("rule", sa.Text, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.Column("matched", sa.Text),
        sa.Column("missed", sa.Integer, nullable=False),
        sa.Column("last_missed", sa.Text),
    )
    _index("event_waits", "subscriber", ["environment_id", "subscriber_id"])
    _index("event_waits", "event", ["environment_id", "event", "job_id"])
    _index("event_waits", "until", ["until"])
    op.create_table(
        "awaited_events",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
    )


def _index(table: str, name: str, columns: list[str], *, unique: bool = False, where: str | None = None) -> None:
    rows = None if where is None else sa.text(where)
    op.create_index(f"{table}_{name}", table, columns, unique=unique, sqlite_where=rows, postgresql_where=rows)
