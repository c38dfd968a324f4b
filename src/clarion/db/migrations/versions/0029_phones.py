"""An index of phone numbers, by which the senders of text messages are found."""

from alembic import op
from sqlalchemy import text

revision = "0029"
down_revision = "0028"
works_with = "0023"


def upgrade() -> None:
    op.create_index(
        "subscribers_phone",
        "subscribers",
        ["environment_id", "phone"],
        sqlite_where=text("phone IS NOT NULL"),
        postgresql_where=text("phone IS NOT NULL"),
    )
