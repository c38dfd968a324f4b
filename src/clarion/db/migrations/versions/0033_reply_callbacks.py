"""Where reply callbacks of steps go, and whether the e-mails of a workflow have an address for replies."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
# No `works_with`: older processes read workflows with `SELECT *`, and know no further columns.


def upgrade() -> None:
    op.add_column("webhook_events", sa.Column("url", sa.Text))
    op.add_column("workflows", sa.Column("takes_replies", sa.Boolean))
