"""Leases of work that one process at a time does, by its name."""

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql

CLAIM_LEASE = sql("""
    INSERT INTO leases (name, owner, until) VALUES (:name, :owner, :until)
    ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until
    WHERE leases.owner = excluded.owner OR leases.until <= :now
    RETURNING owner
""")
RELEASE_LEASE = sql("DELETE FROM leases WHERE name = :name AND owner = :owner")


async def claim_lease(db: Connection, name: str, owner: bytes, *, until: Millis, now: Millis) -> bool:
    """Take or renew a lease; False while another owner has it."""
    row = await db.fetch_one(CLAIM_LEASE, name=name, owner=owner, now=now, until=until)
    return row is not None


async def release_lease(db: Connection, name: str, owner: bytes) -> None:
    await db.execute(RELEASE_LEASE, name=name, owner=owner)
