"""Generates the script that makes a new SQLite store from the migrations (`make docs`)."""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from clarion.db.migrations.upgrade import upgrade_sqlite

_HEAD = "-- Made by `make docs` from the migrations; a new store begins with it.\n"
# The tables of the text index come with it; those of SQLite itself cannot be made.
_LIST = """
    SELECT sql FROM sqlite_master
    WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite^_%' ESCAPE '^'
    AND NOT (type = 'table' AND name GLOB 'subscriber_search_*')
    ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 ELSE 2 END, name
"""


def render_sqlite_script() -> str:
    """The statements that lead to the same store as all migrations."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clarion.db"
        upgrade_sqlite(path)
        with closing(sqlite3.connect(path)) as connection:
            statements = [_tidy(row[0]) for row in connection.execute(_LIST)]
            version = connection.execute("SELECT version_num, works_with FROM alembic_version").fetchone()
    statements.append("INSERT INTO alembic_version (version_num, works_with) VALUES ('{}', '{}')".format(*version))
    return _HEAD + "".join(f"{one};\n" for one in statements)


def _tidy(statement: str) -> str:
    return "\n".join(line.rstrip() for line in statement.strip().splitlines())
