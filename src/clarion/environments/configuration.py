"""Caches of an environment's configuration that are never out of date, whichever process changes it.

Each change of integrations, webhook endpoints, workflows or the default time zone raises the environment's
`configuration_version` in its transaction. A unit of work reads the version in a statement that it runs anyway, and
uses a cached value only if that was loaded at the same version. A unit that changes the configuration must not use
these caches: it may be rolled back.
"""

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from msgspec import Struct

from clarion.cache import CacheSlot
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

CONFIGURATION_VERSION = "(SELECT configuration_version FROM environments WHERE id = :environment_id)"
"""SQL: select this in the statement that finds the work, so that no change goes unnoticed between the two."""

GET_VERSION = sql(f"SELECT {CONFIGURATION_VERSION} AS configuration_version")
RAISE_VERSION = sql("""
    UPDATE environments SET configuration_version = configuration_version + 1 WHERE id = :environment_id
""")


class Versioned(Struct, Generic[V], frozen=True):
    """A value, and the version of the configuration that it was loaded at."""

    version: int
    value: V


async def raise_configuration_version(db: Connection, environment_id: EnvironmentId) -> None:
    """Note a change of the configuration; further changes wait until this unit of work ends."""
    await db.execute(RAISE_VERSION, environment_id=environment_id)


async def get_configuration_version(db: Connection, environment_id: EnvironmentId) -> int:
    row = await db.fetch_one(GET_VERSION, environment_id=environment_id)
    version: int = 0 if row is None else row["configuration_version"]
    return version


async def get_or_load(
    db: Connection,
    slot: CacheSlot[K, Versioned[V]],
    key: K,
    version: int,
    load: Callable[[Connection, K], Awaitable[V]],
) -> V:
    """Return the cached value of an environment, or of something in it; load it if it is not of this version."""
    cache = db.caches.of(slot)
    cached = cache.get(key)
    if cached is None or cached.version != version:
        cached = Versioned(version, await load(db, key))
        cache.put(key, cached)
    return cached.value
