"""Steps of migrations that would lock out writers: on PostgreSQL they run after the migration's transaction.

A migration changes tables in one short transaction. What takes long on a large table (building an index, filling a
column) is written into a table of pending steps by that transaction, and done afterwards, each step so that writers
go on: indexes are built concurrently, columns are filled in small batches. A migration that is interrupted goes on with
the steps that are left. New tables, empty databases and SQLite, whose file one process serves, do everything at once.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import asyncpg
from alembic import op
from alembic.ddl.postgresql import PostgresqlImpl
from sqlalchemy import Index, Table, TextClause, text
from sqlalchemy.schema import CreateIndex, DDLElement
from sqlalchemy.sql.dml import UpdateBase
from sqlalchemy.sql.elements import quoted_name
from sqlalchemy.util import immutabledict

from clarion.db.migrations.revisions import PENDING_TABLE
from clarion.errors import StoreUnavailable

_BATCH = 2_000
_PAUSE_SECONDS = 0.01
"""Between two batches: writers and the disk catch up."""

Steps = list[dict[str, str]]

_NO_PARAMETERS: immutabledict[str, Any] = immutabledict()
_SCRIPTABLE = (DDLElement, TextClause, UpdateBase)

T = TypeVar("T")

LOCK_TIMEOUT = "250ms"
"""While a statement waits for the lock of a table, everybody else waits behind it."""
_LOCK_PAUSE_SECONDS = 0.5
_MAX_LOCK_ATTEMPTS = 600


class OnlinePostgres(PostgresqlImpl):
    """Alembic's PostgreSQL, which postpones indexes of tables that may be large.

    The other statements are sent together at the end: from the first lock to the commit, nothing waits for Python.
    """

    __dialect__ = "postgresql"

    def _exec(
        self,
        construct: Any,
        execution_options: Any = None,
        multiparams: Any = None,
        params: Any = _NO_PARAMETERS,
    ) -> Any:
        """Collect statements without parameters in a script, if there is one."""
        script: list[str] | None = self.context_opts.get("script")
        statement = text(construct) if isinstance(construct, str) else construct
        if script is None or multiparams or params or not isinstance(statement, _SCRIPTABLE):
            return super()._exec(construct, execution_options, multiparams, params)
        literal = {} if isinstance(statement, DDLElement) else {"literal_binds": True}
        script.append(str(statement.compile(dialect=self.dialect, compile_kwargs=literal)))
        return None

    def create_table(self, table: Table, **options: Any) -> None:
        self.context_opts.setdefault("made_tables", set()).add(table.name)
        super().create_table(table, **options)

    def create_index(self, index: Index, **options: Any) -> None:
        steps = self.context_opts.get("steps")
        if steps is None or index.table is None or index.table.name in self.context_opts.get("made_tables", ()):
            super().create_index(index, **options)
            return
        name = str(index.name)
        index.name = quoted_name(f"{name}_new", quote=None)
        index.dialect_kwargs["postgresql_concurrently"] = True
        _add_index(steps, name, str(CreateIndex(index).compile(dialect=self.dialect)))

    def drop_index(self, index: Index, **options: Any) -> None:
        steps = self.context_opts.get("steps")
        if steps is None:
            super().drop_index(index, **options)
        else:
            steps.append({"kind": "drop", "name": str(index.name)})


def fill_column(table: str, column: str, value: str) -> None:
    """Set a new column of all rows where it is NULL; the table's key is (environment_id, id)."""
    steps = op.get_context().opts.get("steps")
    if steps is None:
        op.execute(f"UPDATE {table} SET {column} = {value} WHERE {column} IS NULL")
    else:
        steps.append({"kind": "fill", "table": table, "column": column, "value": value})


def _add_index(steps: Steps, name: str, statement: str) -> None:
    # Until the new index is complete, queries use the old one: it is dropped when the new one takes its name.
    steps[:] = [one for one in steps if one != {"kind": "drop", "name": name}]
    steps.append({"kind": "index", "name": name, "statement": statement})


