"""What is kept for accounts: their credentials, decoded once and not for every message, and their access tokens."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import astuple

from clarion.cache import BoundedCache
from clarion.clock import SECOND, Clock, Millis
from clarion.providers.definition.credentials import Credentials, read_credentials
from clarion.providers.definition.provider import SmtpProvider, TokenExchange
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import (
    FailureKind,
    ProviderAnswer,
    SendFailure,
    classify_status,
    read_error_text,
)
from clarion.providers.email.smtp_account import SmtpAccount
from clarion.providers.sending.redaction import SecretText, list_account_secrets
from clarion.secret import Secret

A = TypeVar("A", bound=Credentials)
V = TypeVar("V")
MAX_CACHED = 4096
_MAX_TOKENS = 1_024


class Accounts:
    """A cache by the identity of the credentials: a changed integration has new ones.

    It holds the credentials, so that no others get their identity.
    """

    def __init__(self) -> None:
        self._derived: BoundedCache[tuple[int, object], tuple[Mapping[str, Any], Any]] = BoundedCache(limit=MAX_CACHED)

    def read(self, kind: type[A], given: Mapping[str, Any]) -> A:
        """Decode credentials; raises SendFailure if some are missing or of the wrong type."""
        return self._get(given, kind, lambda: read_credentials(kind, given))

    def read_smtp(self, provider: SmtpProvider[A], given: Mapping[str, Any]) -> tuple[A, SmtpAccount]:
        """Decode credentials, and say how to reach their server; raises SendFailure."""
        account = self.read(provider.credentials, given)
        return account, self._get(given, SmtpAccount, lambda: provider.account(account))

    def list_secrets(self, given: Mapping[str, Any]) -> frozenset[SecretText]:
        return self._get(given, list_account_secrets, lambda: list_account_secrets(given))

    def _get(self, given: Mapping[str, Any], purpose: object, derive: Callable[[], V]) -> V:
        key = (id(given), purpose)
        cached = self._derived.get(key)
        if cached is None:
            cached = (given, derive())
            self._derived.put(key, cached)
        value: V = cached[1]
        return value


class _CachedToken(Struct, frozen=True):
    token: asyncio.Future[Secret]
    expires_at: Millis


class TokenCache:
    """The tokens of one process; concurrent requests for the same token share one exchange."""

    def __init__(self, call: Callable[[ProviderRequest], Awaitable[ProviderAnswer]], clock: Clock) -> None:
        self._call = call
        self._clock = clock
        self._cached: dict[Any, _CachedToken] = {}

    async def get_token(self, provider_id: str, exchange: TokenExchange[A], account: A) -> Secret:
        key = (provider_id, astuple(account))
        cached = self._cached.get(key)
        if cached is None or cached.expires_at <= self._clock.now():
            token: asyncio.Future[Secret] = asyncio.get_running_loop().create_future()
            # Retrieves the exception, which asyncio would report if nobody waits for the token.
            token.add_done_callback(lambda done: done.exception())
            self._store(key, _CachedToken(token, Millis(self._clock.now() + 30 * SECOND)))
            await self._exchange(key, exchange, account, token)
            return await token
        return await asyncio.shield(cached.token)

    def discard(self, provider_id: str, account: Credentials) -> None:
        """Drop a token that the provider no longer accepts."""
        self._cached.pop((provider_id, astuple(account)), None)

    async def _exchange(self, key: Any, exchange: TokenExchange[A], account: A, token: asyncio.Future[Secret]) -> None:
        try:
            answer = await self._call(exchange.request(account, self._clock.now()))
            secret, seconds = _read(exchange, account, answer)
        except BaseException as error:
            self._cached.pop(key, None)
            token.set_exception(error if isinstance(error, SendFailure) else _interrupted())
            raise
        token.set_result(secret)
        lifetime = max(seconds - exchange.margin_seconds, 1) * SECOND
        self._store(key, _CachedToken(token, Millis(self._clock.now() + lifetime)))

    def _store(self, key: Any, token: _CachedToken) -> None:
        self._cached.pop(key, None)
        self._cached[key] = token
        while len(self._cached) > _MAX_TOKENS:
            del self._cached[next(iter(self._cached))]


def _read(exchange: TokenExchange[A], account: A, answer: ProviderAnswer) -> tuple[Secret, int]:
    token = answer.value(exchange.path(account))
    if not answer.is_success or not isinstance(token, str) or not token:
        kind = FailureKind.PERMANENT if answer.is_success else classify_status(answer.status)
        message = f"No access token was given ({answer.status}): {_explain(answer)}"
        failure = SendFailure(kind, message, retry_after=answer.retry_after)
        failure.is_account_refused = kind is FailureKind.PERMANENT
        raise failure
    seconds = answer.value(exchange.lifetime)
    return Secret(token.strip()), int(seconds) if isinstance(seconds, int | float) else exchange.default_lifetime


def _explain(answer: ProviderAnswer) -> str:
    # The body is not quoted: it may hold a token under another name.
    return "the answer has none where it should be" if answer.is_success else read_error_text(answer)


def _interrupted() -> SendFailure:
    return SendFailure(FailureKind.RETRYABLE, "The exchange for an access token was interrupted")
