"""Changes of inboxes: announced after the commit, and gathered for a moment for other processes."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
from msgspec import Struct

from clarion.background import BackgroundService, ServiceName
from clarion.bus import Bus, InboxChange
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.errors import StoreUnavailable
from clarion.http.operation import Call
from clarion.ids import EnvironmentId, MessageId, SubscriberId
from clarion.inbox.sockets.bridges import Bridge

_GATHER_SECONDS = 0.003
# More than the JSON of an id, and of what surrounds those of a person and of an environment.
_ID_BYTES = 27
_PERSON_BYTES = _ID_BYTES + 5
_HEAD_BYTES = 100

MAX_UNFILTERED_PEOPLE = 100
"""Of more people, those who are connected are looked up first; fewer fit into one message."""
LIST_CONNECTED = sql("""
    SELECT DISTINCT subscriber_id FROM online_people
    WHERE environment_id = :environment_id AND subscriber_id {any:subscriber_ids}
""")

_People = dict[SubscriberId, dict[MessageId, None]]
PersonChange = tuple[bytes, list[bytes]]


class Arrival(NamedTuple):
    """A message that has just arrived in an inbox."""

    environment_id: EnvironmentId
    subscriber_id: SubscriberId
    message_id: MessageId


def announce_changes(call: Call, subscriber_ids: Iterable[SubscriberId]) -> None:
    """Announce that the counts of people may be different, if anybody is connected."""
    bus, environment_id = call.services.bus, call.environment_id
    if not bus.is_watched(environment_id):
        return
    changes = [InboxChange(environment_id=environment_id, subscriber_id=one) for one in dict.fromkeys(subscriber_ids)]
    if changes:
        call.after_commit.append(lambda: bus.publish_inbox_changes(changes))


def announce_new_contents(call: Call, changed: Iterable[tuple[SubscriberId, MessageId]]) -> None:
    """Announce messages of people that have new content or are withdrawn."""
    publish = partial(publish_new_contents, call.services.bus, call.environment_id, list(changed))
    call.after_commit.append(publish)


def publish_new_contents(
    bus: Bus, environment_id: EnvironmentId, changed: Iterable[tuple[SubscriberId, MessageId]]
) -> None:
    """Announce messages whose new content, or withdrawal, is durable."""
    if not bus.is_watched(environment_id):
        return
    by_person: dict[SubscriberId, list[MessageId]] = {}
    for subscriber_id, message_id in changed:
        by_person.setdefault(subscriber_id, []).append(message_id)
    changes = [
        InboxChange(environment_id=environment_id, subscriber_id=subscriber_id, changed=tuple(ids))
        for subscriber_id, ids in by_person.items()
    ]
    if changes:
        bus.publish_inbox_changes(changes)


def publish_arrivals(bus: Bus, arrivals: Iterable[Arrival]) -> None:
    """Announce messages that are durable, one change for each person of an environment that is watched."""
    arrived: dict[tuple[EnvironmentId, SubscriberId], list[MessageId]] = {}
    for one in arrivals:
        arrived.setdefault((one.environment_id, one.subscriber_id), []).append(one.message_id)
    changes = [
        InboxChange(environment_id=environment_id, subscriber_id=subscriber_id, arrived=tuple(ids))
        for (environment_id, subscriber_id), ids in arrived.items()
        if bus.is_watched(environment_id)
    ]
    if changes:
        bus.publish_inbox_changes(changes)


class Announcement(Struct, frozen=True, array_like=True):
    """What one process says to the others, as JSON; ids are base64."""

    sender: bytes
    has_new_host: bool = False
    """Somebody connected to an environment that nobody was connected to at the sender."""
    changes: dict[bytes, list[PersonChange]] = {}
    """Environment: people, and the messages that arrived for them."""
    contents: dict[bytes, list[PersonChange]] = {}
    """Environment: people, and their messages that have new content or are withdrawn."""


class Announcer:
    """Gathers changes that concern other processes, and sends them after the commit, outside of any transaction."""

    def __init__(
        self, bridge: Bridge, database: Database, sender: bytes, is_watched: Callable[[EnvironmentId], bool]
    ) -> None:
        """`is_watched` is about other processes."""
        self._bridge = bridge
        self._database = database
        self._sender = sender
        self._is_watched = is_watched
        self._pending: defaultdict[EnvironmentId, _People] = defaultdict(dict)
        self._contents: defaultdict[EnvironmentId, _People] = defaultdict(dict)
        self._is_needed = asyncio.Event()
        self._has_new_host = False

    def note(self, changes: Sequence[InboxChange]) -> None:
        for change in changes:
            if self._is_watched(change.environment_id):
                pending = self._contents if change.changed else self._pending
                messages = pending[change.environment_id].setdefault(change.subscriber_id, {})
                messages.update(dict.fromkeys((*change.arrived, *change.changed)))
                self._is_needed.set()

    def note_new_host(self) -> None:
        self._has_new_host = True
        self._is_needed.set()

    def make_service(self) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.INBOX_ANNOUNCEMENTS,
            run_once=self.flush,
            wake_up=self._is_needed,
            settle_seconds=_GATHER_SECONDS,
        )

    async def flush(self) -> None:
        pending, contents = dict(self._pending), dict(self._contents)
        self._pending.clear()
        self._contents.clear()
        for kind in (pending, contents):
            for environment_id, people in kind.items():
                if len(people) > MAX_UNFILTERED_PEOPLE:
                    kind[environment_id] = await self._keep_connected(environment_id, people)
        max_bytes = self._bridge.max_bytes
        payloads = [_encode(Announcement(self._sender, changes=part)) for part in _split(pending, max_bytes)]
        payloads += [_encode(Announcement(self._sender, contents=part)) for part in _split(contents, max_bytes)]
        if self._has_new_host:
            self._has_new_host = False
            payloads.append(_encode(Announcement(self._sender, has_new_host=True)))
        if payloads:
            await self._bridge.publish(payloads)

    async def _keep_connected(self, environment_id: EnvironmentId, people: _People) -> _People:
        """Leave out those who are not connected: most recipients of a broadcast are not."""
        try:
            rows = await self._database.read(
                lambda db: db.fetch(LIST_CONNECTED, environment_id=environment_id, subscriber_ids=list(people))
            )
        except StoreUnavailable:
            return people
        return {SubscriberId(row["subscriber_id"]): people[SubscriberId(row["subscriber_id"])] for row in rows}


def read_changes(announcement: Announcement) -> list[InboxChange]:
    arrivals = [
        InboxChange(environment_id=environment_id, subscriber_id=subscriber_id, arrived=ids)
        for environment_id, subscriber_id, ids in _read_people(announcement.changes)
    ]
    return arrivals + [
        InboxChange(environment_id=environment_id, subscriber_id=subscriber_id, changed=ids)
        for environment_id, subscriber_id, ids in _read_people(announcement.contents)
    ]


def _read_people(
    given: dict[bytes, list[PersonChange]],
) -> Iterator[tuple[EnvironmentId, SubscriberId, tuple[MessageId, ...]]]:
    for environment_id, people in given.items():
        for subscriber_id, ids in people:
            yield EnvironmentId(environment_id), SubscriberId(subscriber_id), tuple(map(MessageId, ids))


def _encode(announcement: Announcement) -> str:
    return msgspec.json.encode(announcement).decode()


def _split(pending: dict[EnvironmentId, _People], max_bytes: int) -> Iterable[dict[bytes, list[PersonChange]]]:
    """Divide changes into parts whose JSON has at most `max_bytes`."""
    max_ids = (max_bytes - _HEAD_BYTES) // _ID_BYTES - 2
    part: defaultdict[bytes, list[PersonChange]] = defaultdict(list)
    size = _HEAD_BYTES
    for environment_id, people in pending.items():
        for subscriber_id, arrived in people.items():
            ids = list[bytes](arrived)[-max_ids:]
            needed = _PERSON_BYTES + _ID_BYTES * len(ids) + (0 if environment_id in part else _PERSON_BYTES)
            if part and size + needed > max_bytes:
                yield dict(part)
                part, size = defaultdict(list), _HEAD_BYTES
                needed += _PERSON_BYTES
            part[environment_id].append((subscriber_id, ids))
            size += needed
    if part:
        yield dict(part)
