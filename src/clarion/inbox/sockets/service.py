"""Real time in one process: sockets, what is pushed to them, presence, and the other processes."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from functools import partial

import msgspec

from clarion.background import BackgroundService, ServiceName
from clarion.bus import Bus, InboxChange
from clarion.clock import Clock
from clarion.db.port import Database, Dialect
from clarion.ids import EnvironmentId, SubscriberId, new_id
from clarion.inbox.sessions.tokens import SessionTokens
from clarion.inbox.sockets.announcements import Announcement, Announcer, read_changes
from clarion.inbox.sockets.bridges import Bridge, NatsBridge, PostgresBridge
from clarion.inbox.sockets.hosts import Hosts
from clarion.inbox.sockets.hub import Hub
from clarion.inbox.sockets.presence import Presence
from clarion.inbox.sockets.protocols import SocketUpgrader
from clarion.inbox.sockets.table import SessionChecks, SocketTable
from clarion.settings.model import Settings

_SETTLE_SECONDS = 1.0
"""When an environment is new here, others may not know of it at once: its people are counted again after this time."""

log = logging.getLogger(__name__)


class Realtime:
    """Listens to the bus in every process; those that serve sockets have more services."""

    def __init__(
        self, settings: Settings, database: Database, *, bus: Bus, clock: Clock, tokens: SessionTokens
    ) -> None:
        own_id = new_id(clock.now())
        self._bridge = _make_bridge(settings, database)
        self.hub = Hub(database, on_presence=self._note_presence, waits_for_presence=self._bridge is not None)
        self.hosts = Hosts(
            database,
            own_id,
            list_watched=self._list_watched,
            on_new=self._settle,
            on_removed=self._write_presence_again,
        )
        self.presence = Presence(
            database,
            clock=clock,
            host_id=own_id,
            is_connected=self.hub.is_connected,
            on_written=self.hub.make_known,
        )
        self._checks = SessionChecks(database)
        self.table = SocketTable(clock=clock, members=self.hub, check=self._checks.check)
        self.upgrader = SocketUpgrader(self.table, tokens, settings)
        self._announcer = (
            None if self._bridge is None else Announcer(self._bridge, database, own_id, self._is_watched_elsewhere)
        )
        self._own_id = own_id
        self._serves_sockets = False
        bus.listen_to_inboxes(self._note)
        bus.is_watched = self._is_watched

    def list_services(self) -> list[BackgroundService]:
        """The exchange of changes with other processes."""
        if self._bridge is None or self._announcer is None:
            return []
        connect = partial(self._bridge.start, self._receive, self._resume)
        return [
            BackgroundService(name=ServiceName.INBOX_BRIDGE, run_once=connect),
            self._announcer.make_service(),
            self.hosts.make_service(),
        ]

    def list_socket_services(self, max_sockets: int) -> list[BackgroundService]:
        """The services of up to `max_sockets` sockets, which are closed at the end."""
        self._serves_sockets = True
        self.table.max_sockets = max_sockets
        return [
            self.table.make_service(),
            self.hub.make_service(),
            self._checks.make_service(),
            self.presence.make_service(),
        ]

    async def close(self) -> None:
        """Send what is gathered, and disconnect from the other processes."""
        if self._bridge is not None and self._announcer is not None:
            await self._announcer.flush()
            await self._bridge.close()

    def _is_watched(self, environment_id: EnvironmentId) -> bool:
        return self.hub.has_environment(environment_id) or self._is_watched_elsewhere(environment_id)

    def _is_watched_elsewhere(self, environment_id: EnvironmentId) -> bool:
        return environment_id in self.hosts.watched_elsewhere

    def _list_watched(self) -> Iterable[EnvironmentId] | None:
        return list(self.hub.environment_ids) if self._serves_sockets else None

    def _note(self, changes: Sequence[InboxChange]) -> None:
        self.hub.note(changes)
        if self._announcer is not None:
            self._announcer.note(changes)

    def _note_presence(self, environment_id: EnvironmentId, subscriber_id: SubscriberId) -> None:
        self.presence.note(environment_id, subscriber_id)
        if self._announcer is not None and self.hosts.is_unknown(environment_id):
            self.hosts.refresh()

    def _settle(self, environment_ids: frozenset[EnvironmentId]) -> None:
        """Tell others of environments that are new here, and count their people again when they know."""
        if self._announcer is not None:
            self._announcer.note_new_host()
        for one in environment_ids:
            asyncio.get_running_loop().call_later(_SETTLE_SECONDS, self.hub.count_again, one)

    def _write_presence_again(self) -> None:
        self.presence.write_again(self.hub.list_people())

    def _receive(self, text: str) -> None:
        try:
            announcement = msgspec.json.decode(text, type=Announcement)
        except msgspec.DecodeError as error:
            log.warning("Announcement not understood", extra={"error": str(error)})
            return
        if announcement.sender == self._own_id:
            return
        if announcement.has_new_host:
            self.hosts.refresh()
        self.hub.note(read_changes(announcement))

    def _resume(self) -> None:
        self.hosts.refresh()
        self.hub.count_again()


def _make_bridge(settings: Settings, database: Database) -> Bridge | None:
    """None on SQLite, where everything is in one process."""
    if database.dialect is Dialect.SQLITE:
        return None
    return PostgresBridge(database) if settings.bus_url is None else NatsBridge(settings.bus_url)
