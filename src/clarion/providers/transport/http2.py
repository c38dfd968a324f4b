"""The HTTP/2 client, for providers that support nothing else: checked addresses, multiplexed connections."""

import asyncio
import logging
import ssl
from collections.abc import Callable, Iterable
from typing import Any

import httpcore2
from yarl import URL

from clarion.clock import Clock
from clarion.providers.definition.request import ProviderCall
from clarion.providers.definition.result import FailureKind, ProviderAnswer, SendFailure, mark_ambiguous
from clarion.providers.transport.calls import (
    MAX_ANSWER,
    RewriteUrl,
    check_headers,
    find_shortage,
    host_and_port,
    make_answer,
    parse_url,
)
from clarion.providers.transport.egress import EgressGuard

_IDLE_SECONDS = 600

# At debug level these log every header, including tokens.
for _name in ("hpack", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.INFO)


class Http2Client:
    """One pool for all providers, with a single connection per server for concurrent calls."""

    def __init__(
        self, egress: EgressGuard, *, seconds: float, clock: Clock, rewrite_url: RewriteUrl | None = None
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._rewrite_url = rewrite_url
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=ssl.create_default_context(),
            http1=False,
            http2=True,
            # No limit, because the engine has one, and calls to the same server share a connection.
            max_connections=None,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=_GuardedNetwork(egress),
        )

    async def close(self) -> None:
        await self._pool.aclose()

    async def call(self, call: ProviderCall) -> ProviderAnswer:
        check_headers(call.headers)
        url = parse_url(call.url)
        target, host = url, url.host or ""
        if self._rewrite_url is not None:
            target = self._rewrite_url(url)
        stream = _Stream(self._seconds, host, call.can_start)
        try:
            async with stream.timeout:
                return await self._exchange(str(target), host_and_port(url), call, stream)
        except TimeoutError as error:
            raise self._timeout_failure(target, host, stream) from error
        except httpcore2.ConnectError as error:
            failure = SendFailure(FailureKind.RETRYABLE, f"The connection to {host} failed")
            raise find_shortage(error) or failure from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, OSError) as error:
            raise mark_ambiguous(SendFailure(FailureKind.RETRYABLE, f"The connection to {host} was closed")) from error

    def _timeout_failure(self, target: URL, host: str, stream: "_Stream") -> SendFailure:
        failure = SendFailure(FailureKind.RETRYABLE, f"{host} did not answer within {self._seconds:g} seconds")
        if stream.is_open:
            return mark_ambiguous(failure)
        if self._is_connected(target):
            return SendFailure(FailureKind.NO_CONNECTION, f"All streams of the connection to {host} are in use")
        return failure

    def _is_connected(self, target: URL) -> bool:
        origin = httpcore2.URL(str(target)).origin
        return any(one.can_handle_request(origin) and one.is_connected() for one in self._pool.connections)

    async def _exchange(self, target: str, host: str, call: ProviderCall, stream: "_Stream") -> ProviderAnswer:
        headers = {"Host": host, "User-Agent": "Clarion", **call.headers}
        async with self._pool.stream(
            call.method,
            target,
            headers=[(name.encode(), value.encode()) for name, value in headers.items()],
            content=call.content,
            extensions={"trace": stream.trace},
        ) as answer:
            body = bytearray()
            async for chunk in answer.aiter_stream():
                body += chunk
                if len(body) >= MAX_ANSWER:
                    break
            named = {name.decode().lower(): value.decode("latin-1") for name, value in answer.headers}
            return make_answer(call, answer.status, named, bytes(body[:MAX_ANSWER]), self._clock)


class _Stream:
    """The stream of one call. The server limits how many are open; the timeout restarts when this one opens."""

    def __init__(self, seconds: float, host: str, can_start: Callable[[], bool]) -> None:
        self.timeout = asyncio.timeout(seconds)
        self.is_open = False
        self._seconds = seconds
        self._host = host
        self._can_start = can_start

    async def trace(self, event: str, _: Any) -> None:
        if event == "http2.send_request_headers.started":
            if not self._can_start():
                raise SendFailure(FailureKind.NO_CONNECTION, f"The connection to {self._host} was free too late")
            self.is_open = True
            self.timeout.reschedule(asyncio.get_running_loop().time() + self._seconds)


class _GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """Connects to checked addresses; the name is used only to verify the certificate."""

    def __init__(self, egress: EgressGuard) -> None:
        self._egress = egress
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 the signature of the base class
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        failed: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in await self._egress.resolve(host, port):
            try:
                return await self._network.connect_tcp(str(address), port, timeout, local_address, socket_options)
            except httpcore2.ConnectError as error:
                failed = error
        raise failed

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
