"""New tokens for connections whose access token has ended: one process fetches them for all that wait."""

import asyncio
import re
from functools import partial
from typing import Any

from msgspec import Struct

from clarion.clock import HOUR, SECOND, Clock, Millis, find_moment
from clarion.db.port import Connection, Database
from clarion.errors import Invalid
from clarion.ids import ConnectionId, EnvironmentId
from clarion.integrations.model import Integration
from clarion.providers.definition.receipts import Ask
from clarion.providers.definition.result import (
    FailureKind,
    ProviderAnswer,
    SendFailure,
    classify_status,
    refuse_account,
)
from clarion.subscribers.addresses.model import ConnectionTrouble
from clarion.subscribers.addresses.oauth import tokens
from clarion.subscribers.addresses.oauth.vendor import MOMENTS, ChatVendor, OAuthClient, read_auth
from clarion.subscribers.addresses.oauth.vendors import get_vendor
from clarion.subscribers.model import ExpiringToken
from clarion.vault import Vault

_MARGIN = 60 * SECOND
_LEASE = Millis(30 * SECOND)
"""Longer than the vendor may take, so that no two processes spend the same refresh token."""
_WAIT_SECONDS = 2
_NEXT_TRY = HOUR
"""How long a refusal is believed; the connection may have been repaired at the vendor."""
_CODE = re.compile(r"[\w.:-]{1,60}", re.ASCII)
_OF_CLIENT = frozenset(
    {"invalid_client", "invalid_client_id", "bad_client_secret", "unauthorized_client", "invalid_app_id"}
)
_TEMPORARY = frozenset(
    {
        *("ratelimited", "internal_error", "fatal_error", "request_timeout", "service_unavailable"),
        *("temporarily_unavailable", "server_error", "slow_down"),
    }
)


class TokenRenewer:
    """Renews the tokens of connections; one per process. Concurrent requests for the same token share one exchange."""

    def __init__(self, database: Database, vault: Vault, clock: Clock, ask: Ask) -> None:
        self._database = database
        self._vault = vault
        self._clock = clock
        self._ask = ask
        self._running: dict[ConnectionId, asyncio.Task[str]] = {}

    def is_due(self, token: ExpiringToken) -> bool:
        return token.expires_at <= self._clock.now() + _MARGIN

    async def get_token(self, token: ExpiringToken, account: Integration) -> str:
        """Return an access token that works; raises SendFailure."""
        task = self._running.get(token.connection_id)
        if task is None:
            task = asyncio.create_task(self._renew(token, account))
            self._running[token.connection_id] = task
            task.add_done_callback(partial(self._forget, token.connection_id))
        # Whoever stops waiting does not lose a refresh token that the vendor has rotated.
        return await asyncio.shield(task)

    async def finish(self) -> None:
        """Wait until what the vendors answer is stored."""
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    def _forget(self, connection_id: ConnectionId, task: asyncio.Task[str]) -> None:
        del self._running[connection_id]
        if not task.cancelled():
            # Retrieved, so that asyncio does not report it if nobody waits any more.
            task.exception()

    async def _renew(self, token: ExpiringToken, account: Integration) -> str:
        vendor, client = _get_vendor(account)
        claim = partial(self._claim, environment_id=token.environment_id, connection_id=token.connection_id)
        claimed = await self._database.transaction(claim)
        if claimed.access_token is not None:
            return claimed.access_token
        result = await self._fetch(vendor, client, claimed.refresh_token)
        stored = await self._database.transaction(partial(self._store, token=token, claimed=claimed, result=result))
        if isinstance(stored, SendFailure):
            raise stored
        return stored

    async def _claim(self, db: Connection, environment_id: EnvironmentId, connection_id: ConnectionId) -> "_Claimed":
        """Take the right to renew, unless somebody has done it, does it just now, or was refused lately."""
        now = self._clock.now()
        stored = await tokens.lock_tokens(db, environment_id, connection_id, self._vault)
        if stored is None:
            raise SendFailure(FailureKind.RECIPIENT_INVALID, "The connection was deleted: connect the workspace again")
        refresh_token, expires_at = stored.auth.get("refreshToken"), find_moment(stored.auth.get("expiresAt") or "")
        if refresh_token is None or expires_at is None or expires_at > now + _MARGIN:
            return _Claimed(access_token=stored.auth["accessToken"], refresh_token="")
        trouble = stored.trouble
        if trouble is not None and trouble.needs_consent and now < trouble.at + _NEXT_TRY:
            raise SendFailure(FailureKind.RECIPIENT_INVALID, trouble.message)
        if stored.renewing_until is not None and stored.renewing_until > now:
            message = "Another process fetches a new token for the connection"
            raise SendFailure(FailureKind.RATE_LIMITED, message, retry_after=_WAIT_SECONDS)
        await tokens.claim_renewal(db, environment_id, connection_id, until=Millis(now + _LEASE))
        return _Claimed(access_token=None, refresh_token=refresh_token)

    async def _fetch(self, vendor: ChatVendor, client: OAuthClient, refresh_token: str) -> "dict[str, str] | _Refused":
        if vendor.renewal_request is None:
            return _Refused(f"{vendor.name} renews no tokens", needs_consent=True)
        try:
            answer = await self._ask(vendor.renewal_request(client, refresh_token))
        except SendFailure as failure:
            # Another failure: whether it arrived says nothing of the message, which was not sent.
            kind = failure.kind if failure.kind is FailureKind.NO_CONNECTION else FailureKind.RETRYABLE
            return _Refused(f"{vendor.name} could not be asked for a new token", kind)
        return _read(vendor, answer, self._clock.now())

    async def _store(
        self, db: Connection, token: ExpiringToken, claimed: "_Claimed", result: "dict[str, str] | _Refused"
    ) -> str | SendFailure:
        """Store what the vendor answered, unless the connection got other tokens meanwhile."""
        stored = await tokens.lock_tokens(db, token.environment_id, token.connection_id, self._vault)
        if stored is None:
            return SendFailure(FailureKind.RECIPIENT_INVALID, "The connection was deleted: connect the workspace again")
        if stored.auth.get("refreshToken") != claimed.refresh_token:
            return stored.auth["accessToken"]
        now = self._clock.now()
        if isinstance(result, _Refused):
            await tokens.update_trouble(db, token.environment_id, token.connection_id, result.trouble(now))
            return result.failure()
        # Moments of the tokens before say nothing of the new ones.
        kept = {name: value for name, value in stored.auth.items() if name not in MOMENTS}
        auth = kept | result
        await tokens.update_tokens(db, token.environment_id, token.connection_id, (auth, now), self._vault)
        return auth["accessToken"]


