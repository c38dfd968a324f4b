"""Responses that do not end by themselves: server-sent events, shared by all who listen to the same environment."""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Hashable
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct
from starlette.types import Receive, Send

from clarion.errors import RateLimited, RequestError, StoreUnavailable
from clarion.http.static import HeaderList

T = TypeVar("T")

MAX_LISTENERS_PER_ENVIRONMENT = 500
MAX_LISTENERS_PER_CALLER = 200
"""Both at one process."""
CHECK_SECONDS = 3.0
"""How often a stream checks that its caller may still read: an API key may be revoked, a session may end.

A check may take as long as the pause before it. A key that is revoked during one check is refused by the next, so the
stream ends after three of these times at the latest.
"""

EVENT_STREAM = b"text/event-stream"
# Proxies must neither keep events nor wait for more of them.
_HEADERS = [(b"content-type", EVENT_STREAM), (b"cache-control", b"no-store"), (b"x-accel-buffering", b"no")]

_UNCHECKED = "It cannot be checked now whether you may still read; connect again"

log = logging.getLogger(__name__)


class StreamListener(Protocol):
    """Somebody who is sent chunks as they come."""

    def close(self, reason: str) -> None:
        """End the stream: the chunks end with an event that says why."""
        ...

    def chunks(self) -> AsyncIterator[bytes]: ...


class StreamResponse(Struct, Generic[T], frozen=True):
    """A response that is sent chunk by chunk until one side ends it. `T` describes its events."""

    listener: StreamListener
    leave: Callable[[], None]
    """Called when the response is over."""
    check: Callable[[], Awaitable[Any]] | None = None
    """Raises an error when the caller may not listen any more."""


class Broadcast(Generic[T]):
    """All listeners of one environment, and the task that reads for them while there are any."""

    def __init__(self) -> None:
        self.listeners: dict[T, Hashable] = {}
        """Each with its caller, in the order in which they came."""
        self.task: asyncio.Task[None] | None = None


class Broadcasts:
    """The streams of this process. Their number is limited; when the process stops, they end."""

    def __init__(self) -> None:
        self._groups: dict[Hashable, Broadcast[Any]] = {}
        self._is_closing = False

    def __len__(self) -> int:
        return sum(len(one.listeners) for one in self._groups.values())

    def join(
        self,
        group: Hashable,
        caller: Hashable,
        listener: T,
        read: Callable[[Broadcast[T]], Coroutine[Any, Any, None]],
    ) -> Callable[[], None]:
        """Add a listener, and start `read` if it is the first of its group; returns what takes it out again."""
        broadcast: Broadcast[T] = self._groups.get(group) or Broadcast()
        if len(broadcast.listeners) >= MAX_LISTENERS_PER_ENVIRONMENT:
            raise _too_many("this environment", MAX_LISTENERS_PER_ENVIRONMENT)
        if Counter(broadcast.listeners.values())[caller] >= MAX_LISTENERS_PER_CALLER:
            raise _too_many("this caller", MAX_LISTENERS_PER_CALLER)
        if self._is_closing:
            raise RateLimited("The service is stopping; connect again", retry_after=1)
        self._groups[group] = broadcast
        broadcast.listeners[listener] = caller
        if broadcast.task is None:
            broadcast.task = asyncio.create_task(read(broadcast))
            broadcast.task.add_done_callback(lambda task: self._end(group, broadcast, task))
        return lambda: self._leave(group, broadcast, listener)

    def close(self) -> None:
        """End all streams: the process stops."""
        self._is_closing = True
        for group in list(self._groups.values()):
            _close(group, "The service is stopping; connect again")

    def _leave(self, group: Hashable, broadcast: Broadcast[T], listener: T) -> None:
        broadcast.listeners.pop(listener, None)
        if not broadcast.listeners and broadcast.task is not None:
            broadcast.task.cancel()
            if self._groups.get(group) is broadcast:
                del self._groups[group]

    def _end(self, group: Hashable, broadcast: Broadcast[T], task: asyncio.Task[None]) -> None:
        """The reader has ended: with its last listener, or because it cannot go on."""
        if self._groups.get(group) is broadcast:
            del self._groups[group]
        if not task.cancelled() and task.exception() is not None:
            log.error("Stream failed", exc_info=task.exception())
            _close(broadcast, "The store cannot be read now; connect again")


async def send_stream(
    response: StreamResponse[Any],
    headers: HeaderList,
    receive: Receive,
    send: Send,
    *,
    check_seconds: float = CHECK_SECONDS,
) -> None:
    """Send what the listener gets until it is closed, the client leaves, or the caller may not listen any more."""
    await send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS, *headers]})
    watching = [
        asyncio.create_task(_watch_client(response.listener, receive)),
        asyncio.create_task(_watch_caller(response, check_seconds)),
    ]
    try:
        async for chunk in response.listener.chunks():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body"})
    finally:
        response.leave()
        for task in watching:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*watching, return_exceptions=True)


async def _watch_client(listener: StreamListener, receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    listener.close("The client has left")


async def _watch_caller(response: StreamResponse[Any], seconds: float) -> None:
    """End the stream when the caller may not read any more, and when that cannot be found out."""
    if response.check is None:
        return
    reason = _UNCHECKED
    try:
        while True:
            await asyncio.sleep(seconds)
            async with asyncio.timeout(seconds):
                await response.check()
    except RequestError as error:
        reason = str(error)
    except (StoreUnavailable, TimeoutError) as error:
        log.warning("Stream ended unchecked", extra={"error": str(error)})
    except Exception:
        log.exception("Stream ended unchecked")
    response.listener.close(reason)


def _close(group: Broadcast[Any], reason: str) -> None:
    for listener in list(group.listeners):
        listener.close(reason)


def _too_many(whose: str, limit: int) -> RateLimited:
    return RateLimited(f"There are {limit} streams of {whose} already; close one, or poll the list", retry_after=5)
