"""Triggers and the transaction keys that callers know them by."""

from collections.abc import Iterable, Sequence

from clarion.cache import CacheSlot
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, TransactionKey, TriggerId

LIST_TRIGGER_IDS = sql("""
    SELECT id FROM triggers WHERE environment_id = :environment_id AND transaction_key {any:transaction_keys}
""")
LIST_KEYS = sql("SELECT id, transaction_key FROM triggers WHERE environment_id = :environment_id AND id {any:ids}")

# The key of a trigger never changes.
_KEYS: CacheSlot[tuple[EnvironmentId, TriggerId], TransactionKey] = CacheSlot(limit=10_000)


async def list_trigger_ids(
    db: Connection, environment_id: EnvironmentId, transaction_keys: Sequence[str]
) -> list[TriggerId]:
    """List the triggers of these transactions; unknown keys are ignored."""
    rows = await db.fetch(LIST_TRIGGER_IDS, environment_id=environment_id, transaction_keys=list(transaction_keys))
    return [row["id"] for row in rows]


async def list_transaction_keys(
    db: Connection, environment_id: EnvironmentId, trigger_ids: Iterable[TriggerId]
) -> dict[TriggerId, TransactionKey]:
    """The keys of these triggers; unknown ones are left out."""
    cache = db.caches.of(_KEYS)
    found: dict[TriggerId, TransactionKey] = {}
    missing: list[TriggerId] = []
    for one in set(trigger_ids):
        key = cache.get((environment_id, one))
        if key is None:
            missing.append(one)
        else:
            found[one] = key
    if missing:
        for row in await db.fetch(LIST_KEYS, environment_id=environment_id, ids=missing):
            found[row["id"]] = row["transaction_key"]
            cache.put((environment_id, row["id"]), row["transaction_key"])
    return found
