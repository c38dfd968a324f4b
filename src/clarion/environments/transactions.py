"""Looks up triggers by the transaction keys that callers know them by."""

from collections.abc import Sequence

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, TriggerId

LIST_TRIGGER_IDS = sql("""
    SELECT id FROM triggers WHERE environment_id = :environment_id AND transaction_key {any:transaction_keys}
""")


async def list_trigger_ids(
    db: Connection, environment_id: EnvironmentId, transaction_keys: Sequence[str]
) -> list[TriggerId]:
    """List the triggers of these transactions; unknown keys are ignored."""
    rows = await db.fetch(LIST_TRIGGER_IDS, environment_id=environment_id, transaction_keys=list(transaction_keys))
    return [row["id"] for row in rows]
