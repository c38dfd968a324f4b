"""Layouts, translations, contexts, variables of environments, and addresses in chats."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from clarion.db.schema.columns import Id

revision = "0024"
down_revision = "0023"
works_with = "0023"


def upgrade() -> None:
    op.add_column("organizations", sa.Column("options", sa.Text))
    op.add_column("preferences", sa.Column("reason", sa.Text))
    op.create_table(
        "layouts",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("id", Id, primary_key=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("is_default", sa.Boolean, nullable=False),
        sa.Column("version_id", Id, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("deleted_at", sa.BigInteger, nullable=True),
    )
    op.create_index(
        "layouts_default", "layouts", ["environment_id"], unique=True, **_where("is_default AND deleted_at IS NULL")
    )
    op.create_index("layouts_key", "layouts", ["environment_id", "key"], unique=True, **_where("deleted_at IS NULL"))
    op.create_table(
        "layout_versions",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("id", Id, primary_key=True),
        sa.Column("layout_id", Id, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=True),
        sa.Column("editor_type", sa.Text, nullable=False),
        sa.Column("actor_type", sa.Text, nullable=True),
        sa.Column("actor_id", sa.Text, nullable=True),
        sa.Column("actor_name", sa.Text, nullable=True),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_index("layout_versions_number", "layout_versions", ["environment_id", "layout_id", "number"], unique=True)
    op.create_table(
        "translation_groups",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("resource_type", sa.Text, primary_key=True),
        sa.Column("resource_id", Id, primary_key=True),
        sa.Column("is_enabled", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "translations",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("resource_type", sa.Text, primary_key=True),
        sa.Column("resource_id", Id, primary_key=True),
        sa.Column("locale", sa.Text, primary_key=True),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "contexts",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("id", Id, primary_key=True),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_index("contexts_key", "contexts", ["environment_id", "type", "key"], unique=True)
    op.create_index("contexts_updated", "contexts", ["environment_id", "updated_at", "id"])
    op.create_table(
        "environment_variables",
        sa.Column("organization_id", Id, primary_key=True),
        sa.Column("id", Id, primary_key=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("is_secret", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_index("environment_variables_key", "environment_variables", ["organization_id", "key"], unique=True)
    op.create_table(
        "environment_variable_values",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("variable_id", Id, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_table(
        "channel_connections",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("id", Id, primary_key=True),
        sa.Column("identifier", sa.Text, nullable=False),
        sa.Column("integration_id", Id, nullable=False),
        sa.Column("subscriber_id", Id, nullable=True),
        sa.Column("context_keys", sa.Text, nullable=False),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("auth", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_index(
        "channel_connections_identifier", "channel_connections", ["environment_id", "identifier"], unique=True
    )
    op.create_index(
        "channel_connections_integration", "channel_connections", ["environment_id", "integration_id", "subscriber_id"]
    )
    op.create_index("channel_connections_subscriber", "channel_connections", ["environment_id", "subscriber_id"])
    op.create_table(
        "channel_endpoints",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("id", Id, primary_key=True),
        sa.Column("identifier", sa.Text, nullable=False),
        sa.Column("integration_id", Id, nullable=False),
        sa.Column("connection_id", Id, nullable=True),
        sa.Column("subscriber_id", Id, nullable=False),
        sa.Column("context_keys", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("endpoint", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_index("channel_endpoints_connection", "channel_endpoints", ["environment_id", "connection_id"])
    op.create_index("channel_endpoints_identifier", "channel_endpoints", ["environment_id", "identifier"], unique=True)
    op.create_index("channel_endpoints_integration", "channel_endpoints", ["environment_id", "integration_id"])
    op.create_index(
        "channel_endpoints_subscriber", "channel_endpoints", ["environment_id", "subscriber_id", "integration_id"]
    )


def _where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}
