"""An index of the identifiers that were chosen for subscriptions to topics."""

from alembic import op
from sqlalchemy import text

revision = "0034"
down_revision = "0033"
works_with = "0023"


def upgrade() -> None:
    op.create_index(
        "topic_subscriptions_identifier",
        "topic_subscriptions",
        ["environment_id", "topic_id", "identifier"],
        sqlite_where=text("identifier <> ''"),
        postgresql_where=text("identifier <> ''"),
    )
