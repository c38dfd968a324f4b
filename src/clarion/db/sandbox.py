"""Sandboxes: units of work that read the store and write into temporary tables that hide the real ones.

Nothing that they write reaches the store: SQLite's connection is opened for reading only, and PostgreSQL's transaction
is read-only, which leaves temporary tables writable. The tables are empty at first, and their rows are rolled back at
the end. No row of the store is locked.

They take turns: environments do not wait behind each other, and each of them rests. A sandbox holds the interpreter
lock while it works, and the process is for something else: few requests may meet one.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from clarion.db.query import Query, sql
from clarion.errors import Busy, RateLimited
from clarion.ids import EnvironmentId

HIDDEN_TABLES = (
    *("triggers", "trigger_parts", "attachments", "trigger_attachments", "notifications", "jobs", "messages"),
    *("digest_windows", "digest_events", "throttle_passes", "integration_health", "integration_counts"),
    *("awaited_receipts", "emitted_events", "event_waits", "awaited_events", "http_requests", "http_hosts"),
    *("http_answers", "answers"),
    *("subscribers", "topic_subscriptions", "preferences", "context_preferences"),
    *("workflows", "workflow_versions"),
    *("webhook_endpoints", "webhook_events", "webhook_event_people", "webhook_deliveries"),
)
"""What is written by accepting triggers and by the engine; without endpoints there are no webhooks."""
MAX_SANDBOXES = 3
"""How many work at a time; one of an environment."""
MAX_WAITING = 64
MAX_WAITING_OF_ONE = 8
"""Of one environment."""
SHARE = 1 / 25
"""How much of the time the sandboxes of an environment work in the long run, if they are short."""
SHARE_OF_ALL = 1 / 4
"""How much of the time those of all environments work, and those of one environment at most."""
ALLOWANCE = 1.0
"""The seconds of work of an environment that need no rest, so that somebody who tries things does not wait."""
ALLOWANCE_OF_ALL = 6.0
"""More than a simulation may take, so that one environment alone lets the others never wait."""
LONGEST_REST = 2.0
"""The seconds after which the next one begins in any case, unless the last one took a good part of that time."""
_MAX_IDLE_LINES = 1_000

ReadTime = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


def stored_query(text: str, schema: str) -> Query:
    """A statement in which `stored.jobs` is the table of the store, which is in `schema`."""
    return sql(text.replace("stored.", f"{schema}."))


def copy_query(table: str, columns: Sequence[str], where: str, schema: str) -> Query:
    """A statement that copies rows of the store into the table that hides them."""
    names, values = ", ".join(columns), ", ".join(f"t.{name}" for name in columns)
    text = (
        f"INSERT INTO {table} ({names}) SELECT {values} FROM stored.{table} AS t WHERE {where} ON CONFLICT DO NOTHING"
    )
    return stored_query(text, schema)


class _Work:
    """How much was worked lately, less what the time since then makes up for."""

    def __init__(self, share: float, read_time: ReadTime) -> None:
        self._share = share
        self._read_time = read_time
        self._done = 0.0
        self._ended = read_time()
        self.last = 0.0
        """How long the last one took."""

    @property
    def seconds(self) -> float:
        return max(self._done - (self._read_time() - self._ended) * self._share, 0.0)

    def add(self, seconds: float) -> None:
        self._done = self.seconds + seconds
        self._ended = self._read_time()
        self.last = seconds

    def rest_after(self, allowance: float) -> float:
        """How long to rest until no more than the allowance is left."""
        return max(self.seconds - allowance, 0.0) / self._share


class _Queue:
    """Those of one environment, one after the other."""

    def __init__(self, read_time: ReadTime) -> None:
        self.lock = asyncio.Lock()
        self.waiting = 0
        self.work = _Work(SHARE, read_time)

    @property
    def rest_seconds(self) -> float:
        longest = max(LONGEST_REST, self.work.last * (1 / SHARE_OF_ALL - 1))
        return min(self.work.rest_after(ALLOWANCE), longest)


class Turn:
    """The right to work; what is not inside `working` does not count."""

    def __init__(self, works: tuple[_Work, ...], read_time: ReadTime) -> None:
        self._works = works
        self._read_time = read_time

    @contextmanager
    def working(self) -> Iterator[None]:
        started = self._read_time()
        try:
            yield
        finally:
            for one in self._works:
                one.add(self._read_time() - started)


class Turns:
    """Gives turns: within an environment in the order of asking, and to environments as they are ready."""

    def __init__(self, *, read_time: ReadTime = time.monotonic, sleep: Sleep = asyncio.sleep) -> None:
        self._read_time = read_time
        self._sleep = sleep
        self._slots = asyncio.Semaphore(MAX_SANDBOXES)
        self._lines: dict[EnvironmentId, _Queue] = {}
        self._all = _Work(SHARE_OF_ALL, read_time)

    @asynccontextmanager
    async def take(self, environment_id: EnvironmentId) -> AsyncIterator[Turn]:
        """Wait for the turn of an environment; raises RateLimited or Busy if too many wait already."""
        line = self._join(environment_id)
        try:
            async with line.lock:
                await self._sleep(line.rest_seconds)
                async with self._slots:
                    await self._sleep(min(self._all.rest_after(ALLOWANCE_OF_ALL), LONGEST_REST))
                    yield Turn((line.work, self._all), self._read_time)
        finally:
            line.waiting -= 1

    def _join(self, environment_id: EnvironmentId) -> _Queue:
        if len(self._lines) >= _MAX_IDLE_LINES:
            self._lines = {one: line for one, line in self._lines.items() if line.waiting or line.work.seconds}
        line = self._lines.get(environment_id) or _Queue(self._read_time)
        if line.waiting >= MAX_WAITING_OF_ONE:
            raise RateLimited(
                f"{MAX_WAITING_OF_ONE} simulations of this environment wait already; try again later", retry_after=2
            )
        if sum(one.waiting for one in self._lines.values()) >= MAX_WAITING:
            raise Busy("Too many simulations are waiting; try again")
        self._lines[environment_id] = line
        line.waiting += 1
        return line
