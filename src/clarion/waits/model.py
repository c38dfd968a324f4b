"""Events and waits as records, the names that events may have, and which events a wait takes."""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from clarion.clock import DAY, HOUR, Millis, iso_text
from clarion.conditions import OF_SUBSCRIBERS, CompiledLogic
from clarion.conditions.values import find_value, is_equal
from clarion.ids import EmittedEventId, EnvironmentId, JobId, NotificationId, SubscriberId, TopicId, id_text
from clarion.work import spend_work

EVENTS_KEPT: Final = HOUR
"""How long events are kept for steps that are reached later and look back."""
MAX_WAITS: Final = 100
"""Steps that wait for one person at a time."""
MAX_WAIT: Final = Millis(90 * DAY)
MAX_PAIRS: Final = 10
_WORK_OF_RULE: Final = 2
_WORK_OF_CONDITION: Final = 20
"""Of deciding whether a wait takes an event: how long it takes, in steps of work."""

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}")
NAME_RULE: Final = "must have 1 to 128 letters, digits and . _ : / -, beginning with a letter or digit"
RESERVED: Final = ("message.", "answer.")
"""How names begin that no application may emit."""


class MessageEventName(StrEnum):
    """Events of messages, which Clarion emits itself."""

    SEEN = "message.seen"
    READ = "message.read"
    OPENED = "message.opened"
    CLICKED = "message.clicked"
    DELIVERED = "message.delivered"
    FAILED = "message.failed"
    REPLIED = "message.replied"


class WaitSince(StrEnum):
    """From which moment on the events count for a wait."""

    TRIGGER = "trigger"
    """Since the trigger was accepted: also events that came while earlier steps waited."""
    REACHED = "reached"
    """Since the step was reached."""


class EmittedEvent(Struct, frozen=True, kw_only=True):
    """Something that happened to one person, to the members of a topic, or to everyone."""

    environment_id: EnvironmentId
    id: EmittedEventId
    name: str
    created_at: Millis
    data: dict[str, Any] = {}
    subscriber_id: SubscriberId | None = None
    """None: it is for a topic or for everyone."""
    topic_id: TopicId | None = None

    @property
    def shown(self) -> dict[str, Any]:
        """The event as conditions, templates and the outputs of a step see it."""
        return {"id": id_text(self.id), "name": self.name, "at": iso_text(self.created_at), "data": self.data}


class WaitRule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which of the events with the right name a wait takes; stored as JSON."""

    run: str | None = None
    """The run whose messages count, of waits for events of messages."""
    jobs: Sequence[str] = ()
    """The steps of that run whose messages count; empty: all."""
    pairs: Sequence[tuple[str, Any]] = ()
    """Paths in the data of the event, with the values that must be there."""
    condition: dict[str, Any] | None = None
    """JSON-logic over `event`."""

    def find_mismatch(self, event: EmittedEvent) -> str | None:
        """Return why the event is not taken, or None if it is."""
        if self.run is not None and event.data.get("notificationId") != self.run:
            return "it is about a message of another run"
        if self.jobs and event.data.get("jobId") not in self.jobs:
            return "it is about a message of another step"
        for path, wanted in self.pairs:
            if not is_equal(find_value(event.data, path), wanted):
                return f"'{path}' has another value"
        return None if self.condition is None else self._find_failed_condition(event)

    def _find_failed_condition(self, event: EmittedEvent) -> str | None:
        rule = CompiledLogic(self.condition)
        passed = rule.passes({"event": event.shown}, now=event.created_at, limits=OF_SUBSCRIBERS)
        return None if passed else "its condition does not hold"


class EventWait(Struct, kw_only=True):
    """A step of a run that waits for an event."""

    environment_id: EnvironmentId
    job_id: JobId
    subscriber_id: SubscriberId
    lane: int
    event: str
    rule: WaitRule
    since: Millis
    until: Millis
    matched: dict[str, Any] | None = None
    """The event that it took, as it is shown."""
    missed: int = 0
    """How many events with its name came and were not taken."""
    last_missed: dict[str, Any] | None = None

    def take(self, event: EmittedEvent) -> bool:
        """Take an event if it fits, or note why not; returns whether the step can go on now."""
        if self.matched is not None or not self.since <= event.created_at <= self.until:
            return False
        spend_work(_WORK_OF_RULE if self.rule.condition is None else _WORK_OF_CONDITION)
        mismatch = self.rule.find_mismatch(event)
        if mismatch is None:
            self.matched = event.shown
            return True
        self.missed += 1
        self.last_missed = {"id": id_text(event.id), "at": event.created_at, "reason": mismatch}
        return False


def find_name_problem(name: str) -> str | None:
    """Return what is wrong with the name of an event that a step waits for, or None."""
    if name.startswith(RESERVED) and name not in set(MessageEventName):
        return f"begins as only events of Clarion do; there are {', '.join(MessageEventName)}"
    return None if NAME.fullmatch(name) else NAME_RULE


def run_of(run_id: NotificationId) -> str:
    """A run as the rules of waits and the data of message events name it."""
    return id_text(run_id)
