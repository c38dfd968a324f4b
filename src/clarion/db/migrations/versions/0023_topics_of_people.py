"""Topics are open to people or not and know who made them, and so do people whom sessions without proof created."""

import sqlalchemy as sa
from alembic import op

from clarion.db.schema.columns import id_

revision = "0023"
down_revision = "0022"
works_with = "0009"

_FALSE = sa.text("FALSE")
_MADE_BY_PEOPLE = sa.text("creator_id IS NOT NULL")
_UNPROVEN = sa.text("is_unproven")


def upgrade() -> None:
    op.add_column("topics", sa.Column("is_open", sa.Boolean(), nullable=False, server_default=_FALSE))
    op.add_column("topics", id_("creator_id", optional=True))
    op.create_index(
        "topics_creator",
        "topics",
        ["environment_id", "creator_id"],
        sqlite_where=_MADE_BY_PEOPLE,
        postgresql_where=_MADE_BY_PEOPLE,
    )
    op.add_column("subscribers", sa.Column("is_unproven", sa.Boolean(), nullable=False, server_default=_FALSE))
    op.create_index(
        "subscribers_unproven",
        "subscribers",
        ["environment_id"],
        sqlite_where=_UNPROVEN,
        postgresql_where=_UNPROVEN,
    )
