"""Events of digests by the order in which they are kept for templates."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"
works_with = "0023"


def upgrade() -> None:
    op.add_column("digest_events", sa.Column("sort_key", sa.LargeBinary))