class _Claimed(Struct, frozen=True, kw_only=True):
    access_token: str | None
    """One that works already."""
    refresh_token: str


class _Refused(Struct, frozen=True):
    """Why there are no new tokens."""

    message: str
    kind: FailureKind = FailureKind.RETRYABLE
    needs_consent: bool = False
    retry_after: int | None = None

    def trouble(self, now: Millis) -> ConnectionTrouble:
        return ConnectionTrouble(at=now, message=self.message, needs_consent=self.needs_consent)

    def failure(self) -> SendFailure:
        if self.kind is FailureKind.PERMANENT:
            return refuse_account(self.message)
        return SendFailure(self.kind, self.message, retry_after=self.retry_after)


def _get_vendor(account: Integration) -> tuple[ChatVendor, OAuthClient]:
    try:
        return get_vendor(account)
    except Invalid as problem:
        raise refuse_account(problem.message) from None


def _read(vendor: ChatVendor, answer: ProviderAnswer, now: Millis) -> dict[str, str] | _Refused:
    """The new tokens, or why there are none. Of the answer only a code is told: its text may have a token."""
    auth = read_auth(answer, now)
    if auth and answer.is_success and vendor.accepts_renewal(answer):
        return auth
    code = _find_code(answer.value("error"))
    told = f"{vendor.name} gave no new token ({code or answer.status})"
    if code in _TEMPORARY or (not answer.is_success and classify_status(answer.status) is not FailureKind.PERMANENT):
        kind = FailureKind.RATE_LIMITED if answer.retry_after is not None else FailureKind.RETRYABLE
        return _Refused(told, kind, retry_after=answer.retry_after)
    if code in _OF_CLIENT or answer.status == 401:
        return _Refused(f"{told}: check the clientId and secretKey of the integration", FailureKind.PERMANENT)
    if answer.is_success and code is None:
        return _Refused(told)
    message = f"The token of the connection has ended, and {told}: connect the workspace again"
    return _Refused(message, FailureKind.RECIPIENT_INVALID, needs_consent=True)


def _find_code(value: Any) -> str | None:
    return value if isinstance(value, str) and _CODE.fullmatch(value) else None
