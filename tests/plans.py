"""How a database runs a statement: whether it walks an index, or reads and sorts whole tables."""

from typing import Any

from msgspec.structs import replace

from clarion.db.port import Connection, Database, Dialect
from clarion.db.query import Query, sql

# Tables of tests are small, and PostgreSQL would sort their rows instead of walking the index that has them in order.
AVOID_SORTS = sql("SET LOCAL enable_sort = off")


async def explain(database: Database, query: Query, **parameters: Any) -> str:
    """Return the plan of a statement, one node on a line."""

    async def work(db: Connection) -> str:
        if db.dialect is Dialect.POSTGRES:
            await db.execute(AVOID_SORTS)
        return await explain_as_is(db, query, **parameters)

    return await database.transaction(work)


async def explain_as_is(db: Connection, query: Query, **parameters: Any) -> str:
    """Return the plan that is made for tables as they are."""
    explained = replace(
        query, postgres=f"EXPLAIN {query.postgres}", sqlite=f"EXPLAIN QUERY PLAN {query.sqlite}", columns=[]
    )
    return "\n".join(str(list(row.values())[-1]) for row in await db.fetch(explained, **parameters))
