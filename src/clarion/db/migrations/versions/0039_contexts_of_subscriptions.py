"""The contexts that subscriptions to topics belong to."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
works_with = "0023"


def upgrade() -> None:
    op.add_column("topic_subscriptions", sa.Column("context_keys", sa.Text))
