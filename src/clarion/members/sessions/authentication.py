"""Authenticates members by the cookies of their sessions, with a cache of sessions."""

from collections.abc import Sequence

from msgspec import Struct

from clarion.bus import Bus, Signal
from clarion.cache import BoundedCache
from clarion.clock import MINUTE, SECOND, Clock, Millis
from clarion.db.port import Connection, Database
from clarion.environments.model import Environment
from clarion.environments.store import list_environments
from clarion.errors import Forbidden, Malformed, Unauthenticated
from clarion.http.attempts import HashLookup
from clarion.http.caller import Caller, CallingMember
from clarion.http.origins import ENVIRONMENT_HEADER, require_own_page
from clarion.http.static import Headers
from clarion.ids import ApiKeyId, EnvironmentId, find_id
from clarion.members import store
from clarion.members.model import SEEN_EVERY, Member, MemberSession, TokenHash, hash_token
from clarion.members.sessions.sign_in import find_token
from clarion.vocabulary import Scope

CACHED_FOR = Millis(2 * SECOND)
"""How long this process may accept a session that another process has ended."""

SLOW_LOOKUP_SECONDS = 0.1
_DELETE_EVERY = Millis(10 * MINUTE)
_MAX_CACHED = 10_000
_NOWHERE = EnvironmentId(bytes(16))
_NOT_SIGNED_IN = "You are not signed in, or your session has ended; sign in with POST /v1/auth/sign-in"
_WHICH_ENVIRONMENT = (
    "Send the header 'Clarion-Environment' with the id or the identifier of an environment; "
    "GET /v1/auth/me lists those that you can enter"
)


class _Entry(Struct, frozen=True, kw_only=True):
    session: MemberSession
    member: Member
    environments: tuple[Environment, ...]
    """Those that the member can enter."""
    access: dict[EnvironmentId, frozenset[Scope]]


class _CachedEntry(Struct, frozen=True, kw_only=True):
    entry: _Entry
    until: Millis


class SessionAuthenticator:
    """Caches sessions for two seconds, and collects when each was last used."""

    def __init__(self, database: Database, clock: Clock, bus: Bus) -> None:
        self._database = database
        self._clock = clock
        self._cache: dict[TokenHash, _CachedEntry] = {}
        self._generation = 0
        """Raised when the cache is emptied: what was read from the store before is not put into it."""
        self._seen: dict[TokenHash, Millis] = {}
        self._next_deletion = Millis(0)
        self._lookup = HashLookup(database, _find_entries, things="sessions")
        self._slow_lookup = HashLookup(database, _find_entries, things="sessions", pause_seconds=SLOW_LOOKUP_SECONDS)
        self._known: BoundedCache[TokenHash, TokenHash] = BoundedCache(limit=_MAX_CACHED)
        """Sessions that were valid once, which are never looked up slowly."""
        bus.listen(Signal.MEMBERS_CHANGED, self._forget)
        # Deleted environments end access as they end keys.
        bus.listen(Signal.API_KEY_CHANGED, self._forget)

    async def __call__(self, method: str, headers: Headers, /, *, in_environment: bool, is_suspect: bool) -> Caller:
        """Who sent the cookie; `is_suspect` if the address has failed too often."""
        token = find_token(headers)
        if token is None:
            raise Unauthenticated(_NOT_SIGNED_IN)
        require_own_page(method, headers)
        entry = await self._find(hash_token(token), is_suspect=is_suspect)
        return _make_caller(entry, _get_environment(entry, headers) if in_environment else None)

    async def record_use(self) -> None:
        """Store when sessions were last used, and delete old ones; called periodically, so that requests do not."""
        seen, self._seen = self._seen, {}
        now = self._clock.now()
        deletes = now >= self._next_deletion
        if not seen and not deletes:
            return

        async def write(db: Connection) -> None:
            await store.mark_sessions_seen(db, seen)
            if deletes:
                await store.delete_expired(db, now)

        await self._database.transaction(write)
        if deletes:
            self._next_deletion = Millis(now + _DELETE_EVERY)

    async def _find(self, token_hash: TokenHash, *, is_suspect: bool) -> _Entry:
        now = self._clock.now()
        cached = self._cache.get(token_hash)
        entry = cached.entry if cached is not None and cached.until > now else None
        if entry is None:
            entry = await self._look_up(token_hash, now, is_suspect=is_suspect)
        session = entry.session
        if session.is_over(now):
            raise Unauthenticated(_NOT_SIGNED_IN)
        if now - session.seen_at >= SEEN_EVERY:
            self._seen[token_hash] = now
        return entry

    async def _look_up(self, token_hash: TokenHash, now: Millis, *, is_suspect: bool) -> _Entry:
        generation = self._generation
        is_slow = is_suspect and self._known.get(token_hash) is None
        entry = await (self._slow_lookup if is_slow else self._lookup).find(token_hash)
        if entry is None:
            raise Unauthenticated(_NOT_SIGNED_IN)
        self._known.put(token_hash, token_hash)
        if generation == self._generation:
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            self._cache[token_hash] = _CachedEntry(entry=entry, until=Millis(now + CACHED_FOR))
        return entry

    def _forget(self) -> None:
        self._generation += 1
        self._cache.clear()


async def _find_entries(db: Connection, hashes: Sequence[TokenHash]) -> dict[TokenHash, _Entry]:
    sessions = await store.list_sessions_by_hash(db, hashes)
    organization_ids = {member.organization_id for _, member in sessions.values()}
    environments = {one: await list_environments(db, one) for one in organization_ids}
    return {
        token_hash: _make_entry(session, member, environments[member.organization_id])
        for token_hash, (session, member) in sessions.items()
    }


def _make_entry(session: MemberSession, member: Member, environments: Sequence[Environment]) -> _Entry:
    open_to = tuple(one for one in environments if member.role_in(one.id) is not None)
    access = {one.id: member.scopes_in(one.id) for one in open_to}
    return _Entry(session=session, member=member, environments=open_to, access=access)


def _get_environment(entry: _Entry, headers: Headers) -> EnvironmentId:
    name = headers.get(ENVIRONMENT_HEADER, b"").decode("latin-1").strip()
    if not name:
        raise Malformed(_WHICH_ENVIRONMENT)
    environment_id = find_id(name)
    for environment in entry.environments:
        if environment.id == environment_id or environment.identifier == name:
            return environment.id
    raise Forbidden(f"The environment '{name}' does not exist, or you have no access to it", ctx={"environment": name})


def _make_caller(entry: _Entry, environment_id: EnvironmentId | None) -> Caller:
    member = entry.member
    role = member.role if environment_id is None else member.role_in(environment_id)
    return Caller(
        environment_id or _NOWHERE,
        member.organization_id,
        ApiKeyId(member.id),
        frozenset() if environment_id is None else entry.access[environment_id],
        member=CallingMember(
            id=member.id,
            email=member.email,
            name=member.name,
            role=role or member.role,
            is_owner=member.is_owner,
            access=entry.access,
            session=entry.session.hash,
        ),
    )
