"""SQL of contexts."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from clarion.clock import Millis
from clarion.contexts.model import Context, ContextKey
from clarion.db.listing import Listing
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.errors import NotFound
from clarion.ids import ContextId, EnvironmentId, new_id
from clarion.jsontext import json_text, json_value

INLINE_DATA = 4_096
"""Longer data is read only where it is not cached."""

_COLUMNS = "t.environment_id, t.id, t.type, t.key, t.data, t.created_at, t.updated_at"
_OF_KEY = "t.environment_id = :environment_id AND t.type = :type AND t.key = :key"
# Types and keys are for the index; the names are exact, since no type has a colon.
_OF_KEYS = (
    "t.environment_id = :environment_id AND t.type {any:types} AND t.key {any:keys} "
    "AND t.type || ':' || t.key {any:names}"
)

CONTEXTS = Insert(
    "contexts",
    *("environment_id", "id", "type", "key", "data", "created_at", "updated_at"),
    on_conflict="ON CONFLICT (environment_id, type, key) DO NOTHING",
    types=("uuid", "uuid", "text", "text", "text", "bigint", "bigint"),
)
FIND_CONTEXT = sql(f"SELECT {_COLUMNS} FROM contexts AS t WHERE {_OF_KEY}")
LOCK_CONTEXT = sql(f"SELECT {_COLUMNS} FROM contexts AS t WHERE {_OF_KEY} {{for_update}}")
LIST_EXISTING = sql(f"SELECT t.type, t.key FROM contexts AS t WHERE {_OF_KEYS}")
LIST_CONTEXTS = sql(f"SELECT {_COLUMNS} FROM contexts AS t WHERE {_OF_KEYS}")
LIST_SMALL_DATA = sql(f"""
    SELECT t.type, t.key, t.id, t.updated_at, CASE WHEN length(t.data) <= :inline THEN t.data END AS data
    FROM contexts AS t WHERE {_OF_KEYS}
""")
LIST_DATA = sql("SELECT id, data FROM contexts WHERE environment_id = :environment_id AND id {any:ids}")
UPDATE_CONTEXT = sql("""
    UPDATE contexts SET data = :data, updated_at = :updated_at WHERE environment_id = :environment_id AND id = :id
""")
DELETE_CONTEXT = sql("DELETE FROM contexts WHERE environment_id = :environment_id AND id = :id")


async def insert_contexts(
    db: Connection, environment_id: EnvironmentId, contexts: Iterable[tuple[ContextKey, dict[str, Any]]], now: Millis
) -> int:
    """Insert those that do not exist, each with its data; returns how many."""
    # In one order, so that two units that make the same contexts do not wait for each other.
    rows = [
        (environment_id, new_id(now), kind, key, json_text(data), now, now)
        for (kind, key), data in sorted(contexts, key=lambda one: one[0])
    ]
    return await db.insert_many(CONTEXTS, rows) if rows else 0


async def get_context(
    db: Connection, environment_id: EnvironmentId, kind: str, key: str, *, for_update: bool = False
) -> Context:
    query = LOCK_CONTEXT if for_update else FIND_CONTEXT
    row = await db.fetch_one(query, environment_id=environment_id, type=kind, key=key)
    if row is None:
        raise NotFound("Context", f"{kind}:{key}")
    return context_of(row)


async def update_context(db: Connection, context: Context, data: dict[str, Any], now: Millis) -> Context:
    """Replace the data; the caller has locked the row. Each change has a later moment than the one before."""
    changed = replace(context, data=data, updated_at=Millis(max(now, context.updated_at + 1)))
    scope = {"environment_id": context.environment_id, "id": context.id}
    await db.execute(UPDATE_CONTEXT, **scope, data=json_text(data), updated_at=changed.updated_at)
    return changed


async def delete_context(db: Connection, context: Context) -> None:
    await db.execute(DELETE_CONTEXT, environment_id=context.environment_id, id=context.id)


async def list_existing(
    db: Connection, environment_id: EnvironmentId, keys: Sequence[ContextKey]
) -> dict[ContextKey, None]:
    """Those of the contexts that exist."""
    rows = await db.fetch(LIST_EXISTING, **_scope(environment_id, keys))
    return {(row["type"], row["key"]): None for row in rows}


async def list_contexts(
    db: Connection, environment_id: EnvironmentId, keys: Sequence[ContextKey]
) -> dict[ContextKey, Context]:
    """Those of the contexts that exist, with their data."""
    rows = await db.fetch(LIST_CONTEXTS, **_scope(environment_id, keys))
    return {(row["type"], row["key"]): context_of(row) for row in rows}


async def list_small_data(
    db: Connection, environment_id: EnvironmentId, keys: Sequence[ContextKey]
) -> dict[ContextKey, Row]:
    """Those of the contexts that exist: id, moment of the last change, and the data unless it is long."""
    rows = await db.fetch(LIST_SMALL_DATA, **_scope(environment_id, keys), inline=INLINE_DATA)
    return {(row["type"], row["key"]): row for row in rows}


async def list_data(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[ContextId]
) -> dict[ContextId, dict[str, Any]]:
    rows = await db.fetch(LIST_DATA, environment_id=environment_id, ids=list(ids))
    return {row["id"]: json_value(row["data"]) for row in rows}


def contexts_listing(
    environment_id: EnvironmentId, *, kind: str | None, key: str | None, search: str | None
) -> Listing:
    conditions = ["t.environment_id = :environment_id"]
    parameters: dict[str, Any] = {"environment_id": environment_id}
    if kind is not None:
        conditions.append("t.type = :type")
        parameters["type"] = kind
    if key is not None:
        conditions.append("t.key = :key")
        parameters["key"] = key
    if search:
        parameters["search"] = search.lower()
    return Listing(
        columns=_COLUMNS,
        source="contexts AS t",
        where=" AND ".join(conditions),
        parameters=parameters,
        unindexed="{position}(lower(t.type || ':' || t.key), :search) > 0" if search else None,
        weight="length(t.data)",
    )


def context_of(row: Row) -> Context:
    return Context(
        environment_id=row["environment_id"],
        id=row["id"],
        type=row["type"],
        key=row["key"],
        data=json_value(row["data"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _scope(environment_id: EnvironmentId, keys: Sequence[ContextKey]) -> dict[str, Any]:
    kinds, ids, names = ({kind for kind, _ in keys}, {key for _, key in keys}, {f"{kind}:{key}" for kind, key in keys})
    return {"environment_id": environment_id, "types": sorted(kinds), "keys": sorted(ids), "names": sorted(names)}
