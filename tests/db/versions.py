"""Migrations that tests bring: folders with the released migrations and some more."""

import shutil
from pathlib import Path

from clarion.db.migrations.revisions import VERSIONS, list_known_revisions

LATEST = list_known_revisions()[-1]
COMPATIBLE = 'works_with = "{before}"'

_HEAD = '''"""A migration of the tests."""

import sqlalchemy as sa
from alembic import op

from clarion.db.migrations.online import fill_column

revision = "{revision}"
down_revision = "{before}"
{claim}


def upgrade() -> None:
'''

ADD_COLUMN = """
    op.add_column("environments", sa.Column("motto", sa.Text(), nullable=True))
"""
FILL_AND_INDEX = """
    op.add_column("messages", sa.Column("length", sa.Integer(), nullable=True))
    fill_column("messages", "length", "length(content)")
    op.create_index("messages_length", "messages", ["environment_id", "length", "id"])
    op.drop_index("messages_trigger", "messages")
    op.create_index("messages_trigger", "messages", ["environment_id", "trigger_id", "id", "length"])
    op.drop_index("messages_channel", "messages")
"""
INDEX_CONTENT = """
    op.create_index("messages_content", "messages", ["environment_id", "content"])
"""


def make_versions(folder: Path, *bodies: str, claim: str = "", until: str = LATEST) -> Path:
    """A folder with the released migrations, and after them one for each body: 9001, 9002 and so on."""
    folder.mkdir(parents=True)
    for path in VERSIONS.glob("[0-9]*"):
        if path.name <= f"{until}_~":
            shutil.copy(path, folder)
    before = until
    for number, body in enumerate(bodies, 9001):
        values = {"revision": number, "before": before, "claim": claim.format(before=before)}
        (folder / f"{number}_of_tests.py").write_text(_HEAD.format(**values) + body)
        before = str(number)
    return folder
