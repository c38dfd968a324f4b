"""The connections of one account: those in use, those kept for the next letter, and who waits for one."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from aiosmtplib import SMTPConnectResponseError

from clarion.clock import SECOND, Clock, Millis
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.transport.smtp.session import Conversation

MAX_CONCURRENT = 100
KEPT_FOR = Millis(20 * SECOND)
"""Servers hang up on those who say nothing, and count them as long as they do not."""

_BUSY_SECONDS = 15
"""When to come back to a server whose connections are all in use."""

Ended = Callable[[Conversation], None]
Connect = Callable[[Ended], Awaitable[Conversation]]


class Connections:
    """As many as are needed at a time, up to a bound, or up to what the server takes."""

    def __init__(self, host: str, connect: Connect, *, seconds: float, clock: Clock) -> None:
        self._host = host
        self._connect = connect
        self._seconds = seconds
        self._clock = clock
        self._open = 0
        self._limit = MAX_CONCURRENT
        self._idle: dict[Conversation, Millis] = {}
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def is_empty(self) -> bool:
        return not self._open and not self._waiting

    async def take(self) -> Conversation:
        """The connection that was used last, or a new one, or the first that is given back."""
        while True:
            self.tidy()
            if self._idle:
                return self._idle.popitem()[0]
            if self._open >= self._limit:
                await self._wait()
                continue
            try:
                return await self._open_one()
            except SMTPConnectResponseError as refusal:
                # A server that takes no more of us at a time says so in its greeting; those that it took do the work.
                if not (400 <= refusal.code < 500 and self._open):
                    raise
                self._limit = self._open

    def give_back(self, conversation: Conversation) -> None:
        if conversation.is_open:
            self._idle[conversation] = self._clock.now()
        self._wake_one()

    def tidy(self) -> None:
        """Let go of those that nobody has used for a while."""
        before = self._clock.now() - KEPT_FOR
        while self._idle:
            longest = next(iter(self._idle))
            if self._idle[longest] >= before:
                return
            del self._idle[longest]
            longest.close()

    def close(self) -> None:
        for conversation in self._idle:
            conversation.close()
        self._idle.clear()

    async def _open_one(self) -> Conversation:
        self._open += 1
        try:
            return await self._connect(self._end)
        except BaseException:
            self._open -= 1
            self._wake_one()
            raise

    def _end(self, conversation: Conversation) -> None:
        self._open -= 1
        self._idle.pop(conversation, None)
        if not self._open:
            self._limit = MAX_CONCURRENT
        self._wake_one()

    async def _wait(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(self._seconds):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                # The turn came and cannot be taken any more, so it goes to the next.
                self._wake_one()
            elif turn in self._waiting:
                self._waiting.remove(turn)
            if isinstance(error, TimeoutError):
                message = f"All connections to {self._host} are in use"
                raise SendFailure(FailureKind.RATE_LIMITED, message, retry_after=_BUSY_SECONDS) from error
            raise

    def _wake_one(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
