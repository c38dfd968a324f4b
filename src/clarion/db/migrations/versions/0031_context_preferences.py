"""What people switch in contexts, beside what they switch for everything."""

import sqlalchemy as sa
from alembic import op

from clarion.db.schema.columns import Id

revision = "0031"
down_revision = "0030"
works_with = "0023"


def upgrade() -> None:
    op.create_table(
        "context_preferences",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("subscriber_id", Id, primary_key=True),
        sa.Column("context_keys", sa.Text, primary_key=True),
        sa.Column("workflow_id", Id, primary_key=True),
        sa.Column("channel", sa.Text, primary_key=True),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("reason", sa.Text, nullable=True),
        sqlite_with_rowid=False,
    )
