"""Sessions of subscribers, the order of the inbox, snoozed messages, open sockets, and own subscriptions to topics."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import UUID

from clarion.db.online import fill_column

revision = "0009"
down_revision = "0008"

ID = sa.LargeBinary(16).with_variant(UUID(), "postgresql")
UNREAD = "channel = 'in_app' AND NOT read AND NOT archived AND snoozed_until IS NULL"
SNOOZED = "snoozed_until IS NOT NULL"
WITH_RULES = "preferences IS NOT NULL"

# A condition is a path of one or two keys, and the values that are allowed there.
_POSTGRES_HAS_VALUES = """
    CREATE FUNCTION json_has_values(document text, conditions text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT document IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM jsonb_array_elements(conditions::jsonb) AS one
            WHERE NOT EXISTS (
                SELECT 1 FROM jsonb_array_elements(one -> 1) AS wanted
                WHERE CASE jsonb_array_length(one -> 0)
                    WHEN 1 THEN document::jsonb -> (one -> 0 ->> 0)
                    ELSE document::jsonb -> (one -> 0 ->> 0) -> (one -> 0 ->> 1)
                END @> wanted
            )
        )
    $$
"""


def upgrade() -> None:
    op.add_column("environments", sa.Column("session_epoch", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("api_keys", sa.Column("sealed", sa.Text(), nullable=True))
    op.add_column("triggers", sa.Column("context", sa.Text(), nullable=True))
    _order_messages()
    if op.get_bind().dialect.name == "postgresql":
        op.execute(_POSTGRES_HAS_VALUES)
    _extend_subscriptions()
    op.create_table(
        "socket_hosts",
        sa.Column("id", ID, nullable=False),
        sa.Column("environment_ids", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "online_people",
        sa.Column("environment_id", ID, nullable=False),
        sa.Column("subscriber_id", ID, nullable=False),
        sa.Column("host_id", ID, nullable=False),
        sa.PrimaryKeyConstraint("environment_id", "subscriber_id", "host_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("online_people_host", "online_people", ["host_id"])


def _order_messages() -> None:
    op.add_column("messages", sa.Column("context_keys", sa.Text(), nullable=True))
    op.add_column("messages", sa.Column("position", ID, nullable=True))
    fill_column("messages", "position", "id")
    op.drop_index("messages_subscriber", "messages")
    op.create_index(
        "messages_subscriber",
        "messages",
        [
            *("environment_id", "subscriber_id", "channel", "archived", "position"),
            *("seen", "read", "snoozed_until"),
        ],
    )
    _partial_index(
        "messages_unread",
        "messages",
        ["environment_id", "subscriber_id", "severity", "seen", "position", "context_keys"],
        UNREAD,
    )
    _partial_index("messages_snoozed", "messages", ["environment_id", "subscriber_id", "position"], SNOOZED)
    _partial_index("messages_wake", "messages", ["snoozed_until", "environment_id", "id"], SNOOZED)


def _extend_subscriptions() -> None:
    op.add_column("topic_subscriptions", sa.Column("identifier", sa.Text(), nullable=False, server_default=""))
    op.add_column("topic_subscriptions", sa.Column("name", sa.Text(), nullable=True))
    op.add_column("topic_subscriptions", sa.Column("preferences", sa.Text(), nullable=True))
    op.add_column("topic_subscriptions", sa.Column("updated_at", sa.BigInteger(), nullable=True))
    op.drop_index("topic_subscriptions_member", "topic_subscriptions")
    op.create_index(
        "topic_subscriptions_member",
        "topic_subscriptions",
        ["environment_id", "topic_id", "subscriber_id", "identifier"],
        unique=True,
    )
    _partial_index(
        "topic_subscriptions_rules", "topic_subscriptions", ["environment_id", "topic_id", "subscriber_id"], WITH_RULES
    )


def _partial_index(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
