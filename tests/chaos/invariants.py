"""Rules that hold in a store: some without pending work, whatever was killed before, and some always."""

from clarion.db.port import Connection
from clarion.environments.store import list_environments
from clarion.ids import EnvironmentId
from clarion.monitoring.doctor import consistency
from clarion.monitoring.doctor.consistency import REFERENCES, count_orphans


async def find_broken(db: Connection) -> dict[str, int]:
    """Return every broken rule with the number of violations; there must be no pending work."""
    found = await consistency.find_broken(db)
    for environment in await list_environments(db):
        found |= await find_orphans(db, environment.id)
    return found


async def find_orphans(db: Connection, environment_id: EnvironmentId) -> dict[str, int]:
    """Return how many rows refer to others that are gone; there may be pending work."""
    found = {}
    for one in REFERENCES:
        if count := await count_orphans(db, environment_id, one):
            found[f"{one.table}.{one.column}"] = count
    return found
