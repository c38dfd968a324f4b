"""From an Authorization header to the caller, mostly from memory."""

import hmac
from dataclasses import dataclass

from clarion.bus import Bus, Signal
from clarion.clock import SECOND, Clock, Millis
from clarion.db.port import Database
from clarion.environments import store
from clarion.environments.model import ApiKey, KeyHash, hash_key
from clarion.errors import Unauthenticated
from clarion.http.operation import Caller
from clarion.ids import ApiKeyId, EnvironmentId

KNOWN_FOR = Millis(2 * SECOND)
"""A key revoked by another process is refused here within this time."""

_MAX_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class _CachedKey:
    key: ApiKey
    caller: Caller
    until: Millis


class Authenticator:
    """Knows the keys of the last two seconds, and when each was last used."""

    def __init__(self, database: Database, clock: Clock, bus: Bus) -> None:
        self._database = database
        self._clock = clock
        self._known: dict[KeyHash, _CachedKey] = {}
        self._used: dict[tuple[EnvironmentId, ApiKeyId], Millis] = {}
        bus.listen(Signal.API_KEY_CHANGED, self._known.clear)

    async def __call__(self, header: str | None) -> Caller:
        key_hash = hash_key(_key_text(header))
        now = self._clock.now()
        known = self._known.get(key_hash)
        if known is None or known.until <= now:
            known = await self._look_up(key_hash, now)
        if not known.key.is_valid(now):
            raise Unauthenticated("The API key is revoked or expired; make a new one with 'clarion keys create'")
        self._used[known.key.environment_id, known.key.id] = now
        return known.caller

    async def record_use(self) -> None:
        """Write down when keys were last used; called now and then, so that requests do not pay for it."""
        used, self._used = self._used, {}
        if used:
            rows = [(environment_id, key_id, at) for (environment_id, key_id), at in used.items()]
            await self._database.transaction(lambda db: store.mark_api_keys_used(db, rows))

    async def _look_up(self, key_hash: KeyHash, now: Millis) -> _CachedKey:
        found = await self._database.read(lambda db: store.find_api_key_by_hash(db, key_hash))
        if found is None or not hmac.compare_digest(found[0].hash, key_hash):
            raise Unauthenticated("The API key is not known; check the value after 'Authorization: ApiKey'")
        key, organization_id = found
        caller = Caller(key.environment_id, organization_id, key.id, key.scopes)
        known = _CachedKey(key, caller, Millis(now + KNOWN_FOR))
        if len(self._known) >= _MAX_KNOWN:
            self._known.clear()
        self._known[key_hash] = known
        return known


def _key_text(header: str | None) -> str:
    if header is None:
        raise Unauthenticated("Missing authorization header; send 'Authorization: ApiKey <key>'")
    scheme, _, key = header.partition(" ")
    if scheme != "ApiKey":
        raise Unauthenticated("Unknown authorization scheme; send 'Authorization: ApiKey <key>'")
    if not key.strip():
        raise Unauthenticated("The API key is missing; send 'Authorization: ApiKey <key>'")
    return key.strip()
