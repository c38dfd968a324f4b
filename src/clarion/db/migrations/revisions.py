"""Which schema a store has, and which versions of Clarion can work with it.

Beside the revision, a store has the oldest revision whose processes can go on: `works_with`. A migration that only adds
what older versions do not see says so with a line `works_with = "<revision>"`, so that processes of that version keep
serving while it runs and until they are replaced.
"""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw
from msgspec import Struct

from clarion.background import BackgroundService, ServiceName
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.errors import StoreNewer, StoreOutdated

VERSIONS = Path(__file__).parent / "versions"
"""The folder of the migrations. Functions take another one, so that tests can bring migrations of their own."""
PENDING_TABLE = "pending_migration_steps"
"""On PostgreSQL, while steps of a migration are left; see `db/migrations/online.py`."""

_TO = ".."
_READ = "SELECT * FROM alembic_version"
_WATCH_SECONDS = 2.0

READ_SCHEMA = sql(_READ)

log = logging.getLogger(__name__)


class Schema(Struct, frozen=True):
    """The schema of a store."""

    revision: str
    works_with: str | None = None
    """The oldest revision whose processes can work with it; None: only its own."""
    is_pending: bool = False
    """Whether steps of the last migration are left."""


def list_known_revisions(versions: Path = VERSIONS) -> list[str]:
    """The revisions of all migrations, oldest first."""
    return sorted(path.name.partition("_")[0] for path in versions.glob("[0-9]*.py"))


def list_missing(schema: Schema | None, store: str, versions: Path = VERSIONS) -> list[str]:
    """The migrations that a store lacks; raises for one whose schema this version cannot work with."""
    known = list_known_revisions(versions)
    if schema is None:
        return known
    require_released(schema, store, versions)
    if schema.revision not in known:
        require_compatible(schema, store)
        return []
    first = known.index(schema.revision) + (not schema.is_pending)
    return known[first:]


def require_released(schema: Schema, store: str, versions: Path = VERSIONS) -> None:
    """Raise if the schema is older than the first one that was released: no migration leads away from it."""
    first = list_known_revisions(versions)[0]
    if schema.revision < first:
        raise StoreOutdated(
            f"{store} has schema {schema.revision}, of a version before 0.1.0, which this version cannot migrate. "
            f"Begin with a new store, or migrate it to {first} with the last version before 0.1.0, and then start this "
            "one."
        )


def require_compatible(schema: Schema, store: str = "The store") -> None:
    """Raise if the schema is newer than this version, and changes what this version relies on."""
    latest = list_known_revisions()[-1]
    if schema.revision > latest and (schema.works_with is None or schema.works_with > latest):
        raise StoreNewer(
            f"{store} has schema {schema.revision}, newer than this Clarion, which knows up to {latest}. "
            "Install the newer version, or restore a backup made before the upgrade."
        )


def read_sqlite_schema(connection: apsw.Connection) -> Schema | None:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone():
        return None
    columns = [row[1] for row in connection.execute("PRAGMA table_info(alembic_version)")]
    row = connection.execute(_READ).fetchone()
    return None if row is None else schema_of(dict(zip(columns, row, strict=True)))


async def read_postgres_schema(connection: Any) -> Schema | None:
    if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
        return None
    row = await connection.fetchrow(_READ)
    is_pending = await connection.fetchval("SELECT to_regclass($1) IS NOT NULL", PENDING_TABLE)
    return None if row is None else schema_of(row, is_pending=is_pending)


def schema_of(row: Mapping[str, Any], *, is_pending: bool = False) -> Schema:
    oldest, _, latest = (row.get("works_with") or "").partition(_TO)
    # Written for another revision, it says nothing of this one.
    return Schema(row["version_num"], oldest if latest == row["version_num"] else None, is_pending)


def works_with_text(revisions: Sequence[str], works_with: Mapping[str, str]) -> str:
    """What a store with the last of the revisions says: the first and the last revision whose processes can go on."""
    return f"{oldest_compatible(revisions, works_with)}{_TO}{revisions[-1]}"


def oldest_compatible(revisions: Sequence[str], works_with: Mapping[str, str]) -> str:
    """The oldest of the revisions, oldest first, whose processes can work with the last one.

    `works_with` has the claims of migrations; one without a claim works with nothing older than itself.
    """
    return next(
        one for one in revisions if all(works_with.get(newer, newer) <= one for newer in revisions if newer > one)
    )


class SchemaWatch:
    """Ends a process whose store was migrated to a schema that it cannot work with."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen = list_known_revisions()[-1]

    def make_service(self) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.SCHEMA_WATCH,
            run_once=self._look,
            interval=_WATCH_SECONDS,
            is_due_at_start=False,
            ends_process=(StoreNewer, StoreOutdated),
        )

    async def _look(self) -> None:
        """Raises StoreNewer if this version cannot work with the schema; one that it can work with is logged once."""
        schema = await self._database.read(read_schema)
        if schema is not None and schema.revision != self._seen:
            require_compatible(schema)
            self._seen = schema.revision
            log.warning("Store was migrated; install the newer version here, too", extra={"schema": schema.revision})


async def read_schema(db: Connection) -> Schema | None:
    row = await db.fetch_one(READ_SCHEMA)
    return None if row is None else schema_of(row)
