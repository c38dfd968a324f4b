"""What 0.1.0 must leave alone while both run: links to unsubscribe, and how e-mails are tracked and replied to."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
works_with = "0023"


def upgrade() -> None:
    op.add_column("messages", sa.Column("unsubscribe_url", sa.Text))
    op.add_column("environments", sa.Column("mail_options", sa.Text))
