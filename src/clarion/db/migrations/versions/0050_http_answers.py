"""Answers to HTTP steps that all runs of a trigger share."""

import sqlalchemy as sa
from alembic import op

from clarion.db.schema.columns import Id

revision = "0050"
down_revision = "0049"
works_with = "0023"


def upgrade() -> None:
    op.create_table(
        "http_answers",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("trigger_id", Id, primary_key=True),
        sa.Column("step_id", Id, primary_key=True),
        sa.Column("request_id", Id, nullable=False),
        sa.Column("job_id", Id, nullable=False),
        sa.Column("wake_at", sa.BigInteger, nullable=False),
        sa.Column("outcome", sa.Text),
        sa.Column("outputs", sa.Text),
        sqlite_with_rowid=False,
    )
