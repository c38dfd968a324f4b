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

    def __init__(
        self,
        database: Database,
        own_id: bytes,
        *,
        list_watched: Callable[[], Iterable[EnvironmentId] | None],
        on_new: Callable[[frozenset[EnvironmentId]], None],
        on_removed: Callable[[], None],
    ) -> None:
        """`list_watched` returns None in a process without sockets.

        `on_new` gets environments that others can know of from now on; `on_removed` is called when others have removed
        this process as dead.
        """
        self._database = database
        self._list_watched = list_watched
        self._on_new = on_new
        self._on_removed = on_removed
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

    def make_service(self) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.SOCKET_HOSTS, run_once=self.beat, interval=BEAT_SECONDS, wake_up=self._is_due
        )

    async def beat(self) -> None:
        """Write the own heartbeat, read those of others, and clean up after processes that are gone."""
        environment_ids = self._list_watched()
        if environment_ids is None:
            await self._database.read(self._read_others)
        else:
            await self._write(frozenset(environment_ids))
        await self._clean_up()

    async def _write(self, watched: frozenset[EnvironmentId]) -> None:
        was_known = await self._database.transaction(lambda db: self._exchange(db, watched))
        if not was_known and self._has_entered:
            self._on_removed()
        self._has_entered = True
        new = watched - self._watched
        self._watched = watched
        if new:
            self._on_new(new)

    async def _exchange(self, db: Connection, watched: frozenset[EnvironmentId]) -> bool:
        values = {"id": self.own_id, "environment_ids": msgspec.json.encode(sorted(watched)).decode()}
        was_known = await db.execute(BEAT, **values) > 0
        if not was_known:
            await db.execute(ENTER, **values)
        await self._read_others(db)
        return was_known

    async def _read_others(self, db: Connection) -> None:
        rows = await db.fetch(LIST_HOSTS, lifetime=LIFETIME)
        alive = [row for row in rows if row["is_alive"] and row["id"] != self.own_id]
        self._dead = [(row["id"], Millis(row["seen_at"])) for row in rows if not row["is_alive"]]
        found = (msgspec.json.decode(row["environment_ids"], type=list[bytes]) for row in alive)
        self.watched_elsewhere = frozenset(EnvironmentId(one) for ids in found for one in ids)

    async def _clean_up(self) -> None:
        for host_id, seen_at in self._dead:
            count = await remove_host(self._database, host_id, seen_at)
            await self._database.transaction(lambda db: db.execute(DELETE_DEAD, id=host_id, lifetime=LIFETIME))  # noqa: B023
            log.info("Socket host removed", extra={"count": count})
