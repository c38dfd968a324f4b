"""Columns of sealed texts: samples of them for the check of a start, and their rotation."""

from clarion.db.port import Connection, Database, Row
from clarion.db.query import sql
from clarion.vault import Envelope, Vault, sealing_key_id

_BATCH = 100


class SealedColumn:
    """A column of envelopes, each bound to its row by the keys of that row and the purpose."""

    def __init__(
        self, table: str, column: str, *, keys: tuple[str, ...] = ("environment_id", "id"), purpose: bytes = b""
    ) -> None:
        self._keys = keys
        self._purpose = purpose
        names, row = ", ".join(keys), " AND ".join(f"{key} = :{key}" for key in keys)
        # An envelope begins with "v1.", and its key id ends with a dot.
        key_id = f"substr({column}, 4, {{position}}(substr({column}, 4), '.') - 1)"
        self._find_other = sql(f"""
            SELECT {names}, {column} AS sealed FROM {table} AS t WHERE NOT ({key_id} {{any:known}}) LIMIT 1
        """)
        self._list_of_other_keys = sql(f"""
            SELECT {names}, {column} AS sealed FROM {table} WHERE substr({column}, 1, :prefix_length) <> :prefix
            ORDER BY {names} LIMIT :limit {{for_update}}
        """)
        self._update = sql(f"UPDATE {table} SET {column} = :sealed WHERE {row}")

    async def list_samples(self, db: Connection) -> list[Envelope]:
        """Return one envelope for each key; there may be many rows, so they are not all read."""
        samples: list[Envelope] = []
        known = [""]
        while (row := await db.fetch_one(self._find_other, known=known)) is not None:
            samples.append(Envelope(row["sealed"], self._context(row)))
            known.append(sealing_key_id(row["sealed"]))
        return samples

    async def reencrypt(self, database: Database, vault: Vault) -> int:
        """Seal all envelopes of other keys with the vault's current key; returns how many there were."""
        resealed = 0
        while batch := await database.transaction(lambda db: self._reseal(db, vault)):
            resealed += batch
        return resealed

    async def _reseal(self, db: Connection, vault: Vault) -> int:
        prefix = f"v1.{vault.writing_key_id}."
        rows = await db.fetch(self._list_of_other_keys, prefix=prefix, prefix_length=len(prefix), limit=_BATCH)
        for row in rows:
            context = self._context(row)
            sealed = vault.seal(vault.open(row["sealed"], context=context), context=context)
            await db.execute(self._update, sealed=sealed, **{key: row[key] for key in self._keys})
        return len(rows)

    def _context(self, row: Row) -> bytes:
        return b"".join(row[key] for key in self._keys) + self._purpose
