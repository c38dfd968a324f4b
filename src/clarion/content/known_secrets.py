"""The secrets that signed links are checked with, found without the store for links that are used often.

Links that nobody signed cost no access to the store, but for the first look at an environment that they name. Who sends
many of them waits for that: environments are then looked up together, with a pause in between. No link that is signed
is refused, because many people may share one address, such as that of the image proxy of a mail program.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from clarion.cache import BoundedCache
from clarion.clock import MINUTE, SECOND, Millis
from clarion.content.links import LinkSecret, read_environment_id
from clarion.db.port import Connection, Database
from clarion.environments.link_secrets import list_link_secrets
from clarion.errors import StoreUnavailable
from clarion.http.attempts import AttemptLimit, HashLookup, LeakyCounters, network_of
from clarion.ids import EnvironmentId
from clarion.vault import Vault

MAX_TOKEN: Final = 4_000
MAX_SECRETS: Final = 10_000
SECRET_AGE: Final = 5 * MINUTE
"""Then a secret is read again, because its environment may be deleted."""
MAX_INVALID: Final = AttemptLimit(burst=60, every=SECOND)
"""Who sends more links that are not signed waits when they name an environment that was not seen yet."""
_PAUSE_SECONDS: Final = 0.05


class _KnownSecret(Struct, frozen=True):
    """A secret as it was read; None if there is no such environment."""

    secret: LinkSecret | None
    read_at: Millis


class LinkSecrets:
    """What one process knows about links: secrets of environments, and who sent links that nobody signed."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._vault = vault
        # Apart, so that made-up environments push no other out.
        self._known: BoundedCache[EnvironmentId, _KnownSecret] = BoundedCache(limit=MAX_SECRETS)
        self._unknown: BoundedCache[EnvironmentId, _KnownSecret] = BoundedCache(limit=MAX_SECRETS)
        self._failures = LeakyCounters()
        self._lookup = HashLookup(database, self._list_secrets, things="links")
        self._slow_lookup = HashLookup(database, self._list_secrets, things="links", pause_seconds=_PAUSE_SECONDS)

    async def find(self, token: str, address: str, now: Millis) -> LinkSecret | None:
        """Find what the token is signed with if it is genuine; None if it names no environment that exists."""
        environment_id = read_environment_id(token) if len(token) <= MAX_TOKEN else None
        if environment_id is None:
            return None
        known = self._known.get(environment_id) or self._unknown.get(environment_id)
        if known is not None and now - known.read_at < SECRET_AGE:
            return known.secret
        lookup = self._slow_lookup if known is None and self._is_suspect(address, now) else self._lookup
        try:
            secret = await lookup.find(environment_id)
        except StoreUnavailable:
            # Secrets never change, so links lead on without the store.
            if known is None:
                raise
            return known.secret
        was_known = self._known.get(environment_id) is not None
        cache = self._known if secret is not None or was_known else self._unknown
        cache.put(environment_id, _KnownSecret(secret, now))
        return secret

    def note_failure(self, address: str, now: Millis) -> None:
        """Note that the address sent a link that nobody signed."""
        self._failures.add(network_of(address), MAX_INVALID, now)

    def _is_suspect(self, address: str, now: Millis) -> bool:
        return self._failures.get_level(network_of(address), MAX_INVALID, now) + 1 > MAX_INVALID.burst

    async def _list_secrets(self, db: Connection, ids: Sequence[EnvironmentId]) -> dict[EnvironmentId, LinkSecret]:
        found = await list_link_secrets(db, ids, self._vault)
        return {environment_id: LinkSecret(environment_id, key) for environment_id, key in found.items()}
