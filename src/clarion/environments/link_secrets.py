"""The secret of each environment that links to people are signed with; sealed, and never shown.

It is random and independent of the encryption keys, so that rotating those leaves all links valid.
"""

from collections.abc import Sequence

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.db.sealed import SealedColumn
from clarion.environments.configuration import raise_configuration_version
from clarion.ids import EnvironmentId, random_bytes
from clarion.vault import Vault

_BYTES = 32
_PURPOSE = b"links"

LIST_SECRETS = sql("""
    SELECT id, link_secret FROM environments
    WHERE id {any:ids} AND deleted_at IS NULL AND link_secret IS NOT NULL
""")
LIST_LACKING = sql("SELECT id FROM environments WHERE link_secret IS NULL AND deleted_at IS NULL ORDER BY id")
# Of two processes that make one at the same time, the first wins.
UPDATE_LACKING = sql("""
    UPDATE environments SET link_secret = :sealed WHERE id = :environment_id AND link_secret IS NULL
""")
SEALED = SealedColumn("environments", "link_secret", keys=("id",), purpose=_PURPOSE)
list_samples = SEALED.list_samples
reencrypt_link_secrets = SEALED.reencrypt


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


def _context(environment_id: EnvironmentId) -> bytes:
    return environment_id + _PURPOSE
