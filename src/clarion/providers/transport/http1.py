"""Calls to providers over HTTP: guarded addresses, no redirects, bounded answers."""

import asyncio
import socket
from ipaddress import IPv6Address

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from clarion.clock import Clock
from clarion.providers.definition.answer import ProviderAnswer
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import FailureKind, SendFailure, ambiguous
from clarion.providers.transport.egress import Address, EgressGuard
from clarion.providers.transport.urls import MAX_ANSWER, Reroute, host_and_port, parse_url, read_patience


class WebClient:
    """One session for all providers: connections are kept and reused, cookies and proxies are not."""

    def __init__(self, egress: EgressGuard, *, seconds: float, clock: Clock, reroute: Reroute | None = None) -> None:
        self._egress = egress
        self._reroute = reroute
        self._seconds = seconds
        self._clock = clock
        self._session = aiohttp.ClientSession(
            # The engine bounds how much is under way; waiting for a connection here would count as a slow answer.
            connector=aiohttp.TCPConnector(resolver=_GuardedResolver(egress), limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=seconds),
            auto_decompress=False,
            skip_auto_headers=("Content-Type",),
            headers={"Accept-Encoding": "identity", "User-Agent": "Clarion"},
        )

    async def close(self) -> None:
        await self._session.close()

    async def call(self, call: ProviderCall) -> ProviderAnswer:
        """Make the call and read its answer, whatever its status but a redirect."""
        url = parse_url(call.url)
        try:
            answer = await self._exchange(url, call)
        except TimeoutError as error:
            message = f"{url.host} did not answer within {self._seconds:g} seconds"
            raise ambiguous(SendFailure(FailureKind.RETRYABLE, message)) from error
        except (aiohttp.ClientError, OSError) as error:
            raise _connection_failure(url, error) from error
        if 300 <= answer.status < 400:
            message = f"{url.host} answered with a redirect ({answer.status}), which is not followed"
            raise SendFailure(FailureKind.PERMANENT, message, raw={"status": answer.status})
        return answer

    async def check(self, text: str) -> None:
        """Refuse a URL that is none, or whose host is an address that nothing may be sent to."""
        await self._guard_address(parse_url(text))

    async def _exchange(self, url: URL, call: ProviderCall) -> ProviderAnswer:
        target, headers = url, dict(call.headers)
        if self._reroute is not None:
            target = self._reroute(url)
            headers["Host"] = host_and_port(url)
        await self._guard_address(target)
        async with self._session.request(
            call.method, target, data=call.content or None, headers=headers, allow_redirects=False
        ) as response:
            body = await _read_body(response.content)
            return ProviderAnswer(
                status=response.status,
                text=call.without_secrets(body),
                headers=response.headers,
                retry_after=read_patience(response.headers.get("Retry-After", ""), self._clock),
                received_at=self._clock.now(),
            )

    async def _guard_address(self, url: URL) -> None:
        if _is_address(url.host or ""):
            # The session resolves names only; an address would pass by the guard.
            await self._egress.resolve(url.host or "", url.port or 0)


class _GuardedResolver(AbstractResolver):
    """Gives the session addresses that were checked, so that it connects to these and no others."""

    def __init__(self, egress: EgressGuard) -> None:
        self._egress = egress

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = [_resolved(host, port, address) for address in await self._egress.resolve(host, port)]
        return [one for one in found if family in (socket.AF_UNSPEC, one["family"])]

    async def close(self) -> None:
        """Nothing is held."""


def _resolved(host: str, port: int, address: Address) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=str(address),
        port=port,
        family=socket.AF_INET6 if isinstance(address, IPv6Address) else socket.AF_INET,
        proto=socket.IPPROTO_TCP,
        flags=socket.AI_NUMERICHOST,
    )


def _is_address(host: str) -> bool:
    """Is this a number and no name? Too wide is harmless: what passes here is resolved and checked once more."""
    return ":" in host or host.rstrip(".").rpartition(".")[2][:1].isdigit()


async def _read_body(content: aiohttp.StreamReader) -> bytes:
    """At most the longest answer; the rest is not read, and the connection is not used again."""
    try:
        return await content.readexactly(MAX_ANSWER)
    except asyncio.IncompleteReadError as whole:
        return whole.partial


def _connection_failure(url: URL, error: Exception) -> SendFailure:
    if isinstance(error, aiohttp.InvalidURL):
        return SendFailure(FailureKind.PERMANENT, f"'{url.host}' is not a host that can be called")
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return SendFailure(FailureKind.PERMANENT, f"The certificate of {url.host} cannot be trusted")
    reason = error.strerror if isinstance(error, OSError) else None
    failure = SendFailure(FailureKind.RETRYABLE, f"The connection to {url.host} failed: {reason or 'it was closed'}")
    # What failed to connect has sent nothing; whatever broke later may have been read before.
    return failure if isinstance(error, aiohttp.ClientConnectorError) else ambiguous(failure)
