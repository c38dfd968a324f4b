"""Unread messages are found by their person alone, so that no index of the environment is read in its place."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
works_with = "0009"

_UNREAD = sa.text("channel = 'in_app' AND NOT read AND NOT archived AND snoozed_until IS NULL")


def upgrade() -> None:
    op.drop_index("messages_unread", "messages")
    op.create_index(
        "messages_unread",
        "messages",
        ["subscriber_id", "severity", "seen", "position", "context_keys", "environment_id"],
        sqlite_where=_UNREAD,
        postgresql_where=_UNREAD,
    )
