"""Tells whether a trigger was for a person through a segment, and why."""

from collections.abc import Sequence

from clarion.clock import Millis, iso_text
from clarion.explain.model import Decision, DecisionKind, Verdict, derived, list_text, moment_text
from clarion.explain.reached import join_comparisons
from clarion.explain.segment_store import SegmentWay
from clarion.subscribers.model import Subscriber
from clarion.triggers.model import Trigger, TriggerState

_BEFORE = (TriggerState.EXPANDING, TriggerState.SCHEDULED)


def decide_way(way: SegmentWay, trigger: Trigger, person: Subscriber, *, name: str, now: Millis) -> Decision:
    """Whether one segment of the trigger leads to the person."""
    at, key = trigger.created_at, way.target.key
    if person.key in way.target.exclude:
        text = f"The trigger leaves {name} out of the segment '{key}' (exclude)."
        remedy = "Take the person out of `exclude`, or name them as a recipient."
        return derived(at, DecisionKind.EXCLUSION, Verdict.STOPPED, text, way.values, remedy)
    if way.is_excluded:
        text = f"{name} is the actor of the trigger, who gets no message about it through a segment."
        remedy = "Leave `actor` out of the trigger, or name the person as a recipient."
        return derived(at, DecisionKind.EXCLUSION, Verdict.STOPPED, text, way.values, remedy)
    if not way.is_in:
        reason = join_comparisons(way.explanation, held=False)
        text = f"{name} is not in the segment '{key}', which the trigger is for{reason}."
        remedy = "Values for which the condition of the segment holds, or name the person as a recipient."
        return derived(at, DecisionKind.RECIPIENT, Verdict.STOPPED, text, way.values, remedy)
    if person.created_at > at and trigger.state not in _BEFORE:
        text = (
            f"{name} is in the segment '{key}', but was created on {moment_text(person.created_at, now)}, "
            "after the trigger."
        )
        values = way.values | {"createdAt": iso_text(person.created_at)}
        return derived(at, DecisionKind.RECIPIENT, Verdict.STOPPED, text, values)
    reason = join_comparisons(way.explanation, held=True)
    text = f"{name} is in the segment '{key}', which the trigger is for{reason}."
    return derived(at, DecisionKind.RECIPIENT, Verdict.PASSED, text, way.values)


def tell_segments(ways: Sequence[SegmentWay], name: str) -> tuple[str, SegmentWay | None]:
    """Through which segment a person was reached, as far as their data of now tells."""
    meant = [one for one in ways if not one.is_excluded]
    holding = next((one for one in meant if one.is_in), None)
    if holding is not None:
        reason = join_comparisons(holding.explanation, held=True)
        return f"{name} is in the segment '{holding.target.key}', which the trigger is for{reason}.", holding
    keys = list_text(f"'{one.target.key}'" for one in meant)
    return f"{name} was in a segment that the trigger is for ({keys}); their data has changed since.", None
