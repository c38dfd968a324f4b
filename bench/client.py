"""A load client with little overhead: prebuilt requests, raw HTTP/1.1 over persistent connections."""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

from msgspec import Struct

from tests.garbage import without_collections

_NOTHING: Mapping[str, str] = {}


class Answer(Struct, frozen=True):
    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Load:
    """The results of a number of requests: one entry for each, in the given order.

    Times are from `time.time()`, so that they can be compared with those of other processes.
    """

    sent: list[float]
    """When each was sent. In an open loop: when it was due, so that waiting for a connection counts too."""
    seconds: list[float]
    statuses: list[int]
    began: float = 0.0
    ended: float = 0.0
    first_refusal: str = ""

    @property
    def rate(self) -> float:
        """Responses per second."""
        return len(self.sent) / (self.ended - self.began)

    def require(self, *statuses: int) -> None:
        """Raise unless all requests got one of these statuses: a rejected load measures something else."""
        refused = [status for status in self.statuses if status not in statuses]
        if refused:
            raise RuntimeError(f"{len(refused)} of {len(self.statuses)} requests were refused: {self.first_refusal}")


def make_request(
    method: str, path: str, *, key: str = "", body: Any = None, headers: Mapping[str, str] = _NOTHING
) -> bytes:
    """Return the bytes of one request; `body` is JSON text as bytes, or a value to encode as JSON."""
    content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: bench"]
    if key:
        lines.append(f"Authorization: ApiKey {key}")
    if body is not None:
        lines.append("Content-Type: application/json")
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, f"Content-Length: {len(content)}", "", ""]).encode() + content


async def send_one(address: str, request: bytes) -> Answer:
    """Send one request on a new connection."""
    connection = await _connect(address)
    try:
        return await connection.send(request)
    finally:
        connection.close()


async def send_closed(address: str, requests: Sequence[bytes], *, connections: int = 64) -> Load:
    """Send all requests in a closed loop: each connection sends its next one when it has the last response."""
    load = _empty_load(len(requests))
    opened = [await _connect(address) for _ in range(min(connections, len(requests)))]
    numbers = iter(range(len(requests)))
    load.began = time.time()
    try:
        # Pauses of this client would count as slow responses.
        with without_collections():
            await asyncio.gather(*(_send_in_turn(one, requests, numbers, load) for one in opened))
    finally:
        load.ended = time.time()
        for one in opened:
            one.close()
    return load


async def send_open(address: str, requests: Sequence[bytes], *, rate: float, connections: int = 64) -> Load:
    """Send in an open loop: `rate` requests a second, whether or not earlier ones have a response."""
    load = _empty_load(len(requests))
    free: asyncio.Queue[_Connection] = asyncio.Queue()
    opened = [await _connect(address) for _ in range(connections)]
    for one in opened:
        free.put_nowait(one)
    load.began = time.time()
    try:
        # Pauses of this client would count as slow responses.
        with without_collections():
            async with asyncio.TaskGroup() as in_flight:
                for number in range(len(requests)):
                    load.sent[number] = load.began + number / rate
                    await _sleep_until(load.sent[number])
                    in_flight.create_task(_send_when_free(free, requests[number], number, load))
    finally:
        load.ended = time.time()
        for one in opened:
            one.close()
    return load


@dataclass(slots=True)
class _Connection(asyncio.Protocol):
    """One request at a time; the response is complete when `Content-Length` bytes have arrived."""

    transport: asyncio.Transport | None = None
    answer: asyncio.Future[Answer] | None = None
    received: bytearray = field(default_factory=bytearray)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.received += data
        end = self.received.find(b"\r\n\r\n")
        if end < 0:
            return
        whole = end + 4 + _content_length(self.received[:end].lower())
        if len(self.received) < whole:
            return
        answer = Answer(int(self.received[9:12]), bytes(self.received[end + 4 : whole]))
        del self.received[:whole]
        if self.answer is not None and not self.answer.done():
            self.answer.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(ConnectionResetError(f"the server closed the connection: {exc}"))

    async def send(self, request: bytes) -> Answer:
        assert self.transport is not None
        self.answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return await self.answer

    def close(self) -> None:
        if self.transport is not None:
            self.transport.close()


async def _connect(address: str) -> _Connection:
    where = urlsplit(address)
    assert where.hostname is not None
    assert where.port is not None
    _, connection = await asyncio.get_running_loop().create_connection(_Connection, where.hostname, where.port)
    return connection


async def _send_in_turn(connection: _Connection, requests: Sequence[bytes], numbers: Iterator[int], load: Load) -> None:
    for number in numbers:
        load.sent[number] = time.time()
        await _send_into(load, connection, requests[number], number)


async def _send_when_free(free: "asyncio.Queue[_Connection]", request: bytes, number: int, load: Load) -> None:
    connection = await free.get()
    try:
        await _send_into(load, connection, request, number)
    finally:
        free.put_nowait(connection)


async def _send_into(load: Load, connection: _Connection, request: bytes, number: int) -> None:
    answer = await connection.send(request)
    load.seconds[number] = time.time() - load.sent[number]
    load.statuses[number] = answer.status
    if answer.status >= 400 and not load.first_refusal:
        load.first_refusal = f"{answer.status} {answer.body[:300].decode(errors='replace')}"


async def _sleep_until(moment: float) -> None:
    delay = moment - time.time()
    if delay > 0:
        await asyncio.sleep(delay)


def _empty_load(count: int) -> Load:
    return Load(sent=[0.0] * count, seconds=[0.0] * count, statuses=[0] * count)


def _content_length(head: bytearray) -> int:
    start = head.find(b"content-length:")
    if start < 0:
        return 0
    end = head.find(b"\r\n", start)
    return int(head[start + 15 : end if end >= 0 else len(head)])
