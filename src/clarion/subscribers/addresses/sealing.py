"""The sealed columns of connections, endpoints and webhooks: samples for the check of a start, and their rotation."""

from typing import Final

from clarion.db.port import Connection, Database
from clarion.db.sealed import SealedColumn
from clarion.vault import Envelope, Vault

_COLUMNS: Final = (
    SealedColumn("channel_connections", "auth"),
    SealedColumn("channel_endpoints", "endpoint"),
    SealedColumn("telegram_webhooks", "secret"),
)


async def list_samples(db: Connection) -> list[Envelope]:
    """Return one secret of each table for each key."""
    return [envelope for column in _COLUMNS for envelope in await column.list_samples(db)]


async def reencrypt_addresses(database: Database, vault: Vault) -> int:
    """Encrypt with the vault's current key all secrets that use another; returns how many there were."""
    return sum([await column.reencrypt(database, vault) for column in _COLUMNS])
