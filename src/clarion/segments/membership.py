"""Whether one person is in segments, each decided once, and why."""

from collections.abc import Mapping

from clarion.clock import Millis
from clarion.conditions import ConditionResult
from clarion.ids import SegmentKey
from clarion.segments.condition import PersonFacts, SegmentCondition
from clarion.subscribers.model import Subscriber


class PersonSegments:
    def __init__(
        self, conditions: Mapping[SegmentKey, SegmentCondition], person: Subscriber, facts: PersonFacts
    ) -> None:
        self._conditions = conditions
        self._person = person
        self._facts = facts
        self._decided: dict[str, ConditionResult] = {}

    def decide(self, key: str, now: Millis) -> ConditionResult:
        """Whether the person is in a segment, with the comparisons; nobody is in one that does not exist."""
        if key not in self._decided:
            condition = self._conditions.get(SegmentKey(key))
            if condition is None:
                explanation = {"passed": False, "problem": "it does not exist"}
                return ConditionResult(passed=False, explanation=explanation)
            self._decided[key] = condition.explain(self._person, self._facts, now=now)
        return self._decided[key]
