"""The HTTP/1.1 client: checked addresses, no redirects, size-limited answers; it ignores cookies and proxies."""

import asyncio
import os
import socket
import ssl
from ipaddress import IPv6Address
from typing import NamedTuple

from aiohappyeyeballs import AddrInfoType, start_connection
from msgspec.structs import replace
from yarl import URL

from clarion.clock import Clock
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import FailureKind, ProviderAnswer, SendFailure, mark_ambiguous
from clarion.providers.transport.calls import (
    RewriteUrl,
    check_headers,
    find_shortage,
    host_and_port,
    make_answer,
    parse_url,
)
from clarion.providers.transport.egress import Address, EgressGuard
from clarion.providers.transport.http1_connection import BadAnswer, Http1Answer, Http1Connection

_DEFAULTS = {
    "accept": "Accept: */*",
    "accept-encoding": "Accept-Encoding: identity",
    "user-agent": "User-Agent: Clarion",
}
_IDLE_SECONDS = 15
_NAMES_CACHED_SECONDS = 10
_NEXT_ADDRESS_SECONDS = 0.25
"""After this time without a connection, the next address of the server is tried as well (RFC 8305)."""


class Origin(NamedTuple):
    """A server, as URLs name it."""

    is_encrypted: bool
    host: str
    port: int


class Http1Client:
    """One for all providers of a process."""

    def __init__(
        self, egress: EgressGuard, *, seconds: float, clock: Clock, rewrite_url: RewriteUrl | None = None
    ) -> None:
        self._egress = egress
        self._rewrite_url = rewrite_url
        self._seconds = seconds
        self._clock = clock
        self._pool = Http1Pool(egress)

    async def close(self) -> None:
        self._pool.close()

    async def call(self, call: ProviderCall) -> ProviderAnswer:
        """Make the call and return its answer with any status; raises SendFailure for a redirect or no answer."""
        url = parse_url(call.url)
        answer = await self._exchange(url, call)
        if 300 <= answer.status < 400:
            message = f"{url.host} answered with a redirect ({answer.status}), which is not followed"
            raise SendFailure(FailureKind.PERMANENT, message, raw={"status": answer.status})
        made = make_answer(call, answer.status, answer.headers, answer.content, self._clock)
        return replace(made, is_cut=True) if answer.is_cut else made

    async def check(self, text: str) -> None:
        """Raise SendFailure if the URL is malformed, or its host is an address that is not allowed."""
        url = parse_url(text)
        if _is_address(url.host or ""):
            await self._egress.resolve(url.host or "", url.port or 0)

    async def _exchange(self, url: URL, call: ProviderCall) -> Http1Answer:
        target = url if self._rewrite_url is None else self._rewrite_url(url)
        origin = Origin(target.scheme == "https", target.raw_host or "", target.port or 0)
        head = _write_head(call, target, host_and_port(url))
        is_sent, seconds = False, self._seconds if call.seconds is None else min(call.seconds, self._seconds)
        try:
            async with asyncio.timeout(seconds):
                connection = await self._pool.get(origin)
                # Getting the connection may have taken long.
                if not call.can_start():
                    self._pool.put_back(origin, connection)
                    raise SendFailure(FailureKind.NO_CONNECTION, f"The connection to {url.host} was free too late")
                is_sent = True
                answer = await connection.exchange(head, call.content)
        except TimeoutError as error:
            failure = SendFailure(FailureKind.RETRYABLE, f"{url.host} did not answer within {seconds:g} seconds")
            raise _mark_sent(failure, is_sent=is_sent) from error
        except (OSError, BadAnswer) as error:
            raise find_shortage(error) or _connection_failure(url, error, is_sent=is_sent) from error
        self._pool.put_back(origin, connection)
        return answer


