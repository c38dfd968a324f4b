"""All sockets of a process: their number, their deadlines, whether their sessions hold, and their end at shutdown."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from clarion.background import BackgroundService, ServiceName
from clarion.clock import Clock
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.errors import StoreUnavailable
from clarion.http.server.connections import AddressCounts, UpgradeRefusal
from clarion.ids import EnvironmentId, SubscriberId
from clarion.inbox.sessions.tokens import SESSION_OVER, SESSION_REFUSED
from clarion.inbox.sockets.hub import choose_read
from clarion.inbox.sockets.presence import PersonKey
from clarion.inbox.sockets.sockets import GOING_AWAY, PING_SECONDS, TRY_LATER, Phase, Socket, SocketIdentity

SESSION_CHECK_SECONDS = 10
"""A session that ends loses its sockets within this time, plus the time of the query."""
MAX_SOCKETS_PER_PERSON = 50
"""A person has one for each open page."""
_SWEEP_SECONDS = 1
_GATHER_SECONDS = 0.002
_FIRST_PING_SECONDS = 5
_SHUTDOWN_SLICES = 20
_SHUTDOWN_SECONDS = 1.0
_GOODBYE_SECONDS = 1.0
_CHECKED_TOGETHER = 500
_FULL = "The service has too many open sockets; try again"
_STOPPING = "The service restarts; try again"
_TOO_MANY = f"This person has {MAX_SOCKETS_PER_PERSON} open sockets already; close one of their pages"

log = logging.getLogger(__name__)

LIST_EPOCHS = sql("""
    SELECT t.id, e.session_epoch FROM subscribers AS t JOIN environments AS e ON e.id = t.environment_id
    WHERE t.environment_id = :environment_id AND t.id {any:subscriber_ids}
