"""Indexes that hold all that a page and its total ask of them, and text search whatever the case."""

from alembic import op

from clarion.db.online import replace_index

revision = "0004"
down_revision = "0003"

_FEED = ["environment_id", "subscriber_id", "channel", "id", "archived", "seen", "read", "snoozed_until"]

_SQLITE = (
    "DROP TABLE subscriber_search",
    # Only who has a trigram is kept, not where: the texts of those found are compared afterwards.
    """
    CREATE VIRTUAL TABLE subscriber_search
    USING fts5(email, phone, full_name, tokenize = 'trigram', detail = 'none')
    """,
    """
    INSERT INTO subscriber_search (rowid, email, phone, full_name)
    SELECT search_row, email, phone, full_name FROM subscribers
    """,
)
_POSTGRES_EMAIL = 'ON subscribers USING gin (clarion_grams(lower(email COLLATE "C")))'


def upgrade() -> None:
    op.drop_index("messages_subscriber", "messages")
    op.create_index("messages_subscriber", "messages", _FEED)
    op.drop_index("notifications_workflow", "notifications")
    op.create_index("notifications_workflow", "notifications", ["environment_id", "workflow_id", "step_types", "id"])
    op.create_index("notifications_trigger", "notifications", ["environment_id", "trigger_id", "id"])
    if op.get_bind().dialect.name == "sqlite":
        for statement in _SQLITE:
            op.execute(statement)
    else:
        replace_index("subscribers_email_grams", _POSTGRES_EMAIL)
