"""Access tokens: fetched once for all messages of an account, and again shortly before they expire."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from msgspec.structs import astuple

from clarion.clock import SECOND, Clock, Millis
from clarion.providers.definition.answer import ProviderAnswer
from clarion.providers.definition.credentials import Credentials
from clarion.providers.definition.failures import kind_of_status, sentence_of
from clarion.providers.definition.request import ProviderRequest
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.definition.token_exchange import TokenExchange
from clarion.secret import Secret

A = TypeVar("A", bound=Credentials)

_MARGIN = 60
_MAX_KEPT = 1_024


@dataclass(frozen=True, slots=True)
class _Kept:
    token: asyncio.Future[Secret]
    until: Millis


class TokenStore:
    """The tokens of one process; those who need the same one at the same time wait for a single exchange."""

    def __init__(self, call: Callable[[ProviderRequest], Awaitable[ProviderAnswer]], clock: Clock) -> None:
        self._call = call
        self._clock = clock
        self._kept: dict[Any, _Kept] = {}

    async def token_of(self, provider_id: str, exchange: TokenExchange[A], account: A) -> Secret:
        key = (provider_id, astuple(account))
        kept = self._kept.get(key)
        if kept is None or kept.until <= self._clock.now():
            token: asyncio.Future[Secret] = asyncio.get_running_loop().create_future()
            # Nobody may be waiting when it fails.
            token.add_done_callback(lambda done: done.exception())
            self._keep(key, _Kept(token, Millis(self._clock.now() + 30 * SECOND)))
            await self._exchange(key, exchange, account, token)
            return await token
        return await asyncio.shield(kept.token)

    def forget(self, provider_id: str, account: Credentials) -> None:
        """Of a token that the provider no longer takes."""
        self._kept.pop((provider_id, astuple(account)), None)

    async def _exchange(self, key: Any, exchange: TokenExchange[A], account: A, token: asyncio.Future[Secret]) -> None:
        try:
            answer = await self._call(exchange.request(account, self._clock.now()))
            found, seconds = _read(exchange, account, answer)
        except BaseException as error:
            self._kept.pop(key, None)
            token.set_exception(error if isinstance(error, SendFailure) else _interrupted())
            raise
        token.set_result(found)
        self._keep(key, _Kept(token, Millis(self._clock.now() + max(seconds - _MARGIN, 1) * SECOND)))

    def _keep(self, key: Any, kept: _Kept) -> None:
        self._kept.pop(key, None)
        self._kept[key] = kept
        while len(self._kept) > _MAX_KEPT:
            del self._kept[next(iter(self._kept))]


def _read(exchange: TokenExchange[A], account: A, answer: ProviderAnswer) -> tuple[Secret, int]:
    token = answer.value(exchange.path(account))
    if not answer.is_success or not isinstance(token, str) or not token:
        kind = FailureKind.PERMANENT if answer.is_success else kind_of_status(answer.status)
        message = f"No access token was given ({answer.status}): {_explain(answer)}"
        raise SendFailure(kind, message, retry_after=answer.retry_after)
    seconds = answer.value(exchange.lifetime)
    return Secret(token.strip()), int(seconds) if isinstance(seconds, int | float) else exchange.default_lifetime


def _explain(answer: ProviderAnswer) -> str:
    # A success without a token may hold one under another name.
    return "the answer has none where it should be" if answer.is_success else sentence_of(answer)


def _interrupted() -> SendFailure:
    return SendFailure(FailureKind.RETRYABLE, "The exchange for an access token was interrupted")
