"""Answers of vendors to attempts to connect a chat, each of which is taken once."""

import sqlalchemy as sa
from alembic import op

from clarion.db.schema.columns import Id

revision = "0028"
down_revision = "0027"
works_with = "0023"


def upgrade() -> None:
    op.create_table(
        "spent_oauth_states",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("id", Id, primary_key=True),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
    )
    op.create_index("spent_oauth_states_expires", "spent_oauth_states", ["environment_id", "expires_at"])
