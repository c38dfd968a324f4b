"""Variables that credentials of integrations refer to, and no text."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
works_with = "0023"


def upgrade() -> None:
    op.add_column("environment_variables", sa.Column("for_credentials", sa.Boolean))
