"""The HTTP protocol of uvicorn with limits: the size of heads, time-outs, and the number of connections."""

import asyncio
from enum import Enum, auto
from http import HTTPStatus
from typing import Any, cast

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from clarion.http.errors import refusal_body
from clarion.http.responses import send_response
from clarion.http.server.connections import (
    MAX_PARSED_BYTES,
    NEVER,
    RESERVED_CONNECTIONS,
    ConnectionTable,
    PipelineFlow,
    Upgrader,
    UpgradeRefusal,
    UpgradeRequest,
)
from clarion.http.static import PROTECTION, HeaderList

MAX_HEADERS = 100
MAX_HEAD_BYTES = 32 * 1024
MIN_BYTES_PER_SECOND = 8 * 1024
HEALTH_PATHS = frozenset({"/v1/health-check", "/live", "/ready"})
"""Paths that are served beyond the limit of connections."""
# A client that still sends gets to read its answer only if the server reads on for a while.
_LINGER_SECONDS = 3
_MIN_WAIT_SECONDS = 1
_MIN_BODY_SECONDS = 5

_HEAD_TOO_LARGE = (
    f"The head of the request has more than {MAX_HEADERS} headers or {MAX_HEAD_BYTES} bytes; send fewer or shorter ones"
)
_HEAD_TOO_SLOW = "The head of the request did not arrive in time; send it again"
_BODY_TOO_SHORT = "The body of the request ended early; send it again"
_BODY_TOO_SLOW = "The body of the request did not arrive in time; send it again"
_BUSY = "The service has too many connections; try again"


class _Phase(Enum):
    """What of a request is being read."""

    WAITING = auto()
    """Nothing: the last request is answered, or there was none."""
    HEAD = auto()
    BODY = auto()
    RUNNING = auto()
    """Nothing: the request is complete and being worked on."""
    ENDING = auto()
    """What the client still sends, to be thrown away."""


