"""The connections of a server: their number and their time-outs, checked by one timer for all of them.

Also what a connection does with requests that were sent ahead, and with those for another protocol.
"""

import asyncio
import heapq
from collections import Counter
from collections.abc import Sized
from typing import Protocol

from msgspec import Struct
from uvicorn.protocols.http.flow_control import FlowControl

from clarion.background import BackgroundService, ServiceName
from clarion.clock import Clock
from clarion.http.attempts import network_of

MAX_PARSED_BYTES = 4 * 1024
"""How much is parsed at once. Each request in it takes memory and time, and the smallest ones have 18 bytes."""
NEVER = 1 << 62
RESERVED_CONNECTIONS = 32
"""Connections beyond the limit that still get an answer: the health check, or that the service is busy."""
_SWEEP_SECONDS = 1
_EVICTED_PART = 32


class ConnectionLimits(Struct, frozen=True, kw_only=True):
    max_connections: int
    header_seconds: int
    body_seconds: int
    idle_seconds: int


class OpenConnection(Protocol):
    """A connection as the table sees it."""

    deadline: int

    @property
    def address(self) -> str:
        """Of the client, or of the proxy next to this service."""
        ...

    @property
    def is_waiting(self) -> bool:
        """Whether the server waits for the client."""
        ...

    @property
    def is_evictable(self) -> bool:
        """Whether the server has waited for the client for long enough to end the connection to make room."""
        ...

    def expire(self) -> None:
        """End the connection because its deadline has passed, or extend the deadline."""
        ...

    def evict(self) -> None:
        """End the connection to make room for another."""
        ...


class ConnectionTable:
    """All connections of one server. Time is counted in whole seconds, so that no request reads a clock."""

    def __init__(self, limits: ConnectionLimits, clock: Clock) -> None:
        self.limits = limits
        self.clock = clock
        self.seconds = 0
        self._open: dict[OpenConnection, None] = {}  # in the order in which they were made
        self._addresses = AddressCounts()
        self.timed_out_count = 0
        self.evicted_count = 0
        self.refused_count = 0

    def __len__(self) -> int:
        return len(self._open)

    def make_service(self) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.CONNECTION_SWEEP, run_once=self.sweep, interval=_SWEEP_SECONDS, is_due_at_start=False
        )

    async def sweep(self) -> None:
        """Count a second, and end connections whose deadline has passed."""
        self.seconds += _SWEEP_SECONDS
        for connection in [connection for connection in self._open if connection.deadline <= self.seconds]:
            connection.expire()

    def add(self, connection: OpenConnection) -> None:
        if len(self._open) >= self.limits.max_connections:
            self._evict(connection.address)
        self._open[connection] = None
        self._addresses.add(connection.address)

    def discard(self, connection: OpenConnection) -> None:
        if connection in self._open:
            del self._open[connection]
            self._addresses.discard(connection.address)

    @property
    def excess(self) -> int:
        """How many connections there are beyond the limit."""
        return max(0, len(self._open) - self.limits.max_connections)

    def _evict(self, address: str) -> None:
        """End some connections that wait for their client, to make room for one of an address."""
        # Several at a time, because finding them takes a look at all connections.
        limit = max(1, self.limits.max_connections // _EVICTED_PART)
        share = self._addresses.share_with(address, self.limits.max_connections)
        count_of = self._addresses.count
        candidates = [connection for connection in self._open if connection.is_evictable]
        if not candidates and count_of(address) < share:
            # None has waited for long: those with few connections take from those with many.
            waiting = (connection for connection in self._open if connection.is_waiting)
            candidates = [connection for connection in waiting if count_of(connection.address) > share]

        def rank(connection: OpenConnection) -> tuple[bool, int]:
            """Those of crowded addresses first, then those with the earliest deadline, then the oldest."""
            return count_of(connection.address) <= share, connection.deadline

        for connection in heapq.nsmallest(limit, candidates, key=rank):
            self.discard(connection)
            self.evicted_count += 1
            connection.evict()


class AddressCounts:
    """Connections by client address. One with less than an equal share may take a place of those with more."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, address: str) -> None:
        self._counts[network_of(address)] += 1

    def discard(self, address: str) -> None:
        network = network_of(address)
        self._counts[network] -= 1
        if not self._counts[network]:
            del self._counts[network]

    def count(self, address: str) -> int:
        return self._counts.get(network_of(address), 0)

    def share_with(self, address: str, limit: int) -> int:
        """How many of `limit` each address would have if all had the same, with one that wants to have some."""
        return limit // (len(self._counts) + (network_of(address) not in self._counts))


class PipelineFlow(FlowControl):
    """Keeps a connection from being read while requests wait that were sent ahead."""

    def __init__(self, transport: asyncio.Transport, waiting: Sized) -> None:
        super().__init__(transport)
        self._waiting = waiting

    def resume_reading(self) -> None:
        if self.read_paused and not self._waiting:
            super().resume_reading()


class UpgradeRequest(Struct, frozen=True, kw_only=True):
    """A request to go on with websockets. Its query may have a secret: it is never logged."""

    method: str
    path: bytes
    query: bytes
    headers: list[tuple[bytes, bytes]]
    """Names are in lower case."""
    address: str
    """Of the connection: that of the client, or of the proxy next to this service."""


class UpgradeRefusal(Struct, frozen=True):
    status: int
    message: str


class Upgrader(Protocol):
    """Decides about requests for websockets."""

    paths: frozenset[bytes]

    def upgrade(self, request: UpgradeRequest) -> asyncio.Protocol | UpgradeRefusal:
        """Return the protocol that takes over the connection, or why it does not."""
        ...
