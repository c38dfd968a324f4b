"""Who is connected to this process, and what is pushed to them: each change once, and counts that are different."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeGuard, TypeVar

from clarion.background import BackgroundService, ServiceName
from clarion.bus import InboxChange
from clarion.db.port import Connection, Database, Work
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId, MessageId, SubscriberId, id_text
from clarion.inbox.counts import InboxCounts, count_inbox
from clarion.inbox.sockets.events import (
    PushedMessage,
    SocketEvent,
    change_event,
    changed_count_events,
    list_pushed_messages,
    message_event,
)
from clarion.inbox.sockets.sockets import Socket, SocketIdentity

_GATHER_SECONDS = 0.003
_QUIET_SECONDS = 0.04
"""The shortest time between two pushes to a person: changes that follow each other cost one query."""
_HELD_SECONDS = 0.01
_PRESENCE_SECONDS = 1.0
"""How long a new person waits for their first push while their presence is not written."""
_RETRY_SECONDS = 1.0
_MAX_PEOPLE = 200
_MAX_MESSAGES = 100
"""Of one person at a time."""
MAX_ON_LOOP = 32

T = TypeVar("T")

ContextKeys = tuple[str, ...]
_Counts = dict[tuple[SubscriberId, ContextKeys], InboxCounts]

log = logging.getLogger(__name__)


class ConnectedPerson:
    """Somebody who is connected, with one or more sockets of the same contexts."""

    __slots__ = (
        "arrived",
        "changed",
        "context_keys",
        "counts",
        "due_at",
        "environment_id",
        "is_known",
        "new_sockets",
        "sockets",
        "subscriber_id",
    )

    def __init__(self, identity: SocketIdentity, *, is_known: bool) -> None:
        self.environment_id = identity.environment_id
        self.subscriber_id = identity.subscriber_id
        self.context_keys: ContextKeys = identity.context_keys
        self.sockets: list[Socket] = []
        self.new_sockets: list[Socket] = []
        """Those among them that were sent no counts yet."""
        self.arrived: dict[MessageId, None] = {}
        self.changed: dict[MessageId, None] = {}
        """Messages that have new content or are withdrawn."""
        self.counts: InboxCounts | None = None
        """What the sockets were sent last."""
        self.due_at = 0.0
        self.is_known = is_known
        """Whether the processes that write messages can find that they are connected."""


class Hub:
    """Sockets by person, and the changes that are to be pushed to them."""

    def __init__(
        self,
        database: Database,
        *,
        on_presence: Callable[[EnvironmentId, SubscriberId], None] = lambda *_: None,
        waits_for_presence: bool = False,
    ) -> None:
        """`on_presence` is called when somebody connects or when their last socket is gone.

        With `waits_for_presence` somebody who connects gets their counts when `make_known` was called. So each message
        is either in these counts, or its writer finds that they are connected and announces it.
        """
        self._database = database
        self._waits_for_presence = waits_for_presence
        self._on_presence = on_presence
        self._people: dict[EnvironmentId, dict[tuple[SubscriberId, ContextKeys], ConnectedPerson]] = {}
        self._contexts: dict[EnvironmentId, Counter[ContextKeys]] = {}
        """How many people of each set of contexts are connected; mostly there is one set, which is empty."""
        self._pending: dict[EnvironmentId, dict[ConnectedPerson, None]] = {}
        self._has_changes = asyncio.Event()

    @property
    def environment_ids(self) -> Iterable[EnvironmentId]:
        return self._people.keys()

    def has_environment(self, environment_id: EnvironmentId) -> bool:
        return environment_id in self._people

    def is_connected(self, environment_id: EnvironmentId, subscriber_id: SubscriberId) -> bool:
        return bool(self._list_connected(environment_id, subscriber_id))

    def list_people(self) -> list[tuple[EnvironmentId, SubscriberId]]:
        return [(environment_id, one) for environment_id, people in self._people.items() for one, _ in people]

    def add(self, socket: Socket, identity: SocketIdentity) -> None:
        """Push to a socket from now on, beginning with the counts."""
        environment_id, key = identity.environment_id, (identity.subscriber_id, identity.context_keys)
        people = self._people.setdefault(environment_id, {})
        person = people.get(key)
        if person is None:
            person = people[key] = ConnectedPerson(identity, is_known=not self._waits_for_presence)
            person.due_at = asyncio.get_running_loop().time() + _PRESENCE_SECONDS
            self._contexts.setdefault(environment_id, Counter())[identity.context_keys] += 1
            self._on_presence(environment_id, identity.subscriber_id)
        person.sockets.append(socket)
        person.new_sockets.append(socket)
        if person.is_known:
            person.due_at = 0.0
        self._await_push(person)

    def make_known(self, people: Iterable[tuple[EnvironmentId, SubscriberId]]) -> None:
        """Push to people from now on: their presence is written."""
        for environment_id, subscriber_id in people:
            for person in self._list_connected(environment_id, subscriber_id):
                if not person.is_known:
                    person.is_known = True
                    person.due_at = 0.0
                    self._await_push(person)

    def remove(self, socket: Socket, identity: SocketIdentity) -> None:
        environment_id, key = identity.environment_id, (identity.subscriber_id, identity.context_keys)
        person = self._people.get(environment_id, {}).get(key)
        if person is None or socket not in person.sockets:
            return
        person.sockets.remove(socket)
        if socket in person.new_sockets:
            person.new_sockets.remove(socket)
        if person.sockets:
            return
        del self._people[environment_id][key]
        contexts = self._contexts[environment_id]
        contexts[identity.context_keys] -= 1
        if not contexts[identity.context_keys]:
            del contexts[identity.context_keys]
        if not contexts:
            del self._people[environment_id], self._contexts[environment_id]
        self._on_presence(environment_id, identity.subscriber_id)

    def note(self, changes: Sequence[InboxChange]) -> None:
        """Push changes of people who are connected here, in a moment."""
        for change in changes:
            for person in self._list_connected(change.environment_id, change.subscriber_id):
                person.arrived.update(dict.fromkeys(change.arrived))
                person.changed.update(dict.fromkeys(change.changed))
                self._await_push(person)

    def _list_connected(self, environment_id: EnvironmentId, subscriber_id: SubscriberId) -> list[ConnectedPerson]:
        people = self._people.get(environment_id)
        if people is None:
            return []
        found = (people.get((subscriber_id, one)) for one in self._contexts[environment_id])
        return [one for one in found if one is not None]

    def count_again(self, environment_id: EnvironmentId | None = None) -> None:
        """Push the counts of everybody (of an environment) that are different now: changes may have been missed."""
        chosen = self._people.values() if environment_id is None else [self._people.get(environment_id, {})]
        for people in list(chosen):
            for person in people.values():
                self._await_push(person)

    def make_service(self) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.SOCKET_PUSHES, run_once=self._push_pending, wake_up=self._has_changes, ends_last=True
        )

    async def _push_pending(self) -> bool:
        """Push what is due; returns whether anything is held back."""
        loop = asyncio.get_running_loop()
        try:
            # The environments take turns, so that a broadcast in one does not delay the others.
            while due := self._take_due(loop.time()):
                for environment_id, people in due.items():
                    await self._push(environment_id, people)
        except Exception:
            # Those who were taken with the push that failed have missed it.
            self.count_again()
            raise
        # What comes in the next moment is gathered.
        await asyncio.sleep(_HELD_SECONDS if self._pending else _GATHER_SECONDS)
        return bool(self._pending)

    def _await_push(self, person: ConnectedPerson) -> None:
        self._pending.setdefault(person.environment_id, {})[person] = None
        self._has_changes.set()

    def _take_due(self, now: float) -> dict[EnvironmentId, list[ConnectedPerson]]:
        due: dict[EnvironmentId, list[ConnectedPerson]] = {}
        for environment_id, pending in list(self._pending.items()):
            people = _first_due(pending, now)
            for person in people:
                del pending[person]
                person.due_at = now + _QUIET_SECONDS
            if people:
                due[environment_id] = people
            if not pending:
                del self._pending[environment_id]
        return due

    async def _push(self, environment_id: EnvironmentId, people: Sequence[ConnectedPerson]) -> None:
        taken = [(person, _take(person.arrived), _take(person.changed)) for person in people]
        ids = list({message_id for _, arrived, changed in taken for message_id in (*arrived, *changed)})
        by_contexts: dict[ContextKeys, list[SubscriberId]] = {}
        for person in people:
            by_contexts.setdefault(person.context_keys, []).append(person.subscriber_id)

        async def load(db: Connection) -> tuple[dict[MessageId, PushedMessage], _Counts]:
            messages = await list_pushed_messages(db, environment_id, ids) if ids else {}
            return messages, {
                (subscriber_id, context_keys): counts
                for context_keys, subscriber_ids in by_contexts.items()
                for subscriber_id, counts in (
                    await count_inbox(db, environment_id, subscriber_ids, context_keys=context_keys)
                ).items()
            }

        try:
            messages, counts = await choose_read(self._database, len(people) + len(ids))(load)
        except StoreUnavailable as error:
            log.warning("Push postponed", extra={"error": str(error), "count": len(people)})
            self._postpone(taken)
            return
        for person, arrived, changed in taken:
            own = {one: message for one in arrived + changed if _is_for(message := messages.get(one), person)}
            events = [message_event(own[one]) for one in arrived if one in own]
            events += [change_event(one, own.get(one)) for one in changed if one in own or one not in messages]
            counted = counts.get((person.subscriber_id, person.context_keys))
            _send(person, events, counted)
            if person.arrived or person.changed:
                self._await_push(person)

    def _postpone(self, taken: Sequence[tuple[ConnectedPerson, list[MessageId], list[MessageId]]]) -> None:
        due_at = asyncio.get_running_loop().time() + _RETRY_SECONDS
        for person, arrived, changed in taken:
            person.arrived = dict.fromkeys([*arrived, *person.arrived])
            person.changed = dict.fromkeys([*changed, *person.changed])
            person.due_at = due_at
            if person.sockets:
                self._await_push(person)


def choose_read(database: Database, count: int) -> Callable[[Work[T]], Coroutine[Any, Any, T]]:
    """Read for a few people on the event loop, and for many without blocking it."""
    return database.read if count <= MAX_ON_LOOP else database.scan


def _first_due(pending: Iterable[ConnectedPerson], now: float) -> list[ConnectedPerson]:
    due = []
    for person in pending:
        if person.due_at <= now:
            due.append(person)
            if len(due) == _MAX_PEOPLE:
                break
    return due


def _is_for(message: PushedMessage | None, person: ConnectedPerson) -> TypeGuard[PushedMessage]:
    """Whether it is the person's; what other processes announce is checked too."""
    if message is None:
        return False
    return message.subscriber_id == id_text(person.subscriber_id) and tuple(message.context_keys) == person.context_keys


def _take(pending: dict[MessageId, None]) -> list[MessageId]:
    message_ids = list(pending)[:_MAX_MESSAGES]
    for message_id in message_ids:
        del pending[message_id]
    return message_ids


def _send(person: ConnectedPerson, events: Sequence[SocketEvent], counts: InboxCounts | None) -> None:
    """Send events about messages, then the counts that are different; new sockets get all counts."""
    if counts is None:
        return
    changed = changed_count_events(counts, person.counts)
    new, person.new_sockets = person.new_sockets, []
    person.counts = counts
    if events or changed:
        known = [one for one in person.sockets if one not in new] if new else person.sockets
        _send_events(known, [*events, *changed])
    if new:
        _send_events(new, [*events, *changed_count_events(counts, None)])


def _send_events(sockets: Iterable[Socket], events: Sequence[SocketEvent]) -> None:
    """Encode the events once for all sockets of a protocol."""
    encoded: dict[type[Socket], bytes] = {}
    for socket in list(sockets):
        frames = encoded.get(type(socket))
        if frames is None:
            frames = encoded[type(socket)] = b"".join(map(socket.encode, events))
        socket.send(frames)
