"""Who is connected to this process, and what is pushed to them: each change once, and counts that are different."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence

from clarion.bus import InboxChange
from clarion.db.port import Connection, Database
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId, MessageId, SubscriberId, id_text
from clarion.messages.inbox_counts import InboxCounts, count_inbox
from clarion.messages.pushed import PushedMessage, list_pushed_messages
from clarion.realtime.events import Event, changed_count_events, message_event
from clarion.realtime.reading import choose_read
from clarion.realtime.sockets import Claim, Socket

_GATHER_SECONDS = 0.003
_QUIET_SECONDS = 0.04
"""A person who was just pushed something waits this long: changes that follow each other cost one query."""
_HELD_SECONDS = 0.01
_RETRY_SECONDS = 1.0
_MAX_PEOPLE = 200
_MAX_MESSAGES = 100
"""Of one person at a time."""

log = logging.getLogger(__name__)


class Person:
    """Somebody who is connected, with one or more sockets."""

    __slots__ = ("arrived", "counts", "due_at", "environment_id", "new_sockets", "sockets", "subscriber_id")

    def __init__(self, environment_id: EnvironmentId, subscriber_id: SubscriberId) -> None:
        self.environment_id = environment_id
        self.subscriber_id = subscriber_id
        self.sockets: list[Socket] = []
        self.new_sockets: list[Socket] = []
        """Those among them that were sent no counts yet."""
        self.arrived: dict[MessageId, None] = {}
        self.counts: InboxCounts | None = None
        """What the sockets were sent last."""
        self.due_at = 0.0


class Hub:
    """Sockets by person, and the changes that are to be pushed to them."""

    def __init__(
        self, database: Database, *, on_presence: Callable[[EnvironmentId, SubscriberId], None] = lambda *_: None
    ) -> None:
        """`on_presence` is called when somebody connects or when their last socket is gone."""
        self._database = database
        self._on_presence = on_presence
        self._people: dict[EnvironmentId, dict[SubscriberId, Person]] = {}
        self._pending: dict[EnvironmentId, dict[Person, None]] = {}
        self._has_changes = asyncio.Event()

    @property
    def environment_ids(self) -> Iterable[EnvironmentId]:
        return self._people.keys()

    def has_environment(self, environment_id: EnvironmentId) -> bool:
        return environment_id in self._people

    def is_connected(self, environment_id: EnvironmentId, subscriber_id: SubscriberId) -> bool:
        return subscriber_id in self._people.get(environment_id, ())

    def list_people(self) -> list[tuple[EnvironmentId, SubscriberId]]:
        return [(environment_id, one) for environment_id, people in self._people.items() for one in people]

    def add(self, socket: Socket, claim: Claim) -> None:
        """Push to a socket from now on, beginning with the counts."""
        environment_id, subscriber_id = claim.environment_id, claim.subscriber_id
        people = self._people.setdefault(environment_id, {})
        person = people.get(subscriber_id)
        if person is None:
            person = people[subscriber_id] = Person(environment_id, subscriber_id)
            self._on_presence(environment_id, subscriber_id)
        person.sockets.append(socket)
        person.new_sockets.append(socket)
        person.due_at = 0.0
        self._await_push(person)

    def remove(self, socket: Socket, claim: Claim) -> None:
        environment_id, subscriber_id = claim.environment_id, claim.subscriber_id
        person = self._people.get(environment_id, {}).get(subscriber_id)
        if person is None or socket not in person.sockets:
            return
        person.sockets.remove(socket)
        if socket in person.new_sockets:
            person.new_sockets.remove(socket)
        if person.sockets:
            return
        del self._people[environment_id][subscriber_id]
        if not self._people[environment_id]:
            del self._people[environment_id]
        self._on_presence(environment_id, subscriber_id)

    def note(self, changes: Sequence[InboxChange]) -> None:
        """Push changes of people who are connected here, in a moment."""
        for change in changes:
            person = self._people.get(change.environment_id, {}).get(change.subscriber_id)
            if person is not None:
                person.arrived.update(dict.fromkeys(change.arrived))
                self._await_push(person)

    def count_again(self, environment_id: EnvironmentId | None = None) -> None:
        """Push the counts of everybody (of an environment) that are different now: changes may have been missed."""
        chosen = self._people.values() if environment_id is None else [self._people.get(environment_id, {})]
        for people in list(chosen):
            for person in people.values():
                self._await_push(person)

    async def run(self) -> None:
        """Push what is pending until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await self._has_changes.wait()
            await asyncio.sleep(_GATHER_SECONDS)
            # The environments take turns, so that a broadcast in one does not delay the others.
            while due := self._take_due(loop.time()):
                for environment_id, people in due.items():
                    await self._push(environment_id, people)
            if self._pending:
                await asyncio.sleep(_HELD_SECONDS)

    def _await_push(self, person: Person) -> None:
        self._pending.setdefault(person.environment_id, {})[person] = None
        self._has_changes.set()

    def _take_due(self, now: float) -> dict[EnvironmentId, list[Person]]:
        due: dict[EnvironmentId, list[Person]] = {}
        for environment_id, pending in list(self._pending.items()):
            found = _first_due(pending, now)
            for one in found:
                del pending[one]
                one.due_at = now + _QUIET_SECONDS
            if found:
                due[environment_id] = found
            if not pending:
                del self._pending[environment_id]
        if not self._pending:
            self._has_changes.clear()
        return due

    async def _push(self, environment_id: EnvironmentId, people: Sequence[Person]) -> None:
        taken = [(one, _take_arrived(one)) for one in people]
        ids = [message_id for _, found in taken for message_id in found]

        async def load(db: Connection) -> tuple[dict[MessageId, PushedMessage], dict[SubscriberId, InboxCounts]]:
            messages = await list_pushed_messages(db, environment_id, ids) if ids else {}
            return messages, await count_inbox(db, environment_id, [one.subscriber_id for one in people])

        try:
            messages, counts = await choose_read(self._database, len(people) + len(ids))(load)
        except StoreUnavailable as error:
            log.warning("Push postponed", extra={"error": str(error), "count": len(people)})
            self._postpone(taken)
            return
        for one, found in taken:
            # What other processes announce is checked: a message goes to the person whose message it is.
            owner = id_text(one.subscriber_id)
            arrived = [messages[message_id] for message_id in found if message_id in messages]
            _send(
                one, [message for message in arrived if message.subscriber_id == owner], counts.get(one.subscriber_id)
            )
            if one.arrived:
                self._await_push(one)

    def _postpone(self, taken: Sequence[tuple[Person, list[MessageId]]]) -> None:
        due_at = asyncio.get_running_loop().time() + _RETRY_SECONDS
        for one, found in taken:
            one.arrived = dict.fromkeys([*found, *one.arrived])
            one.due_at = due_at
            if one.sockets:
                self._await_push(one)


