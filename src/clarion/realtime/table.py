"""All sockets of a process: their number, their deadlines, and their end at shutdown."""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from clarion.clock import Clock
from clarion.realtime.sockets import GOING_AWAY, PING_SECONDS, Claim, Phase, Socket

SESSION_CHECK_SECONDS = 10
"""A session that ends loses its sockets within this time, plus the time of the query."""
_SWEEP_SECONDS = 1
_FIRST_PING_SECONDS = 5
_SHUTDOWN_SLICES = 20
_SHUTDOWN_SECONDS = 1.0
_GOODBYE_SECONDS = 1.0
_REFUSED = "The session token is not valid or has expired; begin a new session with POST /v1/inbox/session"
SESSION_OVER = "This session is over; begin a new one with POST /v1/inbox/session"

log = logging.getLogger(__name__)


class Members(Protocol):
    """Where sockets belong whose session holds."""

    def add(self, socket: Socket, claim: Claim) -> None: ...

    def remove(self, socket: Socket, claim: Claim) -> None: ...


class SocketTable:
    """Every open socket. Time is counted in whole seconds by one timer for all of them."""

    def __init__(self, *, clock: Clock, members: Members, check: Callable[[Socket, Claim], None]) -> None:
        """`check` begins to check the session of a socket, which is then confirmed or refused."""
        self.max_sockets = 0
        self.seconds = 0
        self.dropped_count = 0
        self.is_stopping = False
        self._clock = clock
        self._members = members
        self._check = check
        self._open: dict[Socket, None] = {}
        self._confirmed_count = 0

    def __len__(self) -> int:
        return len(self._open)

    @property
    def is_full(self) -> bool:
        return len(self._open) >= self.max_sockets

    # Called by sockets

    def opened(self, socket: Socket) -> None:
        self._open[socket] = None
        if socket.claim is None:
            socket.refuse(_REFUSED)
        else:
            self._check(socket, socket.claim)

    def confirmed(self, socket: Socket) -> None:
        self._confirmed_count += 1
        # Spread, because sockets that connect at the same time would be pinged at the same time.
        socket.start(_FIRST_PING_SECONDS + self._confirmed_count % PING_SECONDS)
        if socket.claim is not None:
            self._members.add(socket, socket.claim)

    def closed(self, socket: Socket) -> None:
        self._open.pop(socket, None)
        if socket.claim is not None:
            self._members.remove(socket, socket.claim)

    def note_dropped(self) -> None:
        self.dropped_count += 1
        log.info("Slow client dropped")

    # Background work

    async def sweep(self) -> None:
        """Ping clients and end dead connections, once per second, until cancelled; then close all sockets."""
        try:
            while True:
                await asyncio.sleep(_SWEEP_SECONDS)
                self.advance(_SWEEP_SECONDS)
                self.check_sessions()
        finally:
            await self.close_all()

    def advance(self, seconds: int) -> None:
        """Count the time, and look after the sockets whose deadline has passed."""
        self.seconds += seconds
        for one in [one for one in self._open if one.deadline <= self.seconds]:
            one.expire()

    def check_sessions(self) -> None:
        """End the sockets of expired tokens, and check the sessions of the others: each second those of some people.

        Ten thousand at once would keep messages waiting.
        """
        now, turn = self._clock.now(), self.seconds % SESSION_CHECK_SECONDS
        for one in list(self._open):
            if one.phase is not Phase.OPEN or one.claim is None or _turn_of(one.claim) != turn:
                continue
            if one.claim.expires_at <= now:
                one.refuse(_REFUSED)
            else:
                self._check(one, one.claim)

    async def close_all(self) -> None:
        """Close all sockets, a few at a time so that clients do not all come back at the same moment."""
        self.is_stopping = True
        waiting = list(self._open)
        size = -(-len(waiting) // _SHUTDOWN_SLICES) or 1
        for start in range(0, len(waiting), size):
            for one in waiting[start : start + size]:
                one.close(GOING_AWAY, "The server restarts")
            await asyncio.sleep(_SHUTDOWN_SECONDS / _SHUTDOWN_SLICES if len(waiting) > size else 0)
        for _ in range(_SHUTDOWN_SLICES):
            if not self._open:
                return
            await asyncio.sleep(_GOODBYE_SECONDS / _SHUTDOWN_SLICES)
        for one in list(self._open):
            one.abort()


def _turn_of(claim: Claim) -> int:
    """In which of the seconds between two checks the session is checked; the last byte of an id is random."""
    return claim.subscriber_id[-1] % SESSION_CHECK_SECONDS
