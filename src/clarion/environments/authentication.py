"""Authenticates callers by their Authorization header, with a cache of API keys."""

import hmac

from msgspec import Struct

from clarion.bus import Bus, Signal
from clarion.cache import BoundedCache
from clarion.clock import SECOND, Clock, Millis
from clarion.db.port import Database
from clarion.environments import store
from clarion.environments.model import ApiKey, KeyHash, hash_key
from clarion.errors import Unauthenticated
from clarion.http.attempts import HashLookup
from clarion.http.caller import Caller
from clarion.ids import ApiKeyId, EnvironmentId, OrganizationId

CACHED_FOR = Millis(2 * SECOND)
"""How long this process may accept a key that another process has revoked."""

SLOW_LOOKUP_SECONDS = 0.1
"""How long unknown keys wait for their look-up if they come from an address that has failed too often."""

_MAX_CACHED = 10_000
_UNKNOWN = "The API key is not known; check the value after 'Authorization: ApiKey'"


class _CachedKey(Struct, frozen=True, kw_only=True):
    key: ApiKey
    caller: Caller
    until: Millis


def make_key_lookup(
    database: Database, *, pause_seconds: float = 0.0
) -> HashLookup[KeyHash, tuple[ApiKey, OrganizationId]]:
    return HashLookup(database, store.list_api_keys_by_hash, things="API keys", pause_seconds=pause_seconds)


class Authenticator:
    """Caches keys for two seconds, unknown ones too, and collects when each was last used."""

    def __init__(self, database: Database, clock: Clock, bus: Bus) -> None:
        self._database = database
        self._clock = clock
        self._cache: dict[KeyHash, _CachedKey] = {}
        self._used: dict[tuple[EnvironmentId, ApiKeyId], Millis] = {}
        self._lookup = make_key_lookup(database)
        self._slow_lookup = make_key_lookup(database, pause_seconds=SLOW_LOOKUP_SECONDS)
        self._known: BoundedCache[KeyHash, KeyHash] = BoundedCache(limit=_MAX_CACHED)
        """Keys that were valid once, which are never looked up slowly."""
        self._unknown: BoundedCache[KeyHash, Millis] = BoundedCache(limit=_MAX_CACHED)
        """Keys that are not in the store, until when this is assumed."""
        self._generation = 0
        """Raised when the caches are emptied: what was read from the store before is not put into them."""
        bus.listen(Signal.API_KEY_CHANGED, self._forget)
        # Keys that reach beyond their environment end with the rights of the owner who made them.
        bus.listen(Signal.MEMBERS_CHANGED, self._forget)

    async def __call__(self, header: str | None, *, is_suspect: bool = False) -> Caller:
        """Who sent the header; `is_suspect` if the address has failed too often."""
        key_hash = hash_key(_key_text(header))
        now = self._clock.now()
        cached = self._cache.get(key_hash)
        if cached is None or cached.until <= now:
            cached = await self._look_up(key_hash, now, is_suspect=is_suspect)
        if not cached.key.is_valid(now):
            raise Unauthenticated("The API key is revoked or expired; make a new one with 'clarion keys create'")
        self._used[cached.key.environment_id, cached.key.id] = now
        return cached.caller

    async def record_use(self) -> None:
        """Store when keys were last used; called periodically, so that requests do not write."""
        used, self._used = self._used, {}
        if used:
            rows = [(environment_id, key_id, at) for (environment_id, key_id), at in used.items()]
            await self._database.transaction(lambda db: store.mark_api_keys_used(db, rows))

    async def _look_up(self, key_hash: KeyHash, now: Millis, *, is_suspect: bool) -> _CachedKey:
        if (self._unknown.get(key_hash) or 0) > now:
            raise Unauthenticated(_UNKNOWN)
        generation = self._generation
        is_slow = is_suspect and self._known.get(key_hash) is None
        entry = await (self._slow_lookup if is_slow else self._lookup).find(key_hash)
        is_fresh = generation == self._generation
        if entry is None or not hmac.compare_digest(entry[0].hash, key_hash):
            if is_fresh:
                self._unknown.put(key_hash, Millis(now + CACHED_FOR))
            raise Unauthenticated(_UNKNOWN)
        self._known.put(key_hash, key_hash)
        key, organization_id = entry
        caller = Caller(key.environment_id, organization_id, key.id, key.scopes, key.expires_at, key.name)
        cached = _CachedKey(key=key, caller=caller, until=Millis(now + CACHED_FOR))
        if is_fresh:
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            self._cache[key_hash] = cached
        return cached

    def _forget(self) -> None:
        self._generation += 1
        self._cache.clear()
        self._unknown = BoundedCache(limit=_MAX_CACHED)


def _key_text(header: str | None) -> str:
    if header is None:
        raise Unauthenticated("Missing authorization header; send 'Authorization: ApiKey <key>'")
    scheme, _, key = header.partition(" ")
    if scheme != "ApiKey":
        raise Unauthenticated("Unknown authorization scheme; send 'Authorization: ApiKey <key>'")
    if not key.strip():
        raise Unauthenticated("The API key is missing; send 'Authorization: ApiKey <key>'")
    return key.strip()
