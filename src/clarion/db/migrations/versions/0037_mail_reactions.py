"""Counts of e-mails that were opened, clicked and replied to."""

import sqlalchemy as sa
from alembic import op

from clarion.db.schema.columns import Id

revision = "0037"
down_revision = "0036"
works_with = "0023"


def upgrade() -> None:
    op.create_table(
        "mail_reactions",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("id", Id, primary_key=True),
        sa.Column("workflow_id", Id, primary_key=True),
        sa.Column("slot", sa.SmallInteger, primary_key=True),
        sa.Column("opened", sa.Integer, nullable=False),
        sa.Column("clicked", sa.Integer, nullable=False),
        sa.Column("replied", sa.Integer, nullable=False),
        sqlite_with_rowid=False,
    )
