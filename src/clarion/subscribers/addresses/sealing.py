"""The sealed columns of connections, endpoints and webhooks: samples for the check of a start, and their rotation."""

from typing import Final

from msgspec import Struct

from clarion.db.port import Connection
from clarion.db.query import Query, sql
from clarion.vault import Envelope, Vault, sealing_key_id


class SealedColumn(Struct, frozen=True):
    """The queries about a column of envelopes."""

    find_other: Query
    """One whose key is not among the known ones."""
    list_of_other_keys: Query
    update: Query


def _queries(table: str, column: str) -> SealedColumn:
    # An envelope begins with "v1.", and its key id ends with a dot.
    key_id = f"substr(t.{column}, 4, {{position}}(substr(t.{column}, 4), '.') - 1)"
    return SealedColumn(
        find_other=sql(f"""
            SELECT t.environment_id, t.id, t.{column} AS sealed FROM {table} AS t
            WHERE NOT ({key_id} {{any:known}}) LIMIT 1
        """),
        list_of_other_keys=sql(f"""
            SELECT environment_id, id, {column} AS sealed FROM {table}
            WHERE substr({column}, 1, :prefix_length) <> :prefix
            ORDER BY environment_id, id LIMIT :limit {{for_update}}
        """),
        update=sql(f"UPDATE {table} SET {column} = :sealed WHERE environment_id = :environment_id AND id = :id"),
    )


SEALED_COLUMNS: Final = (
    _queries("channel_connections", "auth"),
    _queries("channel_endpoints", "endpoint"),
    _queries("telegram_webhooks", "secret"),
)


async def list_samples(db: Connection) -> list[Envelope]:
    """Return one secret of each table for each key; people have many addresses, so they are not all read."""
    samples = []
    for column in SEALED_COLUMNS:
        known = [""]
        while (row := await db.fetch_one(column.find_other, known=known)) is not None:
            samples.append(Envelope(row["sealed"], row["environment_id"] + row["id"]))
            known.append(sealing_key_id(row["sealed"]))
    return samples


async def reseal(db: Connection, column: SealedColumn, vault: Vault, *, limit: int) -> int:
    """Encrypt up to `limit` envelopes of other keys with the vault's current key; returns how many there were."""
    prefix = f"v1.{vault.writing_key_id}."
    rows = await db.fetch(column.list_of_other_keys, prefix=prefix, prefix_length=len(prefix), limit=limit)
    for row in rows:
        context = row["environment_id"] + row["id"]
        sealed = vault.seal(vault.open(row["sealed"], context=context), context=context)
        await db.execute(column.update, environment_id=row["environment_id"], id=row["id"], sealed=sealed)
    return len(rows)
