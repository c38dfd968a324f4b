"""What is tracked of messages, and what workflows decide about that."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
# No `works_with`: older processes read workflows with `SELECT *`, and know no further columns.


def upgrade() -> None:
    op.add_column("messages", sa.Column("tracking", sa.Text))
    op.add_column("workflows", sa.Column("tracking", sa.Text))
