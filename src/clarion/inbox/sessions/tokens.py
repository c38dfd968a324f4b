"""Tokens of sessions, and the person whose session still holds.

Tokens are JSON Web Tokens that bind a subscriber to an environment, signed with keys from the vault.
"""

from typing import Protocol, TypeVar

import jwt
import msgspec
from msgspec import Struct

from clarion.cache import BoundedCache
from clarion.clock import DAY, SECOND, Clock, Millis
from clarion.db.query import sql
from clarion.errors import Unauthenticated
from clarion.http.caller import Caller, SubscriberSession
from clarion.http.operation import Call
from clarion.ids import ApiKeyId, EnvironmentId, OrganizationId, SubscriberId, find_id, id_text
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import COLUMNS, subscriber_of
from clarion.vault import Vault

LIFETIME = Millis(15 * DAY)
AUDIENCE = "clarion-inbox"
SCHEME = "Bearer"
"""Of the Authorization header."""

_ALGORITHM = "HS256"
_MAX_CACHED = 10_000
_NO_KEY = ApiKeyId(bytes(16))
SESSION_OVER = "This session is over; begin a new one with POST /v1/inbox/session"
SESSION_REFUSED = "The session token is not valid or has expired; begin a new session with POST /v1/inbox/session"

_FIND = f"""
    SELECT {COLUMNS}, (SELECT e.session_epoch FROM environments AS e WHERE e.id = t.environment_id) AS session_epoch
    FROM subscribers AS t WHERE t.environment_id = :environment_id AND t.id = :id
"""
FIND_SESSION_SUBSCRIBER = sql(_FIND)
FIND_SESSION_SUBSCRIBER_FOR_UPDATE = sql(f"{_FIND} {{for_update}}")


class _Claims(Struct, frozen=True, kw_only=True):
    aud: str
    iat: int
    exp: int
    sub: str
    """The id of the subscriber."""
    env: str
    org: str
    epoch: int
    ctx: tuple[str, ...] = ()
    proven: bool = False


class SessionTokens:
    """Issues and reads tokens. Every process of an installation has the same keys, because it has the same vault.

    Who valid tokens were issued to is cached: an open inbox sends the same token again and again.
    """

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._keys = vault.signing_keys(purpose=b"sessions")
        self._writing_key_id = vault.writing_key_id
        self._clock = clock
        self._read: BoundedCache[str, Caller] = BoundedCache(limit=_MAX_CACHED)

    def issue(
        self,
        session: SubscriberSession,
        environment_id: EnvironmentId,
        organization_id: OrganizationId,
        *,
        lifetime: Millis = LIFETIME,
    ) -> str:
        now = self._clock.now()
        claims = _Claims(
            aud=AUDIENCE,
            iat=now // SECOND,
            exp=(now + lifetime) // SECOND,
            sub=id_text(session.subscriber_id),
            env=id_text(environment_id),
            org=id_text(organization_id),
            epoch=session.epoch,
            ctx=session.context_keys,
            proven=session.is_proven,
        )
        key_id = self._writing_key_id
        return jwt.encode(msgspec.to_builtins(claims), self._keys[key_id], _ALGORITHM, headers={"kid": key_id})

    def read(self, token: str) -> Caller:
        """Who a token was issued to; raises Unauthenticated if it was not issued here or has expired."""
        caller = self._read.get(token)
        if caller is None:
            caller = self._verify(token)
            self._read.put(token, caller)
        if caller.expires_at is None or caller.expires_at <= self._clock.now():
            raise Unauthenticated(SESSION_REFUSED, scheme=SCHEME)
        return caller

    def _verify(self, token: str) -> Caller:
        try:
            key = self._keys[jwt.get_unverified_header(token)["kid"]]
            # The expiry is checked by the caller, by the clock of this installation.
            decoded = jwt.decode(
                token, key, [_ALGORITHM], audience=AUDIENCE, options={"verify_exp": False, "verify_iat": False}
            )
            claims = msgspec.convert(decoded, _Claims)
        except (jwt.InvalidTokenError, msgspec.ValidationError, KeyError, TypeError):
            raise Unauthenticated(SESSION_REFUSED, scheme=SCHEME) from None
        subscriber_id, environment_id, organization_id = find_id(claims.sub), find_id(claims.env), find_id(claims.org)
        if subscriber_id is None or environment_id is None or organization_id is None:
            raise Unauthenticated(SESSION_REFUSED, scheme=SCHEME)
        return Caller(
            EnvironmentId(environment_id),
            OrganizationId(organization_id),
            _NO_KEY,
            frozenset(),
            expires_at=Millis(claims.exp * SECOND),
            session=SubscriberSession(
                subscriber_id=SubscriberId(subscriber_id),
                epoch=claims.epoch,
                context_keys=claims.ctx,
                is_proven=claims.proven,
            ),
        )

    def authenticate(self, header: str | None) -> Caller:
        """Who sent an Authorization header."""
        scheme, _, token = (header or "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthenticated("Send the token of a session: 'Authorization: Bearer <token>'", scheme=SCHEME)
        return self.read(token.strip())


class ReadInEpoch(Protocol):
    @property
    def session_epoch(self) -> int:
        """Of the environment, when it was read."""


R = TypeVar("R", bound=ReadInEpoch)


async def get_session_subscriber(call: Call, *, for_update: bool = False) -> Subscriber:
    """The person whose session it is; raises Unauthenticated if they were deleted or all sessions were ended."""
    query = FIND_SESSION_SUBSCRIBER_FOR_UPDATE if for_update else FIND_SESSION_SUBSCRIBER
    row = await call.db.fetch_one(query, environment_id=call.environment_id, id=call.session.subscriber_id)
    if row is None or row["session_epoch"] != call.session.epoch:
        raise _session_over()
    return subscriber_of(row)


def require_session(session: SubscriberSession, answer: R | None) -> R:
    """Return what was read for a session; raises Unauthenticated as above, None says that the person was deleted."""
    if answer is None or answer.session_epoch != session.epoch:
        raise _session_over()
    return answer


def _session_over() -> Unauthenticated:
    return Unauthenticated(SESSION_OVER, scheme=SCHEME)
