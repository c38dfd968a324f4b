"""The channel endpoint that a message goes to."""

import sqlalchemy as sa
from alembic import op

from clarion.db.schema.columns import Id

revision = "0026"
down_revision = "0025"
works_with = "0023"


def upgrade() -> None:
    op.add_column("messages", sa.Column("endpoint_id", Id))
