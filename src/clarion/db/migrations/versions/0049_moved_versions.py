"""Versions of workflows for runs that go on with another version than they started with."""

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0048"
works_with = "0023"


def upgrade() -> None:
    op.add_column("workflow_versions", sa.Column("moved", sa.Text))
