"""Jobs that a provider puts off, reports that come early or are asked for, and whose reports are heard."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import BYTEA, UUID

revision = "0006"
down_revision = "0005"

ID = sa.LargeBinary(16).with_variant(UUID(), "postgresql")
DIGEST = sa.LargeBinary(16).with_variant(BYTEA(), "postgresql")


def upgrade() -> None:
    op.add_column("jobs", sa.Column("put_off_since", sa.BigInteger(), nullable=True))
    op.add_column("integrations", sa.Column("reports_from", sa.Text(), nullable=True))
    op.create_table(
        "early_reports",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("integration_id", ID, nullable=False),
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("report", sa.Text(), nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "integration_id", "digest"),
    )
    op.create_table(
        "awaited_receipts",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("integration_id", ID, nullable=False),
        sa.Column("ticket", sa.Text(), nullable=False),
        sa.Column("message_id", ID, nullable=False),
        sa.Column("recipient", sa.Text(), nullable=False),
        sa.Column("is_partial", sa.Boolean(), nullable=False),
        sa.Column("sent_at", sa.BigInteger(), nullable=False),
        sa.Column("ask_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "integration_id", "ticket"),
    )
    op.create_index("awaited_receipts_due", "awaited_receipts", ["ask_at"])
