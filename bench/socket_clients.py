"""Many sockets of inboxes with little overhead: frames are searched, not parsed."""

import asyncio
import base64
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urlsplit

PLAIN, SOCKET_IO = "plain", "socket.io"
_PATHS = {PLAIN: "/ws?token=", SOCKET_IO: "/socket.io/?EIO=4&transport=websocket&token="}
_GREETED = b"unseen_count_changed"
_CONNECTING = 100
_NUMBER = re.compile(rb"order (\d+)")

Arrive = Callable[[int, float], None]


def _masked(text: bytes) -> bytes:
    """A text frame of a client; a mask of zeros leaves the text as it is."""
    return bytes([0x81, 0x80 | len(text)]) + bytes(4) + text


@dataclass(slots=True, eq=False)
class SocketClient(asyncio.Protocol):
    """One socket. `on_arrival` gets the number in the content of each message, and the time."""

    kind: str
    on_arrival: Arrive
    ready: asyncio.Future[None]
    transport: asyncio.Transport | None = None
    received: bytearray = field(default_factory=bytearray)
    is_connected: bool = False
    is_lost: bool = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        assert self.transport is not None
        if self.kind == SOCKET_IO and b"\x81\x012" in data:
            self.transport.write(_masked(b"3"))
        elif self.kind == PLAIN and b"\x89\x00" in data:
            self.transport.write(bytes([0x8A, 0x80]) + bytes(4))
        if not self.ready.done():
            self._open(data)
            return
        now = time.time()
        self.received += data
        last = 0
        for found in _NUMBER.finditer(self.received):
            last = found.end()
            self.on_arrival(int(found[1]), now)
        # A number may be cut at the end of the data; what is before the last one is done with.
        del self.received[: max(last, len(self.received) - 32)]

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the name is the base class's
        self.is_lost = True
        if not self.ready.done():
            self.ready.set_exception(ConnectionResetError(f"the socket was refused: {bytes(self.received[:200])!r}"))

    def _open(self, data: bytes) -> None:
        assert self.transport is not None
        self.received += data
        if self.kind == SOCKET_IO and not self.is_connected and b'"maxPayload"' in self.received:
            self.is_connected = True
            self.transport.write(_masked(b"40"))
        if _GREETED in self.received:
            self.received.clear()
            self.ready.set_result(None)


async def open_sockets(address: str, kind: str, tokens: Sequence[str], on_arrival: Arrive) -> list[SocketClient]:
    """Open a socket with each token, some at a time; returns when all of them have got their counts."""
    limit = asyncio.Semaphore(_CONNECTING)

    async def open_one(token: str) -> SocketClient:
        async with limit:
            return await open_socket(address, kind, token, on_arrival)

    return await asyncio.gather(*map(open_one, tokens))


async def open_socket(address: str, kind: str, token: str, on_arrival: Arrive) -> SocketClient:
    """Open a socket; returns when it has got its counts."""
    where = urlsplit(address)
    assert where.hostname is not None
    assert where.port is not None
    loop = asyncio.get_running_loop()
    client = SocketClient(kind, on_arrival, loop.create_future())
    await loop.create_connection(lambda: client, where.hostname or "", where.port or 0)
    lines = [
        f"GET {_PATHS[kind]}{token} HTTP/1.1",
        "Host: bench",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        "Sec-WebSocket-Version: 13",
        "Origin: https://app.example.com",
    ]
    assert client.transport is not None
    client.transport.write("\r\n".join([*lines, "", ""]).encode())
    await client.ready
    return client


def close_sockets(clients: Sequence[SocketClient]) -> None:
    for one in clients:
        if one.transport is not None:
            one.transport.abort()
