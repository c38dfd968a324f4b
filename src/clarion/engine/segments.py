"""Who is in segments: in those of triggers, by the conditions that were accepted with them, and in those of steps.

A step asks for a segment as it is when the step is decided.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from clarion.cache import CacheSlot
from clarion.db.port import Connection
from clarion.engine.records import Run
from clarion.environments.configuration import Versioned, get_or_load
from clarion.ids import EnvironmentId, SegmentKey, SubscriberId, SubscriberKey, TriggerId
from clarion.segments.condition import PersonFacts, SegmentCondition
from clarion.segments.facts import Fetch, list_all_facts, make_fetch
from clarion.segments.membership import PersonSegments
from clarion.segments.model import MAX_SEGMENTS_PER_TRIGGER
from clarion.segments.scanning import SegmentPeople, SegmentScan
from clarion.segments.store import list_segments
from clarion.subscribers.model import Subscriber
from clarion.triggers.model import Trigger, ZoneTarget
from clarion.work import MAX_SEGMENT_WORK

MAX_MEMBERSHIP_WORK: Final = MAX_SEGMENTS_PER_TRIGGER * MAX_SEGMENT_WORK
"""Of deciding about one person."""


_CONDITIONS: CacheSlot[EnvironmentId, Versioned[Mapping[SegmentKey, SegmentCondition]]] = CacheSlot(limit=1_000)


def make_segment_scan(fetch: Fetch, trigger: Trigger) -> SegmentScan:
    """Find people who are in at least one of the segments; spans of time end at the moment of the trigger."""
    return SegmentScan(fetch, trigger.environment_id, _list_segments(trigger), now=trigger.created_at)


def exclude_actor(trigger: Trigger, excluded: Sequence[SubscriberKey]) -> frozenset[SubscriberKey]:
    """Those of a topic or segment who get nothing: an actor gets no message of their own action through it."""
    actor = trigger.recipients.actor
    return frozenset(excluded) if actor is None else frozenset((*excluded, actor.key))


async def add_segments(db: Connection, environment_id: EnvironmentId, version: int, runs: Sequence[Run]) -> None:
    """Let runs ask for the segments that their steps refer to, at this version of the configuration."""
    asking = [run for run in runs if run.version.segment_keys]
    if not asking:
        return
    known = await get_or_load(db, _CONDITIONS, environment_id, version, _load_conditions)
    keys = {key for run in asking for key in run.version.segment_keys}
    conditions = [known[key] for key in keys if key in known]
    people = [run.subscriber.id for run in asking]
    facts = await list_all_facts(make_fetch(db), environment_id, people, conditions)
    for run in asking:
        run.segments = PersonSegments(known, run.subscriber, facts[run.subscriber.id])


class SegmentMembers:
    """Decides about a few people whether their triggers reach them through a segment."""

    def __init__(
        self, segments: Mapping[TriggerId, Sequence[SegmentPeople]], facts: Mapping[SubscriberId, PersonFacts]
    ) -> None:
        self._segments = segments
        self._facts = facts

    @classmethod
    async def load(
        cls, db: Connection, environment_id: EnvironmentId, pairs: Iterable[tuple[Trigger, Subscriber]]
    ) -> "SegmentMembers":
        """Read what the conditions ask about these people."""
        asked = [(trigger, person) for trigger, person in pairs if trigger.recipients.segments]
        triggers = {trigger.id: trigger for trigger, _ in asked}
        segments = {key: _list_segments(trigger) for key, trigger in triggers.items()}
        conditions = [one.condition for some in segments.values() for one in some]
        people = [person.id for _, person in asked]
        return cls(segments, await list_all_facts(make_fetch(db), environment_id, people, conditions))

    def includes(self, trigger: Trigger, person: Subscriber) -> bool:
        return any(
            person.key not in segment.exclude
            and segment.condition.includes(person, self._facts[person.id], now=trigger.created_at)
            for segment in self._segments.get(trigger.id, ())
        )


def _list_segments(trigger: Trigger) -> list[SegmentPeople]:
    zone = trigger.recipients.zone
    return [
        SegmentPeople(
            condition=SegmentCondition(target.condition if zone is None else _within(zone, target.condition)),
            exclude=exclude_actor(trigger, target.exclude),
        )
        for target in trigger.recipients.segments
    ]


def _within(zone: ZoneTarget, condition: Any) -> Any:
    return {"and": [{"==": [{"var": "subscriber.timezone"}, zone.name]}, condition]}


async def _load_conditions(db: Connection, environment_id: EnvironmentId) -> Mapping[SegmentKey, SegmentCondition]:
    return {one.key: SegmentCondition(one.condition) for one in await list_segments(db, environment_id)}
