"""SQL of the transaction keys that callers know triggers by: which are whose, and which were sent again.

Transactions that are sent again are not run, but noted with the trigger that was.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from clarion.cache import CacheSlot
from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, TransactionKey, TriggerId
from clarion.triggers.model import Trigger

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
    keys: dict[TriggerId, TransactionKey] = {}
    missing: list[TriggerId] = []
    for trigger_id in set(trigger_ids):
        key = cache.get((environment_id, trigger_id))
        if key is None:
            missing.append(trigger_id)
        else:
            keys[trigger_id] = key
    if missing:
        for row in await db.fetch(LIST_KEYS, environment_id=environment_id, ids=missing):
            keys[row["id"]] = row["transaction_key"]
            cache.put((environment_id, row["id"]), row["transaction_key"])
    return keys


NOTE_REPEATS = sql("""
    UPDATE triggers SET repeats = COALESCE(repeats, 0) + :count, repeated_at = :now
    WHERE environment_id = :environment_id AND transaction_key = :transaction_key
""")


async def note_repeats(db: Connection, repeated: Sequence[Trigger], now: Millis) -> None:
    """Note triggers that were not stored with those that have their transactions."""
    counts = Counter((one.environment_id, one.transaction_key) for one in repeated)
    # In one order, so that two batches that repeat the same triggers do not wait for each other.
    rows = [
        {"environment_id": environment_id, "transaction_key": key, "count": count, "now": now}
        for (environment_id, key), count in sorted(counts.items())
    ]
    if rows:
        await db.execute_many(NOTE_REPEATS, rows)
