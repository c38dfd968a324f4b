"""A fake provider on the loopback interface over HTTP/1.1 and HTTP/2, with configurable errors."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded
from msgspec import Struct
from yarl import URL

from clarion.providers.transport.calls import host_and_port

_PREFACE = b"PRI * HTTP/2.0\r\n\r\n"


class Reply(Struct, frozen=True, kw_only=True):
    """An answer of the provider; a body that is not a text is sent as JSON."""

    status: int = 200
    body: Any = ""
    headers: Mapping[str, str] = {}

    @property
    def content(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else msgspec.json.encode(self.body)


class Received(Struct, frozen=True, kw_only=True):
    """A received request, with its original URL."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def wire(self) -> str:
        head = "\r\n".join(f"{name}: {value}" for name, value in self.headers.items())
        return f"{self.method} {self.url}\r\n{head}\r\n\r\n{self.body.decode('utf-8', errors='replace')}"


SILENCE = Reply(status=0)
"""The request is read and never answered."""

Answers = Callable[[Received], Reply | None]
"""Returns None to close the connection without an answer."""


@dataclass
class Vendor:
    """Records requests and answers them."""

    answers: Answers
    port: int = 0
    connections: int = 0
    max_streams: int = 100
    """Concurrent calls over one HTTP/2 connection."""
    requests: list[Received] = field(default_factory=list)
    schemes: dict[str, str] = field(default_factory=dict)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    is_held: bool = False
    """Whether answers over HTTP/1 wait until they are released."""
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by a request whose answer is held."""
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def rewrite_url(self, url: URL) -> URL:
        self.schemes[host_and_port(url)] = url.scheme
        return url.with_scheme("http").with_host("127.0.0.1").with_port(self.port)

    def receive(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Reply | None:
        host = headers["host"]
        url = f"{self.schemes[host]}://{host}{target}"
        self.requests.append(Received(method=method, url=url, headers=headers, body=body))
        return self.answers(self.requests[-1])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                if head == _PREFACE:
                    await self._serve_http2(head, reader, writer)
                else:
                    await self._serve_one(head, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _serve_one(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = head.decode("latin-1").strip().split("\r\n")
        method, target, _ = first.split(" ")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        reply = self.receive(method, target, headers, body)
        if self.is_held:
            self.asked.set()
            await self.released.wait()
        if reply is SILENCE:
            await reader.read()
            return
        if reply is None:
            writer.transport.abort()
            return
        answer = [f"HTTP/1.1 {reply.status} Answer", f"Content-Length: {len(reply.content)}"]
        answer += [f"{name}: {value}" for name, value in reply.headers.items()]
        writer.write("\r\n".join([*answer, "", ""]).encode() + reply.content)
        await writer.drain()

    async def _serve_http2(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = H2Connection(H2Configuration(client_side=False))
        connection.local_settings.max_concurrent_streams = self.max_streams
        # Acknowledged at once, because the first frame to the client has the settings.
        connection.local_settings.acknowledge()
        connection.initiate_connection()
        received = head
        heads: dict[int, dict[str, str]] = {}
        bodies: dict[int, bytes] = {}
        while received:
            for event in connection.receive_data(received):
                if isinstance(event, RequestReceived):
                    heads[event.stream_id] = {_text(name): _text(value) for name, value in event.headers}
                elif isinstance(event, DataReceived):
                    bodies[event.stream_id] = bodies.get(event.stream_id, b"") + event.data
                elif isinstance(event, StreamEnded):
                    stream = event.stream_id
                    self._reply_http2(connection, stream, heads[stream], bodies.get(stream, b""))
            writer.write(connection.data_to_send())
            await writer.drain()
            received = await reader.read(65_536)

    def _reply_http2(self, connection: H2Connection, stream: int, head: dict[str, str], body: bytes) -> None:
        pseudo = {name: head.pop(name) for name in (":method", ":path", ":authority", ":scheme")}
        reply = self.receive(pseudo[":method"], pseudo[":path"], {"host": pseudo[":authority"], **head}, body)
        if reply is None:
            self.writers[-1].transport.abort()
        if reply is None or reply is SILENCE:
            return
        headers = [(":status", str(reply.status)), *((name.lower(), value) for name, value in reply.headers.items())]
        connection.send_headers(stream, headers)
        connection.send_data(stream, reply.content, end_stream=True)


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value


@asynccontextmanager
async def play(answers: Answers) -> AsyncIterator[Vendor]:
    vendor = Vendor(answers=answers)
    server = await asyncio.start_server(vendor.serve, "127.0.0.1", 0)
    vendor.port = server.sockets[0].getsockname()[1]
    try:
        yield vendor
    finally:
        server.close()
        for writer in vendor.writers:
            writer.close()
        await server.wait_closed()
