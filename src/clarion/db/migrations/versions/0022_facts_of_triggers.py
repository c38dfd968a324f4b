"""Triggers tell how often their transaction was sent again, and since when runs of them are deleted."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0020"
works_with = "0009"


def upgrade() -> None:
    op.add_column("triggers", sa.Column("repeats", sa.Integer(), nullable=True))
    op.add_column("triggers", sa.Column("repeated_at", sa.BigInteger(), nullable=True))
    op.add_column("triggers", sa.Column("runs_deleted_at", sa.BigInteger(), nullable=True))