def _first_due(pending: Iterable[Person], now: float) -> list[Person]:
    found = []
    for one in pending:
        if one.due_at <= now:
            found.append(one)
            if len(found) == _MAX_PEOPLE:
                break
    return found


def _take_arrived(person: Person) -> list[MessageId]:
    found = list(person.arrived)[:_MAX_MESSAGES]
    for one in found:
        del person.arrived[one]
    return found


def _send(person: Person, messages: Sequence[PushedMessage], counts: InboxCounts | None) -> None:
    """Send messages, then the counts that are different; new sockets get all counts."""
    if counts is None:
        return
    events = [message_event(one) for one in messages]
    changed = changed_count_events(counts, person.counts)
    new, person.new_sockets = person.new_sockets, []
    person.counts = counts
    if events or changed:
        known = [one for one in person.sockets if one not in new] if new else person.sockets
        _send_events(known, [*events, *changed])
    if new:
        _send_events(new, [*events, *changed_count_events(counts, None)])


def _send_events(sockets: Iterable[Socket], events: Sequence[Event]) -> None:
    """Encode the events once for all sockets of a protocol."""
    encoded: dict[type[Socket], bytes] = {}
    for one in list(sockets):
        frames = encoded.get(type(one))
        if frames is None:
            frames = encoded[type(one)] = b"".join(map(one.encode, events))
        one.send(frames)
