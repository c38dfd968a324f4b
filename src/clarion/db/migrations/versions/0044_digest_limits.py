"""Digest windows that further events extend, and those that are full at a number of events."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"
works_with = "0023"


def upgrade() -> None:
    op.add_column("digest_windows", sa.Column("closes_by", sa.BigInteger))
    op.add_column("digest_windows", sa.Column("items", sa.Integer))