""")


class Members(Protocol):
    """Where sockets belong whose session holds."""

    def add(self, socket: Socket, identity: SocketIdentity) -> None: ...

    def remove(self, socket: Socket, identity: SocketIdentity) -> None: ...


class SocketTable:
    """Every open socket. Time is counted in whole seconds by one timer for all of them."""

    def __init__(self, *, clock: Clock, members: Members, check: Callable[[Socket, SocketIdentity], None]) -> None:
        """`check` begins to check the session of a socket, which is then confirmed or refused."""
        self.max_sockets = 0
        self.seconds = 0
        self.dropped_count = 0
        self.is_stopping = False
        self._clock = clock
        self._members = members
        self._check = check
        self._open: dict[Socket, None] = {}
        self._strangers: dict[Socket, None] = {}
        """Those among them that have no valid token."""
        self._addresses = AddressCounts()
        self._people: Counter[PersonKey] = Counter()
        """How many sockets each person has, whose sessions may still be under a check."""
        self._confirmed_count = 0

    def __len__(self) -> int:
        return len(self._open)

    def find_refusal(self, address: str, identity: SocketIdentity | None) -> UpgradeRefusal | None:
        """Why there is no room for one more socket; another socket may be ended to make room."""
        if self.is_stopping:
            return UpgradeRefusal(503, _STOPPING)
        if identity is not None and self._people[_person(identity)] >= MAX_SOCKETS_PER_PERSON:
            return UpgradeRefusal(429, _TOO_MANY)
        if len(self._open) < self.max_sockets:
            return None
        evicted = self._choose_evicted(address, identity)
        if evicted is None:
            return UpgradeRefusal(503, _FULL)
        self.closed(evicted)
        evicted.abort()
        return None

    def _choose_evicted(self, address: str, identity: SocketIdentity | None) -> Socket | None:
        """Choose the socket to end for one with a session: one without, or one of an address that has many."""
        if identity is None:
            return None
        if self._strangers:
            return next(iter(self._strangers))
        share = self._addresses.share_with(address, self.max_sockets)
        if self._addresses.count(address) >= share:
            return None
        return next((one for one in self._open if self._addresses.count(one.address) > share), None)

    # Called by sockets

    def opened(self, socket: Socket) -> None:
        self._open[socket] = None
        self._addresses.add(socket.address)
        if socket.identity is None:
            self._strangers[socket] = None
            socket.refuse(SESSION_REFUSED)
        else:
            self._people[_person(socket.identity)] += 1
            self._check(socket, socket.identity)

    def confirmed(self, socket: Socket) -> None:
        if socket not in self._open:
            # It was closed during the check, and nothing would remove it again.
            return
        self._confirmed_count += 1
        # Spread, because sockets that connect at the same time would be pinged at the same time.
        socket.start(_FIRST_PING_SECONDS + self._confirmed_count % PING_SECONDS)
        if socket.identity is not None:
            self._members.add(socket, socket.identity)

    def closed(self, socket: Socket) -> None:
        if socket not in self._open:
            return
        del self._open[socket]
        self._strangers.pop(socket, None)
        self._addresses.discard(socket.address)
        if socket.identity is not None:
            self._members.remove(socket, socket.identity)
            person = _person(socket.identity)
            self._people[person] -= 1
            if not self._people[person]:
                del self._people[person]

    def note_dropped(self) -> None:
        self.dropped_count += 1
        log.info("Slow client dropped")

    # Background work

    def make_service(self) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.SOCKET_SWEEP,
            run_once=self._sweep,
            interval=_SWEEP_SECONDS,
            is_due_at_start=False,
            finish=self.close_all,
        )

    async def _sweep(self) -> None:
        """Ping clients, end dead connections, and check sessions, once per second."""
        self.advance(_SWEEP_SECONDS)
        self.check_sessions()

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
        for socket in list(self._open):
            if socket.phase is not Phase.OPEN or socket.identity is None or _turn_of(socket.identity) != turn:
                continue
            if socket.identity.expires_at <= now:
                socket.refuse(SESSION_REFUSED)
            else:
                self._check(socket, socket.identity)

    async def close_all(self) -> None:
        """Close all sockets, a few at a time so that clients do not all come back at the same moment."""
        self.is_stopping = True
        waiting = list(self._open)
        size = -(-len(waiting) // _SHUTDOWN_SLICES) or 1
        for start in range(0, len(waiting), size):
            for socket in waiting[start : start + size]:
                socket.close(GOING_AWAY, "The server restarts")
            await asyncio.sleep(_SHUTDOWN_SECONDS / _SHUTDOWN_SLICES if len(waiting) > size else 0)
        for _ in range(_SHUTDOWN_SLICES):
            if not self._open:
                return
            await asyncio.sleep(_GOODBYE_SECONDS / _SHUTDOWN_SLICES)
        for socket in list(self._open):
            socket.abort()


class SessionChecks:
    """Sockets whose session is to be checked; those of one environment share a statement."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[EnvironmentId, dict[Socket, SocketIdentity]] = {}
        self._is_needed = asyncio.Event()

    def check(self, socket: Socket, identity: SocketIdentity) -> None:
        self._waiting.setdefault(identity.environment_id, {})[socket] = identity
        self._is_needed.set()

    def make_service(self) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.SESSION_CHECKS, run_once=self._check_waiting, wake_up=self._is_needed, ends_last=True
        )

    async def _check_waiting(self) -> None:
        await asyncio.sleep(_GATHER_SECONDS)
        while self._waiting:
            # One environment at a time: if a check fails, those of the others still wait.
            environment_id = next(iter(self._waiting))
            sockets = list(self._waiting.pop(environment_id).items())
            for start in range(0, len(sockets), _CHECKED_TOGETHER):
                await self._check(environment_id, sockets[start : start + _CHECKED_TOGETHER])

    async def _check(self, environment_id: EnvironmentId, sockets: Sequence[tuple[Socket, SocketIdentity]]) -> None:
        people = list({identity.subscriber_id for _, identity in sockets})

        async def list_epochs(db: Connection) -> dict[SubscriberId, int]:
            rows = await db.fetch(LIST_EPOCHS, environment_id=environment_id, subscriber_ids=people)
            return {SubscriberId(row["id"]): row["session_epoch"] for row in rows}

        try:
            epochs = await choose_read(self._database, len(people))(list_epochs)
        except StoreUnavailable as error:
            log.warning("Sessions not checked", extra={"error": str(error), "count": len(sockets)})
            _send_away(sockets)
            return
        except Exception:
            _send_away(sockets)
            raise
        for socket, identity in sockets:
            _judge(socket, holds=epochs.get(identity.subscriber_id) == identity.epoch)


def _person(identity: SocketIdentity) -> PersonKey:
    return identity.environment_id, identity.subscriber_id


def _turn_of(identity: SocketIdentity) -> int:
    """In which of the seconds between two checks the session is checked; the last byte of an id is random."""
    return identity.subscriber_id[-1] % SESSION_CHECK_SECONDS


def _send_away(sockets: Sequence[tuple[Socket, SocketIdentity]]) -> None:
    for socket, _ in sockets:
        if socket.phase is Phase.OPENING:
            socket.close(TRY_LATER, "Try again later")


def _judge(socket: Socket, *, holds: bool) -> None:
    if not holds:
        socket.refuse(SESSION_OVER)
    elif socket.phase is Phase.OPENING:
        socket.confirm()
