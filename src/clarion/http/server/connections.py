"""The connections of a server: their number and their time-outs, checked by one timer for all of them."""

import heapq
from typing import Protocol

from msgspec import Struct

from clarion.background import BackgroundService, ServiceName
from clarion.clock import Clock
from clarion.http.server.addresses import AddressCounts

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
        for one in [one for one in self._open if one.deadline <= self.seconds]:
            one.expire()

    def add(self, one: OpenConnection) -> None:
        if len(self._open) >= self.limits.max_connections:
            self._evict(one.address)
        self._open[one] = None
        self._addresses.add(one.address)

    def discard(self, one: OpenConnection) -> None:
        if one in self._open:
            del self._open[one]
            self._addresses.discard(one.address)

    @property
    def excess(self) -> int:
        """How many connections there are beyond the limit."""
        return max(0, len(self._open) - self.limits.max_connections)

    def _evict(self, address: str) -> None:
        """End some connections that wait for their client, to make room for one of an address."""
        # Several at a time, because finding them takes a look at all connections.
        count = max(1, self.limits.max_connections // _EVICTED_PART)
        share = self._addresses.share_with(address, self.limits.max_connections)
        found = [one for one in self._open if one.is_evictable]
        if not found and self._addresses.count(address) < share:
            # None has waited for long: those with few connections take from those with many.
            found = [one for one in self._open if one.is_waiting and self._addresses.count(one.address) > share]
        # Those of crowded addresses first, then those with the earliest deadline, then the oldest.
        counts = {one: self._addresses.count(one.address) for one in found}
        for one in heapq.nsmallest(count, found, key=lambda one: (counts[one] <= share, one.deadline)):
            self.discard(one)
            self.evicted_count += 1
            one.evict()