def store_steps(steps: Steps) -> list[str]:
    """Statements that store the steps, for the transaction of the migration."""
    if not steps:
        return []
    create = f"CREATE TABLE {PENDING_TABLE} (number integer PRIMARY KEY, step text NOT NULL)"
    rows = ", ".join(f"({number}, {_literal(json.dumps(step))})" for number, step in enumerate(steps))
    return [create, f"INSERT INTO {PENDING_TABLE} (number, step) VALUES {rows}"]


async def run_pending_steps(connection: Any) -> None:
    """Do the steps that are left of a migration, each outside of transactions that would hold locks for long."""
    if await connection.fetchval("SELECT to_regclass($1)", PENDING_TABLE) is None:
        return
    for row in await connection.fetch(f"SELECT number, step FROM {PENDING_TABLE} ORDER BY number"):
        step = json.loads(row["step"])
        done = f"DELETE FROM {PENDING_TABLE} WHERE number = {row['number']}"
        await _RUNNERS[step["kind"]](connection, step, done)
    await connection.execute(f"DROP TABLE {PENDING_TABLE}")


async def _build_index(connection: Any, step: dict[str, str], done: str) -> None:
    name, new = step["name"], f"{step['name']}_new"
    # An interrupted build leaves an index that is not valid.
    await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {new}")
    await connection.execute(step["statement"])
    swap = f"DROP INDEX IF EXISTS {name}; ALTER INDEX {new} RENAME TO {name}; {done}"
    await retry_while_locked(lambda: _execute_together(connection, swap))


async def _drop_index(connection: Any, step: dict[str, str], done: str) -> None:
    await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {step['name']}")
    await connection.execute(done)


async def _fill_column(connection: Any, step: dict[str, str], done: str) -> None:
    """Walk through the table in the order of its key; each batch is a transaction of its own."""
    table, column, value = step["table"], step["column"], step["value"]
    last = await connection.prepare(f"""
        WITH batch AS (
            SELECT environment_id AS batch_environment, id AS batch_id FROM {table}
            WHERE (environment_id, id) > ($1, $2) ORDER BY environment_id, id LIMIT {_BATCH}
        ), filled AS (
            UPDATE {table} SET {column} = {value} FROM batch
            WHERE environment_id = batch_environment AND id = batch_id AND {column} IS NULL
        )
        SELECT batch_environment, batch_id FROM batch ORDER BY batch_environment DESC, batch_id DESC LIMIT 1
    """)
    position: Any = ("00000000-0000-0000-0000-000000000000",) * 2
    while position is not None:
        position = await _fill_batch(last, position)
        await asyncio.sleep(_PAUSE_SECONDS)
    await connection.execute(done)


async def _fill_batch(statement: Any, position: Any) -> Any:
    while True:
        try:
            return await statement.fetchrow(*position)
        except asyncpg.DeadlockDetectedError:
            # A writer changes the same rows in another order; the batch has changed nothing.
            await asyncio.sleep(_PAUSE_SECONDS)


async def _execute_together(connection: Any, statements: str) -> None:
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'; {statements}")


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_RUNNERS = {"index": _build_index, "drop": _drop_index, "fill": _fill_column}


async def retry_while_locked(work: Callable[[], Awaitable[T]]) -> T:
    """Try work that has a lock timeout again until it gets its locks."""
    for _ in range(_MAX_LOCK_ATTEMPTS):
        try:
            return await work()
        except Exception as error:
            if not _is_lock_timeout(error):
                raise
            await asyncio.sleep(_LOCK_PAUSE_SECONDS)
    raise StoreUnavailable(
        "A table stays locked, so that the migration cannot change it; look for long transactions in pg_stat_activity, "
        "and run `clarion migrate` again: it goes on where it stopped."
    )


def _is_lock_timeout(error: BaseException | None) -> bool:
    """Whether an error, or the one that it wraps, is a lock timeout; deadlocks are over when tried again, too."""
    while error is not None:
        if isinstance(error, asyncpg.LockNotAvailableError | asyncpg.DeadlockDetectedError):
            return True
        error = getattr(error, "orig", None) or error.__cause__
    return False
