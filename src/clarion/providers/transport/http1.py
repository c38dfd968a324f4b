"""The HTTP/1.1 client: checked addresses, no redirects, size-limited answers."""

import asyncio
import socket
from collections.abc import Callable
from contextvars import ContextVar
from ipaddress import IPv6Address

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.connector import Connection
from yarl import URL

from clarion.clock import Clock
from clarion.providers.definition.answer import ProviderAnswer
from clarion.providers.definition.outgoing import always
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import FailureKind, SendFailure, mark_ambiguous
from clarion.providers.transport.egress import Address, EgressGuard
from clarion.providers.transport.shortage import find_shortage
from clarion.providers.transport.urls import MAX_ANSWER, RewriteUrl, host_and_port, parse_retry_after, parse_url

_can_start: ContextVar[Callable[[], bool]] = ContextVar("can_start", default=always)


class Http1Client:
    """One session for all providers; it reuses connections, and ignores cookies and proxies."""

    def __init__(
        self, egress: EgressGuard, *, seconds: float, clock: Clock, rewrite_url: RewriteUrl | None = None
    ) -> None:
        self._egress = egress
        self._rewrite_url = rewrite_url
        self._seconds = seconds
        self._clock = clock
        self._session = aiohttp.ClientSession(
            # No limit, because the engine has one. Waiting for a connection would count towards the timeout.
            connector=aiohttp.TCPConnector(resolver=_GuardedResolver(egress), limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=seconds),
            request_class=_StartedRequest,
            auto_decompress=False,
            skip_auto_headers=("Content-Type",),
            headers={"Accept-Encoding": "identity", "User-Agent": "Clarion"},
        )

    async def close(self) -> None:
        await self._session.close()

    async def call(self, call: ProviderCall) -> ProviderAnswer:
        """Make the call and return its answer with any status; raises SendFailure for a redirect or no answer."""
        url = parse_url(call.url)
        try:
            answer = await self._exchange(url, call)
        except TimeoutError as error:
            message = f"{url.host} did not answer within {self._seconds:g} seconds"
            raise mark_ambiguous(SendFailure(FailureKind.RETRYABLE, message)) from error
        except (aiohttp.ClientError, OSError) as error:
            raise find_shortage(error) or _connection_failure(url, error) from error
        if 300 <= answer.status < 400:
            message = f"{url.host} answered with a redirect ({answer.status}), which is not followed"
            raise SendFailure(FailureKind.PERMANENT, message, raw={"status": answer.status})
        return answer

    async def check(self, text: str) -> None:
        """Raise SendFailure if the URL is malformed, or its host is an address that is not allowed."""
        await self._guard_address(parse_url(text))

    async def _exchange(self, url: URL, call: ProviderCall) -> ProviderAnswer:
        target, headers = url, dict(call.headers)
        if self._rewrite_url is not None:
            target = self._rewrite_url(url)
            headers["Host"] = host_and_port(url)
        await self._guard_address(target)
        _can_start.set(call.can_start)
        async with self._session.request(
            call.method, target, data=call.content or None, headers=headers, allow_redirects=False
        ) as response:
            body = await _read_body(response.content)
            return ProviderAnswer(
                status=response.status,
                text=call.without_secrets(body),
                headers=response.headers,
                retry_after=parse_retry_after(response.headers.get("Retry-After", ""), self._clock),
                received_at=self._clock.now(),
            )

    async def _guard_address(self, url: URL) -> None:
        if _is_address(url.host or ""):
            # The session does not resolve literal addresses, so these would bypass the guard.
            await self._egress.resolve(url.host or "", url.port or 0)


class _StartedRequest(aiohttp.ClientRequest):
    """Asks whether it may still be sent when it has its connection: getting one may have taken long."""

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        if not _can_start.get()():
            raise SendFailure(FailureKind.NO_CONNECTION, f"The connection to {self.url.host} was free too late")
        return await super().send(conn)


class _GuardedResolver(AbstractResolver):
    """Resolves names through the egress guard, so that the session connects to checked addresses only."""

    def __init__(self, egress: EgressGuard) -> None:
        self._egress = egress

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = [_resolved(host, port, address) for address in await self._egress.resolve(host, port)]
        return [one for one in found if family in (socket.AF_UNSPEC, one["family"])]

    async def close(self) -> None:
        """Nothing to close."""


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
    """Return whether the host may be a literal address. False positives are harmless: they are checked once more."""
    return ":" in host or host.rstrip(".").rpartition(".")[2][:1].isdigit()


async def _read_body(content: aiohttp.StreamReader) -> bytes:
    """Read at most MAX_ANSWER bytes; the connection is not reused if there are more."""
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
    # A failed connect has sent nothing. After that, the provider may have read the request.
    return failure if isinstance(error, aiohttp.ClientConnectorError) else mark_ambiguous(failure)
