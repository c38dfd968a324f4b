"""HTTP steps: their requests while they are under way, and the hosts that do not answer."""

import sqlalchemy as sa
from alembic import op

from clarion.db.schema.columns import Id

revision = "0047"
down_revision = "0046"
works_with = "0023"


def upgrade() -> None:
    op.create_table(
        "http_requests",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("job_id", Id, primary_key=True),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "http_hosts",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("host", sa.Text, primary_key=True),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("open_until", sa.BigInteger),
        sa.Column("paused_until", sa.BigInteger),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
    )
