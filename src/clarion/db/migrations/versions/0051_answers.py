"""Answers to questions of runs."""

import sqlalchemy as sa
from alembic import op

from clarion.db.schema.columns import Id

revision = "0051"
down_revision = "0050"
works_with = "0023"


def upgrade() -> None:
    op.create_table(
        "answers",
        sa.Column("environment_id", Id, primary_key=True),
        sa.Column("notification_id", Id, primary_key=True),
        sa.Column("step_id", Id, primary_key=True),
        sa.Column("subscriber_id", Id),
        sa.Column("choice", sa.Text, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("way", sa.Text, nullable=False),
        sa.Column("answered_at", sa.BigInteger, nullable=False),
    )
    op.create_index("answers_subscriber", "answers", ["environment_id", "subscriber_id", "notification_id", "step_id"])
