"""Webhooks of Telegram's bots, and the codes by which people link their chats."""

import sqlalchemy as sa
from alembic import op

from clarion.db.schema.columns import Digest, Id

revision = "0032"
down_revision = "0031"
works_with = "0023"


def upgrade() -> None:
    op.create_table(
        "telegram_webhooks",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("id", Id, primary_key=True),
        sa.Column("bot_id", sa.Text, nullable=False),
        sa.Column("bot_username", sa.Text, nullable=False),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("configured_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "chat_links",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("digest", Digest, primary_key=True),
        sa.Column("purpose", sa.Text, nullable=False),
        sa.Column("integration_id", Id, nullable=False),
        sa.Column("subscriber_id", Id, nullable=True),
        sa.Column("context_keys", sa.Text, nullable=False),
        sa.Column("replaces", sa.Boolean, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
    )
    op.create_index("chat_links_expires", "chat_links", ["environment_id", "expires_at"])
    op.create_index("chat_links_integration", "chat_links", ["environment_id", "integration_id", "subscriber_id"])
    op.create_index("chat_links_subscriber", "chat_links", ["environment_id", "subscriber_id"])
