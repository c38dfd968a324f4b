"""Who is in the segments of triggers, by the conditions that were accepted with them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from clarion.db.port import Connection
from clarion.ids import EnvironmentId, SubscriberId, SubscriberKey, TriggerId
from clarion.segments.condition import PersonFacts, SegmentCondition
from clarion.segments.facts import Fetch, list_all_facts, make_fetch
from clarion.segments.model import MAX_SEGMENTS_PER_TRIGGER
from clarion.segments.scanning import SegmentPeople, SegmentScan
from clarion.subscribers.model import Subscriber
from clarion.triggers.model import Trigger
from clarion.work import MAX_SEGMENT_WORK

MAX_MEMBERSHIP_WORK: Final = MAX_SEGMENTS_PER_TRIGGER * MAX_SEGMENT_WORK
"""Of deciding about one person."""


def make_segment_scan(fetch: Fetch, trigger: Trigger) -> SegmentScan:
    """Find people who are in at least one of the segments; spans of time end at the moment of the trigger."""
    return SegmentScan(fetch, trigger.environment_id, _list_segments(trigger), now=trigger.created_at)


def exclude_actor(trigger: Trigger, excluded: Sequence[SubscriberKey]) -> frozenset[SubscriberKey]:
    """Those of a topic or segment who get nothing: an actor gets no message of their own action through it."""
    actor = trigger.recipients.actor
    return frozenset(excluded) if actor is None else frozenset((*excluded, actor.key))


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
    return [
        SegmentPeople(condition=SegmentCondition(one.condition), exclude=exclude_actor(trigger, one.exclude))
        for one in trigger.recipients.segments
    ]
