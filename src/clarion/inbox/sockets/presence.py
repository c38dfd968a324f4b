"""Who is online: `isOnline` and `lastOnlineAt` of subscribers follow their sockets in all processes.

A row of `online_people` says that a process has sockets of a person. Whoever adds or removes rows locks the subscriber
first, so that of two processes that remove the last two rows the second one sees that nobody is left.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from clarion.background import BackgroundService, ServiceName
from clarion.clock import Clock, Millis
from clarion.db.port import Connection, Database, Dialect
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId, SubscriberId

PersonKey = tuple[EnvironmentId, SubscriberId]

LOCK_PEOPLE = sql("""
    SELECT id FROM subscribers WHERE environment_id = :environment_id AND id {any:subscriber_ids}
    ORDER BY id {for_update}
""")
INSERT_ROWS = Insert(
    "online_people", "environment_id", "subscriber_id", "host_id", on_conflict="ON CONFLICT DO NOTHING"
)
DELETE_ROWS = sql("""
    DELETE FROM online_people
    WHERE environment_id = :environment_id AND subscriber_id {any:subscriber_ids} AND host_id = :host_id
""")
# Neither `version` nor `updated_at` change: nobody edited the subscriber, and lists by `updatedAt` stay in order.
SET_ONLINE = sql("""
    UPDATE subscribers SET is_online = TRUE
    WHERE environment_id = :environment_id AND id {any:subscriber_ids} AND is_online IS NOT TRUE
""")
SET_OFFLINE = sql("""
    UPDATE subscribers SET is_online = FALSE, last_online_at = :now
    WHERE environment_id = :environment_id AND id {any:subscriber_ids} AND NOT EXISTS (
        SELECT 1 FROM online_people AS o
        WHERE o.environment_id = subscribers.environment_id AND o.subscriber_id = subscribers.id
    )
""")
LIST_ROWS_OF_HOST = sql("""
    SELECT environment_id, subscriber_id FROM online_people WHERE host_id = :host_id
    ORDER BY environment_id, subscriber_id LIMIT :limit
""")
LIST_HOSTS = sql("SELECT DISTINCT host_id FROM online_people")

_GATHER_SECONDS = 0.02
_ABSENCE_SECONDS = 0.25
"""How long somebody has to be gone before it is written: a page that is loaded again is back by then."""
_MAX_PEOPLE = 500


class Presence:
    """Writes who is connected to this process, many people in one transaction."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock,
        host_id: bytes,
        is_connected: Callable[[EnvironmentId, SubscriberId], bool],
        on_written: Callable[[Collection[PersonKey]], None] = lambda _: None,
    ) -> None:
        """`on_written` gets people who are connected when their rows are in the store."""
        self._database = database
        self._clock = clock
        self._host_id = host_id
        self._is_connected = is_connected
        self._on_written = on_written
        self._changed: dict[PersonKey, float] = {}
        """Who has come or gone, and from which moment on that may be written."""
        self._written: set[PersonKey] = set()
        self._has_changes = asyncio.Event()
        self._has_begun = False

    def note(self, environment_id: EnvironmentId, subscriber_id: SubscriberId) -> None:
        """Somebody has connected, or their last socket is gone; a page that is loaded again causes both."""
        wait_seconds = 0.0 if self._is_connected(environment_id, subscriber_id) else _ABSENCE_SECONDS
        self._changed[environment_id, subscriber_id] = time.monotonic() + wait_seconds
        self._has_changes.set()

    def write_again(self, people: Collection[PersonKey]) -> None:
        """Write the rows of people again, because other processes removed this one as dead."""
        self._written.clear()
        for one in people:
            self.note(*one)

    def make_service(self) -> BackgroundService:
        """Changes as they come. The rows of those who are connected at the end expire with this process."""
        return BackgroundService(
            name=ServiceName.PRESENCE, run_once=self._write_due, wake_up=self._has_changes, ends_last=True
        )

    async def _write_due(self) -> bool:
        """Write what may be written now; returns whether there will be more."""
        if not self._has_begun:
            await remove_earlier_hosts(self._database, self._clock.now())
            self._has_begun = True
        await asyncio.sleep(_GATHER_SECONDS)
        while due := self._list_due():
            await self._write(due)
        return bool(self._changed)

    def _list_due(self) -> list[PersonKey]:
        now = time.monotonic()
        return [one for one, due_at in self._changed.items() if due_at <= now][:_MAX_PEOPLE]

    async def _write(self, people: Sequence[PersonKey]) -> None:
        present = {one for one in people if self._is_connected(*one)}
        came, left = present - self._written, {one for one in people if one in self._written} - present
        if came or left:
            now = self._clock.now()
            await self._database.transaction(lambda db: self._exchange(db, came, left, now))
        self._written |= came
        self._written -= left
        self._on_written(present)
        for person in people:
            # Those who came or left during the write are looked at again.
            if self._is_connected(*person) == (person in self._written):
                self._changed.pop(person, None)

    async def _exchange(
        self, db: Connection, came: Collection[PersonKey], left: Collection[PersonKey], now: Millis
    ) -> None:
        await _lock(db, [*came, *left])
        if came:
            await db.insert_many(INSERT_ROWS, [(*one, self._host_id) for one in came])
            for environment_id, ids in _by_environment(came):
                await db.execute(SET_ONLINE, environment_id=environment_id, subscriber_ids=ids)
        await _remove(db, left, self._host_id, now)


async def remove_host(database: Database, host_id: bytes, seen_at: Millis) -> int:
    """Remove the rows of a process that is gone; those who are connected nowhere else were last online at `seen_at`."""

    async def remove_some(db: Connection) -> int:
        rows = await db.fetch(LIST_ROWS_OF_HOST, host_id=host_id, limit=_MAX_PEOPLE)
        people = [(EnvironmentId(row["environment_id"]), SubscriberId(row["subscriber_id"])) for row in rows]
        await _lock(db, people)
        await _remove(db, people, host_id, seen_at)
        return len(people)

    count = 0
    while found := await database.transaction(remove_some):
        count += found
    return count


async def remove_earlier_hosts(database: Database, now: Millis) -> None:
    """On SQLite there is one process: what earlier ones left is removed when it starts."""
    if database.dialect is Dialect.SQLITE:
        for row in await database.scan(lambda db: db.fetch(LIST_HOSTS)):
            await remove_host(database, row["host_id"], now)


async def _lock(db: Connection, people: Collection[PersonKey]) -> None:
    for environment_id, ids in _by_environment(people):
        await db.fetch(LOCK_PEOPLE, environment_id=environment_id, subscriber_ids=ids)


async def _remove(db: Connection, people: Collection[PersonKey], host_id: bytes, now: Millis) -> None:
    for environment_id, ids in _by_environment(people):
        await db.execute(DELETE_ROWS, environment_id=environment_id, subscriber_ids=ids, host_id=host_id)
        await db.execute(SET_OFFLINE, environment_id=environment_id, subscriber_ids=ids, now=now)


def _by_environment(people: Collection[PersonKey]) -> list[tuple[EnvironmentId, list[SubscriberId]]]:
    """In a fixed order, so that two processes cannot deadlock."""
    by_environment: defaultdict[EnvironmentId, list[SubscriberId]] = defaultdict(list)
    for environment_id, subscriber_id in people:
        by_environment[environment_id].append(subscriber_id)
    return [(environment_id, sorted(by_environment[environment_id])) for environment_id in sorted(by_environment)]
