"""Which run triggered another workflow by a step."""

import sqlalchemy as sa
from alembic import op

from clarion.db.schema.columns import Id

revision = "0042"
down_revision = "0041"
works_with = "0023"


def upgrade() -> None:
    op.add_column("triggers", sa.Column("caused_by", Id))
