"""Delay: the run goes on later, at a moment that is computed once."""

from typing import Any

from clarion.clock import Millis, find_moment
from clarion.engine.masking import show_key_value
from clarion.engine.steps.decision import Done, Failed, StepContext, StepOutcome, Waiting
from clarion.jobs.details import DetailCode, DetailSource
from clarion.templates import evaluate_key
from clarion.times import MAX_AHEAD, end_of, find_end, find_length, next_cron, next_within
from clarion.workflows.controls import DelayControls, DelayType, whole

MAX_EXTENSIONS = 3
"""How often a step is extended; a person who keeps changing their schedule does not hold it up for ever."""


async def decide(context: StepContext) -> StepOutcome:
    controls = context.read_controls(DelayControls)
    until = _moment(context, controls)
    if until is None:
        raw = {"controls": dict(context.controls), **_seen(context, controls)}
        context.note(DetailCode.DELAY_INVALID, raw=raw)
        return Failed()
    until = extend(context, until)
    if until - context.now > MAX_AHEAD:
        context.note(DetailCode.DEFERRED_TOO_LONG, raw={"until": until})
        return Failed()
    if until <= context.now:
        context.note(DetailCode.DELAY_OVER, raw={"until": until, "reason": "already past"})
        return Done(outputs={})
    context.note(DetailCode.DELAYED, raw={"until": until, **_seen(context, controls)})
    return Waiting(until)


async def finish(context: StepContext) -> StepOutcome:
    """The moment has come, unless the person's schedule has changed since."""
    until = extend(context, context.now)
    if until > context.now:
        return Waiting(until)
    context.note(DetailCode.DELAY_OVER)
    return Done(outputs={})


def extend(context: StepContext, until: Millis) -> Millis:
    """The next moment inside the person's schedule where the step asks for that, else `until` itself."""
    run = context.run
    if not context.controls.get("extendToSchedule") or run.workflow.is_critical:
        return until
    extensions = sum(one.code == DetailCode.EXTENDED_TO_SCHEDULE for one in context.job.details)
    inside = next_within(run.subscriber.schedule, max(until, context.now), context.zone)
    if inside is None or inside <= context.now or inside == until or extensions >= MAX_EXTENSIONS:
        return until
    raw = {"from": until, "until": inside, "timezone": context.zone, "schedule": run.subscriber.schedule}
    context.note(DetailCode.EXTENDED_TO_SCHEDULE, raw=raw)
    return inside


def _moment(context: StepContext, controls: DelayControls) -> Millis | None:
    override = (context.run.trigger.overrides or {}).get("delay")
    length = find_length(override)
    if length is not None:
        return end_of(context.now, *length, context.zone)
    if override is not None:
        raw = {"delay": override, "way out": "give an amount of at least 0 and a unit, such as hours"}
        context.note(DetailCode.DELAY_OVERRIDE_IGNORED, source=DetailSource.PAYLOAD, raw=raw)
    if controls.kind is DelayType.TIMED:
        return next_cron(controls.cron, context.now, context.zone) if controls.cron else None
    if controls.kind is DelayType.SCHEDULED:
        return _named(context, controls.delay_path)
    if controls.kind is DelayType.DYNAMIC:
        return _named(context, controls.dynamic_key)
    if controls.amount is None or controls.unit is None:
        return None
    return end_of(context.now, controls.amount, controls.unit, context.zone)


def _seen(context: StepContext, controls: DelayControls) -> dict[str, Any]:
    """What the length of the delay comes from."""
    length = find_length((context.run.trigger.overrides or {}).get("delay"))
    if length is not None:
        return {"type": "override", "amount": whole(length[0]), "unit": length[1]}
    if controls.kind is DelayType.TIMED:
        return {"type": controls.kind, "cron": controls.cron, "timezone": context.zone}
    key = controls.delay_path if controls.kind is DelayType.SCHEDULED else controls.dynamic_key
    if controls.kind in (DelayType.SCHEDULED, DelayType.DYNAMIC):
        value = evaluate_key(key, context.variables) if key else None
        shown = None if key is None else show_key_value(key, value, context.run.content)
        return {"type": controls.kind, "path": key, "value": shown}
    return {"type": controls.kind, "amount": whole(controls.amount), "unit": controls.unit}


def _named(context: StepContext, key: str | None) -> Millis | None:
    """The moment that a key of the payload tells: a date, or a length of time from now."""
    value = evaluate_key(key, context.variables) if key else None
    until = find_end(context.now, value, context.zone)
    return find_moment(value) if until is None and isinstance(value, str) else until