class Http1Pool:
    """Connections that wait for the next call, by their server; without a limit, because the engine has one."""

    def __init__(self, egress: EgressGuard) -> None:
        self._egress = egress
        self._tls: ssl.SSLContext | None = None
        self._idle: dict[Origin, list[Http1Connection]] = {}
        self._look_ups: dict[Origin, asyncio.Task[list[Address]]] = {}
        self._sweep: asyncio.TimerHandle | None = None

    async def get(self, origin: Origin) -> Http1Connection:
        """Take a connection to the server, or open one; raises SendFailure, OSError or ssl.SSLError."""
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if connection.is_usable:
                return connection
        return await self._open(origin)

    def put_back(self, origin: Origin, connection: Http1Connection) -> None:
        """Keep a connection for another call, if it can have one."""
        if not connection.is_usable:
            return
        loop = asyncio.get_running_loop()
        connection.idle_since = loop.time()
        self._idle.setdefault(origin, []).append(connection)
        if self._sweep is None:
            self._sweep = loop.call_later(_IDLE_SECONDS, self._close_idle)

    def close(self) -> None:
        if self._sweep is not None:
            self._sweep.cancel()
        for connections in self._idle.values():
            for one in connections:
                one.abort()
        self._idle.clear()
        for look_up in self._look_ups.values():
            look_up.cancel()

    def _close_idle(self) -> None:
        """Close connections that were not used for a while, and schedule the next look."""
        loop = asyncio.get_running_loop()
        horizon = loop.time() - _IDLE_SECONDS
        for origin, connections in list(self._idle.items()):
            recent = [one for one in connections if one.is_usable and one.idle_since > horizon]
            for connection in connections:
                if connection.idle_since <= horizon:
                    connection.abort()
            if recent:
                self._idle[origin] = recent
            else:
                del self._idle[origin]
        self._sweep = loop.call_later(_IDLE_SECONDS, self._close_idle) if self._idle else None

    async def _open(self, origin: Origin) -> Http1Connection:
        loop = asyncio.get_running_loop()
        tls = await self._get_tls() if origin.is_encrypted else None
        addresses = [_address_info(one, origin.port) for one in await self._look_up(origin)]
        try:
            opened = await start_connection(addresses, happy_eyeballs_delay=_NEXT_ADDRESS_SECONDS)
        except RuntimeError as error:
            # Raised by uvloop for a connection that is closed while it is opened.
            raise ConnectionAbortedError from error
        try:
            # The name is used only to verify the certificate.
            _, connection = await loop.create_connection(
                Http1Connection,
                sock=opened,
                ssl=tls,
                server_hostname=origin.host.rstrip(".") if origin.is_encrypted else None,
            )
        except BaseException:
            opened.close()
            raise
        return connection

    async def _get_tls(self) -> ssl.SSLContext:
        if self._tls is None:
            # It reads all certificates of the system, which takes some time.
            self._tls = await asyncio.to_thread(_make_tls)
        return self._tls

    async def _look_up(self, origin: Origin) -> list[Address]:
        """The addresses of a server: looked up once for all connections that are opened within some seconds."""
        task = self._look_ups.get(origin)
        if task is None:
            loop = asyncio.get_running_loop()
            task = self._look_ups[origin] = loop.create_task(self._egress.resolve(origin.host, origin.port))
            task.add_done_callback(lambda done: self._forget_look_up(origin, done))
        # The others wait for it too, so it is not canceled with one of them.
        return await asyncio.shield(task)

    def _forget_look_up(self, origin: Origin, task: asyncio.Task[list[Address]]) -> None:
        if task.cancelled() or task.exception() is not None:
            del self._look_ups[origin]
        else:
            asyncio.get_running_loop().call_later(_NAMES_CACHED_SECONDS, self._look_ups.pop, origin)


def _write_head(call: ProviderCall, target: URL, host: str) -> bytes:
    check_headers(call.headers)
    lines = {"host": f"Host: {host}", **_DEFAULTS}
    for name, value in call.headers.items():
        lines[name.lower()] = f"{name}: {value}"
    if call.content or call.method != "GET":
        lines["content-length"] = f"Content-Length: {len(call.content)}"
    return "\r\n".join((f"{call.method} {target.raw_path_qs} HTTP/1.1", *lines.values(), "", "")).encode()


def _is_address(host: str) -> bool:
    """Return whether the host may be a literal address. False positives are harmless: they are checked once more."""
    return ":" in host or host.rstrip(".").rpartition(".")[2][:1].isdigit()


def _connection_failure(url: URL, error: Exception, *, is_sent: bool) -> SendFailure:
    if isinstance(error, ssl.SSLCertVerificationError):
        return SendFailure(FailureKind.PERMANENT, f"The certificate of {url.host} cannot be trusted")
    if isinstance(error, BadAnswer):
        message = f"{url.host} did not answer with HTTP: {error}"
    else:
        message = f"The connection to {url.host} failed: {_read_reason(error, is_sent=is_sent)}"
    return _mark_sent(SendFailure(FailureKind.RETRYABLE, message), is_sent=is_sent)


def _read_reason(error: Exception, *, is_sent: bool) -> str:
    """Say what is wrong with a connection, without its address, which the text of the error may contain."""
    if isinstance(error, ssl.SSLError):
        return f"TLS ({error.reason or 'no reason given'})"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    # Several addresses that fail differently have no common number.
    return "it was closed" if is_sent else "none of its addresses can be reached"


def _mark_sent(failure: SendFailure, *, is_sent: bool) -> SendFailure:
    """A failed connect has sent nothing. After that, the provider may have read the request."""
    return mark_ambiguous(failure) if is_sent else failure


def _make_tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _address_info(address: Address, port: int) -> AddrInfoType:
    if isinstance(address, IPv6Address):
        return (socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (str(address), port, 0, 0))
    return (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (str(address), port))
