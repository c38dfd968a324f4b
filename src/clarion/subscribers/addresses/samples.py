"""A secret of connections and endpoints for each encryption key: what a start is checked with."""

from clarion.db.port import Connection
from clarion.db.query import Query, sql
from clarion.vault import Envelope, sealing_key_id


def _find_other(table: str, column: str) -> Query:
    # An envelope begins with "v1.", and its key id ends with a dot.
    key_id = f"substr(t.{column}, 4, {{position}}(substr(t.{column}, 4), '.') - 1)"
    return sql(f"""
        SELECT t.environment_id, t.id, t.{column} AS sealed FROM {table} AS t
        WHERE NOT ({key_id} {{any:known}}) LIMIT 1
    """)


FIND_OTHER = (_find_other("channel_connections", "auth"), _find_other("channel_endpoints", "endpoint"))


async def list_samples(db: Connection) -> list[Envelope]:
    """Return one secret of each table for each key; people have many addresses, so they are not all read."""
    samples = []
    for query in FIND_OTHER:
        known = [""]
        while (row := await db.fetch_one(query, known=known)) is not None:
            samples.append(Envelope(row["sealed"], row["environment_id"] + row["id"]))
            known.append(sealing_key_id(row["sealed"]))
    return samples
