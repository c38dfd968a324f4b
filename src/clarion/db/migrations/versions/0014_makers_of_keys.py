"""API keys know the member who made them: what reaches beyond their environment ends with the member's rights."""

from alembic import op

from clarion.db.schema.columns import id_

revision = "0014"
down_revision = "0013"
works_with = "0009"


def upgrade() -> None:
    op.add_column("api_keys", id_("created_by", optional=True))
