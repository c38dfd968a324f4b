"""Processes that serve sockets, and the environments that somebody is connected to: nobody else is told of changes."""

import asyncio
import logging
from collections.abc import Callable, Iterable

import msgspec

from clarion.background import BackgroundService, ServiceName
from clarion.clock import SECOND, Millis
from clarion.db.clock import POSTGRES_NOW
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.ids import EnvironmentId
from clarion.inbox.sockets.presence import remove_host

BEAT_SECONDS = 5.0
LIFETIME = Millis(15 * SECOND)
"""A process that wrote no heartbeat for this long counts as dead."""

BEAT = sql(f"UPDATE socket_hosts SET environment_ids = :environment_ids, seen_at = {POSTGRES_NOW} WHERE id = :id")
ENTER = sql(f"INSERT INTO socket_hosts (id, environment_ids, seen_at) VALUES (:id, :environment_ids, {POSTGRES_NOW})")
LIST_HOSTS = sql(
    f"SELECT id, environment_ids, seen_at, seen_at > {POSTGRES_NOW} - :lifetime AS is_alive FROM socket_hosts"
)
DELETE_DEAD = sql(f"DELETE FROM socket_hosts WHERE id = :id AND seen_at <= {POSTGRES_NOW} - :lifetime")

log = logging.getLogger(__name__)


class Hosts:
    """This process among those that serve sockets; a worker only reads which environments are watched."""

    def __init__(self, database: Database, own_id: bytes, *, lifetime: Millis = LIFETIME) -> None:
        self._database = database
        self._lifetime = lifetime
        self.own_id = own_id
        self.watched_elsewhere: frozenset[EnvironmentId] = frozenset()
        self._is_due = asyncio.Event()
        self._has_entered = False
        self._watched: frozenset[EnvironmentId] = frozenset()
        self._dead: list[tuple[bytes, Millis]] = []

    def refresh(self) -> None:
        """Write a heartbeat and read those of others now, because something has changed."""
        self._is_due.set()

    def is_unknown(self, environment_id: EnvironmentId) -> bool:
        """Whether others were not told yet that somebody is connected to an environment here."""
        return environment_id not in self._watched

    def make_service(
        self,
        list_watched: Callable[[], Iterable[EnvironmentId] | None],
        *,
        on_new: Callable[[frozenset[EnvironmentId]], None],
        on_removed: Callable[[], None],
    ) -> BackgroundService:
        """Heartbeats: write the own one, read those of others, and clean up after processes that are gone.

        `list_watched` returns None in a process without sockets. `on_new` gets environments that others can know of
        from now on; `on_removed` is called when others have removed this process as dead.
        """

        async def beat() -> None:
            await self._beat(list_watched, on_new, on_removed)
            await self._clean_up()

        return BackgroundService(
            name=ServiceName.SOCKET_HOSTS, run_once=beat, interval=BEAT_SECONDS, wake_up=self._is_due
        )

    async def _beat(
        self,
        list_watched: Callable[[], Iterable[EnvironmentId] | None],
        on_new: Callable[[frozenset[EnvironmentId]], None],
        on_removed: Callable[[], None],
    ) -> None:
        environment_ids = list_watched()
        if environment_ids is None:
            await self._database.read(self._read_others)
            return
        watched = frozenset(environment_ids)
        was_known = await self._database.transaction(lambda db: self._exchange(db, watched))
        if not was_known and self._has_entered:
            on_removed()
        self._has_entered = True
        new = watched - self._watched
        self._watched = watched
        if new:
            on_new(new)

    async def _exchange(self, db: Connection, watched: frozenset[EnvironmentId]) -> bool:
        values = {"id": self.own_id, "environment_ids": msgspec.json.encode(sorted(watched)).decode()}
        was_known = await db.execute(BEAT, **values) > 0
        if not was_known:
            await db.execute(ENTER, **values)
        await self._read_others(db)
        return was_known

    async def _read_others(self, db: Connection) -> None:
        rows = await db.fetch(LIST_HOSTS, lifetime=self._lifetime)
        alive = [row for row in rows if row["is_alive"] and row["id"] != self.own_id]
        self._dead = [(row["id"], Millis(row["seen_at"])) for row in rows if not row["is_alive"]]
        found = (msgspec.json.decode(row["environment_ids"], type=list[bytes]) for row in alive)
        self.watched_elsewhere = frozenset(EnvironmentId(one) for ids in found for one in ids)

    async def _clean_up(self) -> None:
        for host_id, seen_at in self._dead:
            count = await remove_host(self._database, host_id, seen_at)
            await self._database.transaction(lambda db: db.execute(DELETE_DEAD, id=host_id, lifetime=self._lifetime))  # noqa: B023
            log.info("Socket host removed", extra={"count": count})
