"""Triggers remember what their responses warned of."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0018"
works_with = "0009"


def upgrade() -> None:
    op.add_column("triggers", sa.Column("warnings", sa.Text(), nullable=True))
