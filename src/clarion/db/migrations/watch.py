"""Ends a process whose store was migrated to a schema that it cannot work with."""

import asyncio
import logging

from clarion.db.migrations.revisions import Schema, list_known_revisions, require_compatible, schema_of
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.errors import StoreUnavailable

_SECONDS = 2.0

READ_SCHEMA = sql("SELECT * FROM alembic_version")

log = logging.getLogger(__name__)


async def watch_schema(database: Database, *, seconds: float = _SECONDS) -> None:
    """Look at the schema now and then until cancelled; raises StoreNewer if this version cannot work with it.

    A newer schema that this version can work with is logged once.
    """
    seen = list_known_revisions()[-1]
    while True:
        await asyncio.sleep(seconds)
        try:
            schema = await database.read(read_schema)
        except StoreUnavailable:
            continue  # the next look is soon enough
        if schema is not None and schema.revision != seen:
            require_compatible(schema)
            seen = schema.revision
            log.warning("Store was migrated; install the newer version here, too", extra={"schema": schema.revision})


async def read_schema(db: Connection) -> Schema | None:
    row = await db.fetch_one(READ_SCHEMA)
    return None if row is None else schema_of(row)
