"""The connection pool of one SMTP account."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from aiosmtplib import SMTPConnectResponseError

from clarion.clock import SECOND, Clock, Millis
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.transport.smtp_session import SmtpSession

MAX_CONCURRENT = 100
IDLE_TIMEOUT = Millis(20 * SECOND)
"""Servers close idle connections, and count them towards their limit until then."""

OnClose = Callable[[SmtpSession], None]
Connect = Callable[[OnClose], Awaitable[SmtpSession]]


class ConnectionPool:
    """Opens connections on demand, up to our limit or the lower limit of the server."""

    def __init__(self, host: str, connect: Connect, *, seconds: float, clock: Clock) -> None:
        self._host = host
        self._connect = connect
        self._seconds = seconds
        self._clock = clock
        self._open = 0
        self._limit = MAX_CONCURRENT
        self._idle: dict[SmtpSession, Millis] = {}
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def is_empty(self) -> bool:
        return not self._open and not self._waiting

    async def acquire(self) -> SmtpSession:
        """Return the most recently used idle connection, else a new one, else wait for one to be released.

        Raises SendFailure of kind NO_CONNECTION if none is released in time.
        """
        deadline = asyncio.get_running_loop().time() + self._seconds
        while True:
            self.close_idle()
            if self._idle:
                return self._idle.popitem()[0]
            if self._open >= self._limit:
                await self._wait(deadline)
                continue
            try:
                return await self._open_one()
            except SMTPConnectResponseError as refusal:
                # The server refuses more connections in its greeting, so the open ones have to do.
                if not (400 <= refusal.code < 500 and self._open):
                    raise
                self._limit = self._open

    def release(self, session: SmtpSession) -> None:
        if session.is_open:
            self._idle[session] = self._clock.now()
        self._wake_one()

    def close_idle(self) -> None:
        """Close connections that were idle for longer than IDLE_TIMEOUT."""
        before = self._clock.now() - IDLE_TIMEOUT
        while self._idle:
            longest = next(iter(self._idle))
            if self._idle[longest] >= before:
                return
            del self._idle[longest]
            longest.close()

    def close(self) -> None:
        for session in self._idle:
            session.close()
        self._idle.clear()

    async def _open_one(self) -> SmtpSession:
        self._open += 1
        try:
            return await self._connect(self._remove)
        except BaseException:
            self._open -= 1
            self._wake_one()
            raise

    def _remove(self, session: SmtpSession) -> None:
        self._open -= 1
        self._idle.pop(session, None)
        if not self._open:
            self._limit = MAX_CONCURRENT
        self._wake_one()

    async def _wait(self, deadline: float) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout_at(deadline):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                # The turn was granted but cannot be used, so it goes to the next waiter.
                self._wake_one()
            elif turn in self._waiting:
                self._waiting.remove(turn)
            if isinstance(error, TimeoutError):
                raise SendFailure(FailureKind.NO_CONNECTION, f"All connections to {self._host} are in use") from error
            raise

    def _wake_one(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