class LimitedProtocol(HttpToolsProtocol):
    """One connection. It has a deadline, which the table of connections checks; no timers of its own."""

    def __init__(self, *, table: ConnectionTable, upgrader: Upgrader | None = None, **arguments: Any) -> None:
        super().__init__(**arguments)
        # Its lines have the query, where requests for sockets have a token.
        self.access_log = False
        self._table = table
        self._upgrader = upgrader
        self._limits = table.limits
        self._phase = _Phase.WAITING
        self._head_bytes = 0
        self._body_bytes = 0
        self._began = 0
        self._unsent_bytes = 0
        self._is_half_closed = False
        self._unparsed = memoryview(b"")
        """What was received behind requests that wait for the response to an earlier one."""
        self.deadline = NEVER

    # Called by the transport

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = PipelineFlow(transport, self.pipeline)
        self._begin(self._limits.header_seconds)
        self._table.add(self)
        excess = self._table.excess
        if excess:
            self.app = self._serve_health
        if excess > RESERVED_CONNECTIONS:
            self._table.refused_count += 1
            self.transport.write(self._render(503, _BUSY))
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._table.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if len(data) <= MAX_PARSED_BYTES and not self.pipeline:
            self._parse(data)
        else:
            self._unparsed = memoryview(bytes(self._unparsed) + data if self._unparsed else data)
            self._parse_further()

    def _parse_further(self) -> None:
        """Parse what was received until a request has to wait for the response to an earlier one."""
        while self._unparsed and not self.pipeline and not self.transport.is_closing():
            part, self._unparsed = self._unparsed[:MAX_PARSED_BYTES], self._unparsed[MAX_PARSED_BYTES:]
            self._parse(part)

    def _parse(self, data: bytes | memoryview) -> None:
        size = len(data)
        if self._phase is _Phase.WAITING:
            self._head_bytes = size
        elif self._phase is _Phase.HEAD:
            self._head_bytes += size
        elif self._phase is _Phase.BODY:
            self._body_bytes += size
        elif self._phase is _Phase.ENDING:
            return
        super().data_received(cast("bytes", data))
        if self._phase is _Phase.HEAD and self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(431, _HEAD_TOO_LARGE)

    def eof_received(self) -> bool:  # type: ignore[override]
        """The client sends no more; returns whether the connection stays open, for a response that it may wait for."""
        if self._phase is _Phase.BODY:
            self._refuse(400, _BODY_TOO_SHORT)
        self._is_half_closed = self._phase is _Phase.RUNNING
        return self._is_half_closed

    # Called by the parser

    def on_message_begin(self) -> None:
        self._phase = _Phase.HEAD
        self._begin(self._limits.header_seconds)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        if self._is_head_too_large():
            # The parser stops, and `send_400_response` is called.
            raise ValueError(_HEAD_TOO_LARGE)
        super().on_headers_complete()
        self._phase = _Phase.BODY
        self._body_bytes = 0
        self._begin(self._limits.body_seconds)

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade() and self._should_upgrade():
            return
        super().on_message_complete()
        # In the data that is being parsed, the next head begins at an unknown place.
        self._head_bytes = 0
        if self.cycle.response_complete:
            self._wait()
        else:
            self._phase = _Phase.RUNNING
            self._expire_after(self._limits.body_seconds)

    # Called by the base class

    def on_response_complete(self) -> None:
        """As in the base class, without its timer for each response."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        if self.pipeline:
            cycle, app = self.pipeline.pop()
            self._start_asgi_task(cycle, app)
            self._parse_further()
        elif self._phase is _Phase.RUNNING:
            self._wait()
            if self._is_half_closed:
                self.transport.close()
        self.flow.resume_reading()

    def _should_upgrade(self) -> bool:
        """Whether the request that was just read is for another protocol; all others are served as HTTP."""
        return (
            self._upgrader is not None
            and self.url.partition(b"?")[0] in self._upgrader.paths
            and self._get_upgrade() == b"websocket"
        )

    def _unsupported_upgrade_warning(self) -> None:
        """Without the warnings of the base class: such a request is served as HTTP."""

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over, or refuse to. Beyond the limit of connections there are no new sockets either."""
        if self._is_response_open():
            self.transport.close()
            return
        answer = UpgradeRefusal(503, _BUSY) if self._table.excess else self._find_successor()
        if isinstance(answer, UpgradeRefusal):
            self._end_with(answer.status, answer.message)
            return
        self._table.discard(self)
        self.connections.discard(self)
        self._unparsed = memoryview(b"")
        # It refers to this object, which would live until the next garbage collection.
        self.parser = None  # type: ignore[assignment]
        self.transport.set_protocol(answer)
        answer.connection_made(self.transport)

    def _find_successor(self) -> asyncio.Protocol | UpgradeRefusal:
        path, _, query = self.url.partition(b"?")
        request = UpgradeRequest(
            method=self.scope["method"], path=path, query=query, headers=self.headers, address=self.address
        )
        return cast("Upgrader", self._upgrader).upgrade(request)

    def send_400_response(self, msg: str) -> None:
        if self._is_head_too_large():
            self._refuse(431, _HEAD_TOO_LARGE)
        else:
            self._refuse(400, msg)

    # Called by the table of connections

    @property
    def address(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def is_waiting(self) -> bool:
        return self._phase is not _Phase.RUNNING and not self._is_client_waiting()

    @property
    def is_evictable(self) -> bool:
        if not self.is_waiting:
            return False
        # A client that has just connected is about to send, and one that was just answered may send again.
        patience = _MIN_BODY_SECONDS if self._phase is _Phase.BODY else _MIN_WAIT_SECONDS
        return self._table.seconds - self._began >= patience

    def evict(self) -> None:
        # Without lingering, which would keep the file open.
        if self._phase is _Phase.HEAD or (self._phase is _Phase.BODY and not self.cycle.response_started):
            self.transport.write(self._render(408, self._too_slow))
        self.transport.close()

    def expire(self) -> None:
        if self._phase is _Phase.ENDING or self.transport.is_closing():
            self.transport.abort()
        elif self.flow.write_paused:
            self._check_reader()
        elif self._phase is _Phase.WAITING:
            self._table.timed_out_count += 1
            self.transport.close()
            self._expire_after(_LINGER_SECONDS)
        elif self._phase is _Phase.RUNNING or self._is_client_waiting():
            self._expire_after(self._limits.body_seconds)
        elif self._phase is _Phase.BODY and self._is_body_fast_enough():
            self._expire_after(1)
        else:
            self._table.timed_out_count += 1
            self._refuse(408, self._too_slow)

    @property
    def _too_slow(self) -> str:
        return _HEAD_TOO_SLOW if self._phase is _Phase.HEAD else _BODY_TOO_SLOW

    def _begin(self, seconds: int) -> None:
        """Begin to wait for the client, for this many seconds."""
        self._began = self._table.seconds
        self.deadline = self._began + seconds

    def _expire_after(self, seconds: int) -> None:
        self.deadline = self._table.seconds + seconds

    def _wait(self) -> None:
        """Wait for the next request, or for the client to read a large response."""
        self._phase = _Phase.WAITING
        if self.flow.write_paused:
            self._unsent_bytes = self.transport.get_write_buffer_size()
            self._begin(self._limits.body_seconds)
        else:
            self._begin(self._limits.idle_seconds)

    def _is_head_too_large(self) -> bool:
        if self._phase is not _Phase.HEAD:
            return False
        # Most requests arrive whole, in less data than a head may have.
        return len(self.headers) > MAX_HEADERS or (
            self._head_bytes > MAX_HEAD_BYTES
            and len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > MAX_HEAD_BYTES
        )

    def _is_client_waiting(self) -> bool:
        """Whether it is the server that is slow: it works on an earlier request, or does not read the body yet."""
        if self._phase is _Phase.BODY:
            return bool(self.pipeline) or self.flow.read_paused
        return self._phase is _Phase.HEAD and self._is_response_open()

    def _is_response_open(self) -> bool:
        """Whether the last request whose head is complete still waits for its response."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is not None and not cycle.response_complete

    def _is_body_fast_enough(self) -> bool:
        if self.cycle.response_complete:
            # Refused already; what still arrives is of no use.
            return False
        allowed = self._limits.body_seconds + self._body_bytes // MIN_BYTES_PER_SECOND
        return self._table.seconds < self._began + allowed

    def _check_reader(self) -> None:
        """Disconnect a client that reads its response too slowly: the rest of it takes memory."""
        unsent, before = self.transport.get_write_buffer_size(), self._unsent_bytes
        self._unsent_bytes = unsent
        if before and unsent > before - MIN_BYTES_PER_SECOND * self._limits.body_seconds:
            self._table.timed_out_count += 1
            self.transport.abort()
        else:
            self._expire_after(self._limits.body_seconds)

    def _refuse(self, status: int, message: str) -> None:
        """Answer a request that was not read to its end, and end the connection."""
        if self._is_answered():
            self.transport.close()
            return
        if self._phase is _Phase.BODY:
            # The application waits for the body.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._end_with(status, message)

    def _end_with(self, status: int, message: str) -> None:
        self._phase = _Phase.ENDING
        self._expire_after(_LINGER_SECONDS)
        self.transport.write(self._render(status, message))
        self.transport.write_eof()
        self.flow.resume_reading()

    def _is_answered(self) -> bool:
        """Whether another answer would come on top of one, or in the middle of it."""
        if self._phase is _Phase.BODY:
            return self.cycle.response_started or bool(self.pipeline)
        return self._is_response_open()

    def _render(self, status: int, message: str) -> bytes:
        headers, body = self._make_refusal(status, message)
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode(), *(b"%b: %b" % header for header in headers)]
        return b"\r\n".join([*lines, b"", body])

    def _make_refusal(self, status: int, message: str) -> tuple[HeaderList, bytes]:
        body = refusal_body(status, message, self._table.clock.now())
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            # There is nothing to read but the error, and a page of the inbox should see that.
            (b"access-control-allow-origin", b"*"),
            *PROTECTION,
            *([(b"retry-after", b"1")] if status == 503 else []),
        ]
        return headers, body

    async def _serve_health(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the health check alone, then close: for connections beyond the limit."""

        async def send_and_close(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"connection", b"close")]
            await send(message)

        if scope["path"] in HEALTH_PATHS:
            await self.config.loaded_app(scope, receive, send_and_close)
            return
        self._table.refused_count += 1
        headers, body = self._make_refusal(503, _BUSY)
        await send_response(send, 503, headers, body)
