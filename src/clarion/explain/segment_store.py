"""Whether a person is in the segments of a trigger now, by the conditions that were accepted with it."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from clarion.conditions import ConditionResult
from clarion.db.port import Connection
from clarion.engine.segments import exclude_actor
from clarion.segments.condition import SegmentCondition
from clarion.segments.facts import list_all_facts, make_fetch
from clarion.subscribers.model import Subscriber
from clarion.triggers.model import SegmentTarget, Trigger


class SegmentWay(Struct, frozen=True, kw_only=True):
    """A segment that a trigger is for, and one person."""

    target: SegmentTarget
    is_excluded: bool
    """By the trigger, or as its actor."""
    is_in: bool
    explanation: Mapping[str, Any]
    """The comparisons with the person's data of now."""

    @property
    def values(self) -> dict[str, Any]:
        return {"segmentKey": self.target.key, **({} if self.is_excluded else {"conditions": self.explanation})}


async def list_segment_ways(db: Connection, trigger: Trigger, person: Subscriber) -> list[SegmentWay]:
    """Each segment of the trigger."""
    targets = trigger.recipients.segments
    conditions = [SegmentCondition(one.condition) for one in targets]
    if not conditions:
        return []
    facts = (await list_all_facts(make_fetch(db), trigger.environment_id, [person.id], conditions))[person.id]
    results: list[ConditionResult] = [one.explain(person, facts, now=trigger.created_at) for one in conditions]
    return [
        SegmentWay(
            target=target,
            is_excluded=person.key in exclude_actor(trigger, target.exclude),
            is_in=result.passed,
            explanation=result.explanation,
        )
        for target, result in zip(targets, results, strict=True)
    ]
