"""SQL of transactions that are sent again: they are not run, but noted with the trigger that was."""

from collections import Counter
from collections.abc import Sequence

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.triggers.model import Trigger

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
