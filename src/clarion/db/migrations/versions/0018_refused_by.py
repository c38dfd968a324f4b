"""Messages remember the integrations that refused them."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0014"
works_with = "0009"


def upgrade() -> None:
    op.add_column("messages", sa.Column("refused_by", sa.Text(), nullable=True))
