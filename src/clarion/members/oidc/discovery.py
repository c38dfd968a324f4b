"""What an OpenID Connect provider publishes: its description and its keys, fetched seldom.

Anybody can begin to sign in, so that must not make calls to the provider: what it publishes is cached, a fetch is
shared by all who wait for it, and one that failed is not repeated at once.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Generic, TypeVar

import jwt
import msgspec
from msgspec import Struct

from clarion.clock import HOUR, MINUTE, SECOND, Clock, Millis
from clarion.members.oidc.problem import OidcProblem

if TYPE_CHECKING:
    from clarion.members.oidc.requests import OidcHttp

T = TypeVar("T")

CACHED_FOR = Millis(HOUR)
FAILURE_CACHED_FOR = Millis(10 * SECOND)
KEYS_FETCHED_EVERY = Millis(MINUTE)
"""A token with an unknown key makes the keys be fetched again, no more often than this."""
_DISCOVERY = "/.well-known/openid-configuration"


class ProviderMetadata(Struct, frozen=True):
    """The provider's description of itself, as far as it is used."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False
    """Whether the provider names itself in the address that it sends the browser to (RFC 9207)."""


class ProviderDiscovery:
    """Caches what one provider publishes."""

    def __init__(self, issuer: str, clock: Clock) -> None:
        self._issuer = issuer
        self._metadata = _SharedFetch(self._fetch_metadata, clock)
        self._keys = _SharedFetch(self._fetch_keys, clock)

    async def get_metadata(self) -> ProviderMetadata:
        return await self._metadata.get(CACHED_FOR)

    async def find_key(self, key_id: str | None) -> jwt.PyJWK:
        """Return the key that a token is signed with; raises OidcProblem if the provider does not publish it."""
        # The provider may have changed its keys since they were fetched.
        for max_age in (CACHED_FOR, KEYS_FETCHED_EVERY):
            for key in (await self._keys.get(max_age)).keys:
                if key_id is None or key.key_id == key_id:
                    return key
        raise OidcProblem("The provider's ID token is signed with a key that it does not publish")

    async def _fetch_metadata(self) -> ProviderMetadata:
        async with open_http() as http:
            description = await http.fetch(self._issuer.rstrip("/") + _DISCOVERY)
        try:
            metadata = msgspec.convert(description, ProviderMetadata)
        except msgspec.ValidationError as error:
            raise OidcProblem(f"The provider's description is not complete: {error}") from None
        if metadata.issuer.rstrip("/") != self._issuer.rstrip("/"):
            raise OidcProblem(f"The provider calls itself {metadata.issuer}, not {self._issuer}")
        return metadata

    async def _fetch_keys(self) -> jwt.PyJWKSet:
        metadata = await self.get_metadata()
        async with open_http() as http:
            keys = await http.fetch(metadata.jwks_uri)
        try:
            return jwt.PyJWKSet.from_dict(keys)
        except jwt.PyJWTError as error:
            raise OidcProblem(f"The provider's keys cannot be read: {error}") from None


class _SharedFetch(Generic[T]):
    """A value that is fetched once for all who want it at the same time."""

    def __init__(self, fetch: Callable[[], Awaitable[T]], clock: Clock) -> None:
        self._fetch = fetch
        self._clock = clock
        self._lock = asyncio.Lock()
        self._value: T | None = None
        self._problem: OidcProblem | None = None
        self._tried_at = Millis(0)

    async def get(self, max_age: Millis) -> T:
        """Return a value that is not older; raises OidcProblem if it cannot be fetched, or could not just now."""
        value = self._find(max_age)
        if value is not None:
            return value
        async with self._lock:
            # Another request may have fetched it, or failed to, while this one waited.
            value = self._find(max_age)
            if value is None:
                value = await self._try()
            return value

    def _find(self, max_age: Millis) -> T | None:
        age = self._clock.now() - self._tried_at
        if self._problem is not None and age < FAILURE_CACHED_FOR:
            raise OidcProblem(str(self._problem), self._problem.reason)
        return self._value if self._problem is None and age < max_age else None

    async def _try(self) -> T:
        try:
            self._value, self._problem = await self._fetch(), None
        except OidcProblem as problem:
            self._problem = problem
            raise
        finally:
            self._tried_at = self._clock.now()
        return self._value


def open_http() -> "AbstractAsyncContextManager[OidcHttp]":
    # Imported here, because few installations sign in with a provider.
    from clarion.members.oidc.requests import open_oidc_http  # noqa: PLC0415

    return open_oidc_http()
