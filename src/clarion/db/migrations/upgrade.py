"""Runs migrations with Alembic, and generates the script that makes a new SQLite store from them (`make docs`).

Imported only when there are some to apply.
"""

import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import StaticPool

from clarion.db.migrations.online import LOCK_TIMEOUT, Steps, retry_while_locked, run_pending_steps, store_steps
from clarion.db.migrations.revisions import VERSIONS, list_known_revisions, works_with_text


def list_breaking(revision: str, missing: Sequence[str], versions: Path = VERSIONS) -> list[str]:
    """Those of the missing migrations that processes of a revision cannot work with."""
    works_with = _read_claims(versions)
    return [one for one in missing if one > revision and works_with.get(one, one) > revision]


def upgrade_sqlite(path: Path, versions: Path = VERSIONS) -> None:
    """Apply all migrations in one transaction."""
    with _sqlite_engine(path) as engine, engine.begin() as connection:
        _upgrade(connection, list_known_revisions(versions)[-1], None, versions)


async def upgrade_postgres(
    url: str, connection: Any, missing: Sequence[str], *, is_empty: bool, versions: Path = VERSIONS
) -> None:
    """Apply migrations one after the other, each in a short transaction with its long steps behind it.

    An empty database has no writers, and gets all of them in one transaction.
    """
    engine = create_async_engine("postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(url))

    async def apply(revision: str) -> None:
        steps: Steps | None = None if is_empty else []
        async with engine.begin() as transaction:
            if steps is not None:
                await transaction.execute(text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'"))
            await transaction.run_sync(_upgrade, revision, steps, versions)

    try:
        await run_pending_steps(connection)
        for revision in [missing[-1]] if is_empty else missing:
            await retry_while_locked(partial(apply, revision))
            await run_pending_steps(connection)
    finally:
        await engine.dispose()


def _upgrade(connection: Any, revision: str, steps: Steps | None, versions: Path) -> None:
    """Apply migrations up to a revision; long steps are done at once, or stored if there is a list for them."""
    config = _make_config(versions)
    config.attributes["connection"] = connection
    config.attributes["steps"] = steps
    script: list[str] | None = None if steps is None else []
    config.attributes["script"] = script
    if script is not None:
        # A migration that reads what it changed needs the statements before that.
        event.listen(connection, "before_cursor_execute", lambda *_: _run_script(connection, script))
    command.upgrade(config, revision)
    revisions = [known for known in list_known_revisions(versions) if known <= revision]
    note = f"UPDATE alembic_version SET works_with = '{works_with_text(revisions, _read_claims(versions))}'"
    if script is None:
        connection.exec_driver_sql(note)
    else:
        script += [*store_steps(steps or []), note]
        _run_script(connection, script)


def _run_script(connection: Any, script: list[str]) -> None:
    """Run the statements in one call of PostgreSQL."""
    if script:
        statements = ";\n".join(script)
        script.clear()
        connection.connection.dbapi_connection.run_async(lambda driver: driver.execute(statements))


def _read_claims(versions: Path) -> dict[str, str]:
    """What migrations say of older versions: `works_with`, by revision."""
    scripts = ScriptDirectory.from_config(_make_config(versions)).walk_revisions()
    return {one.revision: one.module.works_with for one in scripts if hasattr(one.module, "works_with")}


def _make_config(versions: Path) -> Config:
    config = Config()
    config.set_main_option("script_location", str(VERSIONS.parent))
    config.set_main_option("version_locations", str(versions))
    config.set_main_option("path_separator", "os")
    return config


def _connect_for_sqlalchemy(path: Path) -> sqlite3.Connection:
    """Connect with the driver of the standard library, because SQLAlchemy does not support apsw."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


@contextmanager
def _sqlite_engine(path: Path) -> Iterator[Any]:
    engine = create_engine("sqlite://", creator=lambda: _connect_for_sqlalchemy(path), poolclass=StaticPool)
    # sqlite3 does not open a transaction before DDL; without one a crash would leave half a migration.
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    try:
        yield engine
    finally:
        engine.dispose()


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
