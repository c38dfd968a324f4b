"""The secret of each environment that links to people are signed with; sealed, and never shown.

It is random and independent of the encryption keys, so that rotating those leaves all links valid.
"""

from collections.abc import Sequence

from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.environments.configuration import raise_configuration_version
from clarion.ids import EnvironmentId, random_bytes
from clarion.vault import Envelope, Vault, oldest_by_key

_BYTES = 32
_RESEAL_BATCH = 200

LIST_SECRETS = sql("""
    SELECT id, link_secret FROM environments
    WHERE id {any:ids} AND deleted_at IS NULL AND link_secret IS NOT NULL
""")
LIST_LACKING = sql("SELECT id FROM environments WHERE link_secret IS NULL AND deleted_at IS NULL ORDER BY id")
# Of two processes that make one at the same time, the first wins.
UPDATE_LACKING = sql("""
    UPDATE environments SET link_secret = :sealed WHERE id = :environment_id AND link_secret IS NULL
""")
LIST_ENVELOPES = sql("SELECT id, link_secret FROM environments WHERE link_secret IS NOT NULL ORDER BY id")
LIST_ENVELOPES_OF_OTHER_KEYS = sql("""
    SELECT id, link_secret FROM environments
    WHERE link_secret IS NOT NULL AND substr(link_secret, 1, :prefix_length) <> :prefix
    ORDER BY id LIMIT :limit {for_update}
""")
UPDATE_ENVELOPE = sql("UPDATE environments SET link_secret = :sealed WHERE id = :environment_id")


def open_link_secret(sealed: str, environment_id: EnvironmentId, vault: Vault) -> bytes:
    return bytes.fromhex(vault.open(sealed, context=_context(environment_id)))


async def list_link_secrets(db: Connection, ids: Sequence[EnvironmentId], vault: Vault) -> dict[EnvironmentId, bytes]:
    """Return the secrets of the environments that exist."""
    rows = await db.fetch(LIST_SECRETS, ids=list(ids))
    return {row["id"]: open_link_secret(row["link_secret"], row["id"], vault) for row in rows}


async def insert_link_secret(db: Connection, environment_id: EnvironmentId, vault: Vault) -> None:
    """Give an environment a secret, unless it has one."""
    sealed = vault.seal(random_bytes(_BYTES).hex(), context=_context(environment_id))
    await db.execute(UPDATE_LACKING, environment_id=environment_id, sealed=sealed)


async def insert_missing_link_secrets(db: Connection, vault: Vault) -> None:
    """Give a secret to the environments that were made by a version without them."""
    for row in await db.fetch(LIST_LACKING):
        await insert_link_secret(db, row["id"], vault)
        await raise_configuration_version(db, row["id"])


async def list_samples(db: Connection) -> list[Envelope]:
    """Return one secret for each key that they are encrypted with."""
    rows = await db.fetch(LIST_ENVELOPES)
    return oldest_by_key(Envelope(row["link_secret"], _context(row["id"])) for row in rows)


async def reencrypt_link_secrets(database: Database, vault: Vault) -> int:
    """Encrypt with the vault's current key all secrets that use another; returns how many there were."""
    resealed = 0
    while batch := await database.transaction(lambda db: _reseal(db, vault)):
        resealed += batch
    return resealed


async def _reseal(db: Connection, vault: Vault) -> int:
    prefix = f"v1.{vault.writing_key_id}."
    rows = await db.fetch(LIST_ENVELOPES_OF_OTHER_KEYS, prefix=prefix, prefix_length=len(prefix), limit=_RESEAL_BATCH)
    for row in rows:
        context = _context(row["id"])
        sealed = vault.seal(vault.open(row["link_secret"], context=context), context=context)
        await db.execute(UPDATE_ENVELOPE, environment_id=row["id"], sealed=sealed)
    return len(rows)


def _context(environment_id: EnvironmentId) -> bytes:
    return environment_id + b"links"
