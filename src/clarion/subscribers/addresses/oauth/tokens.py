"""SQL of the tokens of connections, which are renewed by one process at a time."""

import msgspec
from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import ConnectionId, EnvironmentId
from clarion.jsontext import json_text, json_value
from clarion.subscribers.addresses.model import ConnectionTrouble, read_trouble
from clarion.vault import Vault

LOCK_TOKENS = sql("""
    SELECT auth, trouble, renewing_until FROM channel_connections
    WHERE environment_id = :environment_id AND id = :id {for_update}
""")
CLAIM_RENEWAL = sql("""
    UPDATE channel_connections SET renewing_until = :until WHERE environment_id = :environment_id AND id = :id
""")
UPDATE_TOKENS = sql("""
    UPDATE channel_connections SET auth = :auth, trouble = NULL, renewing_until = NULL, updated_at = :now
    WHERE environment_id = :environment_id AND id = :id
""")
UPDATE_TROUBLE = sql("""
    UPDATE channel_connections SET trouble = :trouble, renewing_until = NULL
    WHERE environment_id = :environment_id AND id = :id
""")


class StoredTokens(Struct, frozen=True, kw_only=True):
    auth: dict[str, str]
    trouble: ConnectionTrouble | None
    renewing_until: Millis | None
    """Until when another process alone may renew them."""


async def lock_tokens(
    db: Connection, environment_id: EnvironmentId, connection_id: ConnectionId, vault: Vault
) -> StoredTokens | None:
    row = await db.fetch_one(LOCK_TOKENS, environment_id=environment_id, id=connection_id)
    if row is None:
        return None
    return StoredTokens(
        auth=json_value(vault.open(row["auth"], context=environment_id + connection_id)),
        trouble=read_trouble(row["trouble"]),
        renewing_until=row["renewing_until"],
    )


async def claim_renewal(
    db: Connection, environment_id: EnvironmentId, connection_id: ConnectionId, *, until: Millis
) -> None:
    await db.execute(CLAIM_RENEWAL, environment_id=environment_id, id=connection_id, until=until)


async def update_tokens(
    db: Connection,
    environment_id: EnvironmentId,
    connection_id: ConnectionId,
    renewed: tuple[dict[str, str], Millis],
    vault: Vault,
) -> None:
    auth, now = renewed
    sealed = vault.seal(json_text(auth), context=environment_id + connection_id)
    await db.execute(UPDATE_TOKENS, environment_id=environment_id, id=connection_id, auth=sealed, now=now)


async def update_trouble(
    db: Connection, environment_id: EnvironmentId, connection_id: ConnectionId, trouble: ConnectionTrouble
) -> None:
    text = msgspec.json.encode(trouble).decode()
    await db.execute(UPDATE_TROUBLE, environment_id=environment_id, id=connection_id, trouble=text)
