"""Jobs that a provider puts off."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("put_off_since", sa.BigInteger(), nullable=True))
