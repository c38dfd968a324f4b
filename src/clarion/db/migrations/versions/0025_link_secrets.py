"""The secret of each environment that links to people are signed with."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
works_with = "0023"


def upgrade() -> None:
    op.add_column("environments", sa.Column("link_secret", sa.Text))
