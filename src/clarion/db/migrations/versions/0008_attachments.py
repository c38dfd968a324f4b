"""Files that triggers attach, stored once."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import BYTEA, UUID

revision = "0008"
down_revision = "0007"

ID = sa.LargeBinary(16).with_variant(UUID(), "postgresql")
HASH = sa.LargeBinary(32).with_variant(BYTEA(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "attachments",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("hash", HASH, nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "hash"),
    )
    op.create_table(
        "trigger_attachments",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("trigger_id", ID, nullable=False),
        sa.Column("hash", HASH, nullable=False),
        sa.Column("check_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "trigger_id", "hash"),
        sqlite_with_rowid=False,
    )
    op.create_index("trigger_attachments_hash", "trigger_attachments", ["environment_id", "hash"])
    op.create_index("trigger_attachments_check", "trigger_attachments", ["check_at"])
