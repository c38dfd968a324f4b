"""Messages that are changed or withdrawn after they were made."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
works_with = "0023"


def upgrade() -> None:
    op.add_column("messages", sa.Column("place", sa.Text))
    op.add_column("messages", sa.Column("change", sa.Text))
    op.add_column("messages", sa.Column("change_reason", sa.Text))
    op.add_column("messages", sa.Column("former", sa.Text))
    op.add_column("messages", sa.Column("changed_at", sa.BigInteger))
    op.add_column("messages", sa.Column("revision", sa.Integer))
    op.add_column("jobs", sa.Column("changed_at", sa.BigInteger))
