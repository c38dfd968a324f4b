"""Segments: people who meet a condition."""

import sqlalchemy as sa
from alembic import op

from clarion.db.schema.columns import Id

revision = "0040"
down_revision = "0039"
works_with = "0023"


def upgrade() -> None:
    op.create_table(
        "segments",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("id", Id, primary_key=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("condition", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_index("segments_key", "segments", ["environment_id", "key"], unique=True)
    op.create_index("segments_updated", "segments", ["environment_id", "updated_at", "id"])
