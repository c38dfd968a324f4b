"""The memory that bodies of requests take: nobody who sends can use up what is there for all.

Callers with an API key and members share one part. Everybody else shares a small one: strangers, and the people of
inboxes, whose sessions anybody can begin in an environment that wants no proof.
"""

from collections.abc import Hashable

from clarion.errors import Busy
from clarion.http.attempts import network_of
from clarion.http.caller import ANONYMOUS, Caller
from clarion.http.limits import MIB

MAX_CALLERS_BYTES = 224 * MIB
MAX_STRANGERS_BYTES = 32 * MIB
MAX_UNCOUNTED_BYTES = 4 * 1024
"""A body that comes at once and is no larger than this is not counted: a connection has one, and they are limited."""

_BUSY = "The service has received more than it can work on, from you or from all; try again"


class SharedBytes:
    """A number of bytes that is divided among those who hold some of it.

    Nobody may hold more than is then free. So one alone can take half, each of several gets about the same, and
    something is left for everyone who comes next.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.count = 0
        self._held: dict[Hashable, int] = {}

    def add(self, holders: tuple[Hashable, ...], size: int) -> None:
        """Let all of the holders hold so much more; raises Busy if it is too much for one of them."""
        free = self._limit - self.count - size
        held = self._held
        for one in holders:
            if held.get(one, 0) + size > free:
                raise Busy(_BUSY)
        self.count += size
        for one in holders:
            held[one] = held.get(one, 0) + size

    def release(self, holders: tuple[Hashable, ...], size: int) -> None:
        self.count -= size
        for one in holders:
            left = self._held[one] - size
            if left:
                self._held[one] = left
            else:
                del self._held[one]


class HeldBody:
    """What the body of one request takes."""

    __slots__ = ("_holders", "_shared", "size")

    def __init__(self, shared: SharedBytes, holders: tuple[Hashable, ...]) -> None:
        self._shared = shared
        self._holders = holders
        self.size = 0

    def add(self, size: int) -> None:
        if size:
            self._shared.add(self._holders, size)
            self.size += size

    def release(self) -> None:
        if self.size:
            self._shared.release(self._holders, self.size)
            self.size = 0


class BodyMemory:
    """The bodies of all requests under way."""

    def __init__(self, *, callers: int = MAX_CALLERS_BYTES, strangers: int = MAX_STRANGERS_BYTES) -> None:
        self._callers = SharedBytes(callers)
        self._strangers = SharedBytes(strangers)

    def open(self, caller: Caller, address: str) -> HeldBody:
        """What a request is going to hold: on account of its environment or member, or of its address and person."""
        if caller is ANONYMOUS:
            return HeldBody(self._strangers, (network_of(address),))
        if caller.session is not None:
            return HeldBody(self._strangers, (network_of(address), caller.session.subscriber_id))
        return HeldBody(self._callers, (caller.environment_id if caller.member is None else caller.member.id,))
