"""SQL of the integrations that connections and endpoints belong to."""

from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import NotFound
from clarion.ids import EnvironmentId
from clarion.subscribers.addresses.model import AddressIntegration
from clarion.vocabulary import Channel

FIND_INTEGRATION = sql("""
    SELECT id AS integration_id, identifier AS integration_identifier, provider_id, channel FROM integrations
    WHERE environment_id = :environment_id AND identifier = :identifier AND deleted_at IS NULL
""")
LOCK_INTEGRATION = sql("""
    SELECT id AS integration_id, identifier AS integration_identifier, provider_id, channel FROM integrations
    WHERE environment_id = :environment_id AND identifier = :identifier AND deleted_at IS NULL {for_update}
""")


async def get_address_integration(
    db: Connection, environment_id: EnvironmentId, identifier: str, *, for_update: bool = False
) -> AddressIntegration:
    """Return a live integration; locked, it gets its connections one after the other, and is not deleted meanwhile."""
    query = LOCK_INTEGRATION if for_update else FIND_INTEGRATION
    row = await db.fetch_one(query, environment_id=environment_id, identifier=identifier)
    if row is None:
        raise NotFound("Integration", identifier)
    return integration_of_row(row)


def integration_of_row(row: Row) -> AddressIntegration:
    return AddressIntegration(
        id=row["integration_id"],
        identifier=row["integration_identifier"],
        provider_id=row["provider_id"],
        channel=Channel(row["channel"]),
    )
