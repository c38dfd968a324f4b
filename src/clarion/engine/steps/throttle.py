"""Throttle: at most so many runs of one person in a length of time; the rest of a run beyond that is skipped."""

from typing import Any

from clarion.clock import DAY, HOUR, MINUTE, SECOND, Millis
from clarion.engine.masking import show_key_value
from clarion.engine.steps.decision import Done, Ended, Failed, StepContext, StepOutcome
from clarion.engine.steps.digest import key_digest
from clarion.engine.throttles import ThrottleIdentity
from clarion.jobs.details import DetailCode
from clarion.templates import evaluate_key
from clarion.times import Unit, end_of, find_length
from clarion.workflows.controls import ThrottleControls, ThrottleType, whole

# No length of the unit is longer, in any time zone and month.
_UPPER_BOUND = {
    Unit.SECONDS: SECOND,
    Unit.MINUTES: MINUTE,
    Unit.HOURS: HOUR,
    Unit.DAYS: 2 * DAY,
    Unit.WEEKS: 8 * DAY,
    Unit.MONTHS: 32 * DAY,
}


async def decide(context: StepContext) -> StepOutcome:
    controls = context.read_controls(ThrottleControls)
    length = _length(context, controls)
    if length is None:
        context.note(DetailCode.THROTTLE_INVALID, raw={"controls": dict(context.controls)})
        return Failed()
    threshold = controls.threshold or 1
    value = _key_value(context, controls)
    identity = _identity(context, value)
    passes = await context.throttles.list(identity, _since(context, length))
    recent = [one for one in passes if end_of(one, *length, context.zone) > context.now]
    amount, unit = length
    raw = {"threshold": threshold, "passed": min(len(recent), threshold), "amount": whole(amount), "unit": unit}
    if controls.throttle_key:
        shown = show_key_value(controls.throttle_key, value, context.run.content)
        raw |= {"throttleKey": controls.throttle_key, "value": shown}
    if len(recent) >= threshold:
        raw["until"] = end_of(recent[len(recent) - threshold], *length, context.zone)
        context.note(DetailCode.THROTTLED, raw=raw)
        return Ended()
    context.throttles.add(identity, context.job.id)
    context.note(DetailCode.STEP_COMPLETED, raw=raw)
    return Done(outputs={"throttled": False})


def find_passes(context: StepContext) -> tuple[bytes, Millis] | None:
    """Which passes the step will ask for, and since when."""
    controls = context.read_controls(ThrottleControls)
    length = _length(context, controls)
    return (
        None
        if length is None
        else (_identity(context, _key_value(context, controls)).throttle_id, _since(context, length))
    )


def _key_value(context: StepContext, controls: ThrottleControls) -> Any:
    return evaluate_key(controls.throttle_key, context.variables) if controls.throttle_key else None


def _identity(context: StepContext, value: Any) -> ThrottleIdentity:
    return ThrottleIdentity(
        step_id=context.step.id_bytes,
        subscriber_id=context.run.subscriber.id,
        key_digest=key_digest(value),
    )


def _since(context: StepContext, length: tuple[float, Unit]) -> Millis:
    amount, unit = length
    return Millis(int(context.now - (amount + 1) * _UPPER_BOUND[unit]))


def _length(context: StepContext, controls: ThrottleControls) -> tuple[float, Unit] | None:
    if controls.kind is ThrottleType.DYNAMIC:
        return find_length(evaluate_key(controls.dynamic_key, context.variables)) if controls.dynamic_key else None
    return None if controls.amount is None or controls.unit is None else (controls.amount, controls.unit)
