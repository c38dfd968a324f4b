"""When translations were switched off: what was accepted before still uses them."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
works_with = "0023"


def upgrade() -> None:
    op.add_column("translation_groups", sa.Column("disabled_at", sa.BigInteger))
