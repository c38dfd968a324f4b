"""Schedules, what they did, and people by their time zone."""

import sqlalchemy as sa
from alembic import op

from clarion.db.schema.columns import Id

revision = "0048"
down_revision = "0047"
works_with = "0023"


def upgrade() -> None:
    op.create_table(
        "schedules",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("id", Id, primary_key=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("workflow", sa.Text, nullable=False),
        sa.Column("recipients", sa.Text),
        sa.Column("timing", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("overrides", sa.Text),
        sa.Column("context", sa.Text),
        sa.Column("catch_up", sa.Text, nullable=False),
        sa.Column("paused", sa.Boolean, nullable=False, server_default=sa.text("FALSE")),
        sa.Column("done_until", sa.BigInteger, nullable=False),
        sa.Column("next_at", sa.BigInteger),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_index("schedules_key", "schedules", ["environment_id", "key"], unique=True)
    op.create_index("schedules_updated", "schedules", ["environment_id", "updated_at", "id"])
    is_active = sa.text("next_at IS NOT NULL")
    op.create_index("schedules_due", "schedules", ["next_at", "id"], sqlite_where=is_active, postgresql_where=is_active)
    op.create_table(
        "schedule_runs",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("schedule_id", Id, primary_key=True),
        sa.Column("moment", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("timezone", sa.Text, primary_key=True),
        sa.Column("transaction_key", sa.Text),
        sa.Column("trouble", sa.Text),
        sa.Column("at", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    has_timezone = sa.text("timezone IS NOT NULL")
    op.create_index(
        "subscribers_timezone",
        "subscribers",
        ["environment_id", "timezone", "id"],
        sqlite_where=has_timezone,
        postgresql_where=has_timezone,
    )
