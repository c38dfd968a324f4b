"""What is done with contexts where messages are triggered: they are stored, and their stored data is read."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from clarion.cache import CacheSlot
from clarion.clock import Millis
from clarion.contexts import store
from clarion.contexts.model import Context, ContextKey, Contexts
from clarion.db.port import Connection
from clarion.ids import ContextId, EnvironmentId
from clarion.jsontext import json_value
from clarion.triggers.model import Trigger

K = TypeVar("K")

ExistingContexts: TypeAlias = Mapping[ContextKey, Context | None]
"""None for one whose data was not read."""

_LONG_DATA: CacheSlot[ContextId, "_CachedData"] = CacheSlot(limit=100)
"""Of contexts whose data is not read with the others: at most 64 KB of JSON each."""


class _CachedData(Struct, frozen=True):
    updated_at: Millis
    data: dict[str, Any]


def list_keys(contexts: Contexts) -> list[ContextKey]:
    return [(kind, one["id"]) for kind, one in contexts.items()]


def list_unused_data(given: Contexts, existing: ExistingContexts) -> list[str]:
    """The types of contexts that are given with data, and exist with other data."""
    pairs = {kind: existing.get((kind, one["id"])) for kind, one in given.items() if "data" in one}
    return [kind for kind, stored in pairs.items() if stored is not None and stored.data != given[kind]["data"]]


def data_warning(kind: str) -> tuple[str, str]:
    """Where data of a context that exists stands in a request, and what becomes of it."""
    return f"context.{kind}.data", "is not used: the context exists with other data, which PATCH /v2/contexts changes"


async def find_existing(db: Connection, environment_id: EnvironmentId, given: Sequence[Contexts]) -> ExistingContexts:
    """Those of the contexts that exist; with their data, if data of them is given."""
    keys = [key for one in given for key in list_keys(one)]
    described = {(kind, one["id"]) for contexts in given for kind, one in contexts.items() if "data" in one}
    existing: dict[ContextKey, Context | None] = dict(await store.list_existing(db, environment_id, keys))
    wanted = sorted(described & existing.keys())
    return existing | await store.list_contexts(db, environment_id, wanted) if wanted else existing


async def insert_missing(
    db: Connection,
    environment_id: EnvironmentId,
    given: Iterable[Contexts],
    existing: ExistingContexts,
    now: Millis,
) -> None:
    """Store the contexts that do not exist, with the data of the first that gives any."""
    missing: dict[ContextKey, dict[str, Any]] = {}
    for contexts in given:
        for kind, context in contexts.items():
            key = (kind, context["id"])
            if key not in existing:
                missing[key] = missing.get(key) or context.get("data") or {}
    await store.insert_contexts(db, environment_id, missing.items(), now)


async def with_stored_data(
    db: Connection, environment_id: EnvironmentId, triggers: Mapping[K, Trigger]
) -> dict[K, Trigger]:
    """Return triggers whose contexts have the data that is stored, or that of the trigger where none is stored."""
    keys = {key for trigger in triggers.values() for key in list_keys(trigger.contexts or {})}
    if not keys:
        return dict(triggers)
    stored = await _read_data(db, environment_id, sorted(keys))
    return {name: _with_data(trigger, stored) for name, trigger in triggers.items()}


def _with_data(trigger: Trigger, stored: Mapping[ContextKey, dict[str, Any]]) -> Trigger:
    if trigger.contexts is None:
        return trigger
    contexts = {
        kind: {"id": context["id"], "data": stored.get((kind, context["id"]), context.get("data") or {})}
        for kind, context in trigger.contexts.items()
    }
    return replace(trigger, contexts=contexts)


async def _read_data(
    db: Connection, environment_id: EnvironmentId, keys: Sequence[ContextKey]
) -> dict[ContextKey, dict[str, Any]]:
    rows = await store.list_small_data(db, environment_id, keys)
    cache = db.caches.of(_LONG_DATA)
    data: dict[ContextKey, dict[str, Any]] = {}
    unknown = {}
    for key, row in rows.items():
        if row["data"] is not None:
            data[key] = json_value(row["data"])
            continue
        cached = cache.get(row["id"])
        if cached is not None and cached.updated_at == row["updated_at"]:
            data[key] = cached.data
        else:
            unknown[key] = row
    if unknown:
        read = await store.list_data(db, environment_id, [row["id"] for row in unknown.values()])
        for key, row in unknown.items():
            # Empty if it was deleted in between.
            data[key] = read.get(row["id"], {})
            cache.put(row["id"], _CachedData(row["updated_at"], data[key]))
    return data
