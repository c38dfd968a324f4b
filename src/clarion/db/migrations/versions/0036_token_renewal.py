"""Renewing the tokens of connections: by one process at a time, and why it failed."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
works_with = "0023"


def upgrade() -> None:
    op.add_column("channel_connections", sa.Column("trouble", sa.Text))
    op.add_column("channel_connections", sa.Column("renewing_until", sa.BigInteger))
