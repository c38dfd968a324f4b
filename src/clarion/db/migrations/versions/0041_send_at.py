"""Triggers that wait for their moment, and those that expire."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"
works_with = "0023"


def upgrade() -> None:
    op.add_column("triggers", sa.Column("accepted_at", sa.BigInteger))
    op.add_column("triggers", sa.Column("expires_at", sa.BigInteger))
    is_scheduled = sa.text("state = 'scheduled'")
    op.create_index(
        "triggers_due", "triggers", ["created_at", "id"], sqlite_where=is_scheduled, postgresql_where=is_scheduled
    )
    op.create_index(
        "triggers_scheduled",
        "triggers",
        ["environment_id", "lane"],
        sqlite_where=is_scheduled,
        postgresql_where=is_scheduled,
    )
