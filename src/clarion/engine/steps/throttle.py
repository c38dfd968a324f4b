"""Throttle: at most so many runs of one person in a length of time; the rest of a run beyond that is skipped."""

from clarion.clock import Millis
from clarion.db.query import sql
from clarion.engine.outcomes import Done, Ended, Failed, StepOutcome
from clarion.engine.steps.context import StepContext
from clarion.engine.steps.digest import key_digest
from clarion.engine.steps.waiting import find_length
from clarion.ids import find_id
from clarion.jobs.details import DetailStatus
from clarion.schedules import Unit, end_of
from clarion.templates import evaluate_key
from clarion.workflows.controls import ThrottleControls, ThrottleType, read_as

LIST_PASSES = sql("""
    SELECT passed_at FROM throttle_passes
    WHERE environment_id = :environment_id AND step_id = :step_id AND subscriber_id = :subscriber_id
    AND key_digest = :key_digest
    ORDER BY passed_at DESC LIMIT :limit
""")
INSERT_PASS = sql("""
    INSERT INTO throttle_passes (environment_id, step_id, subscriber_id, key_digest, job_id, passed_at)
    VALUES (:environment_id, :step_id, :subscriber_id, :key_digest, :job_id, :now)
""")


async def decide(context: StepContext) -> StepOutcome:
    controls = read_as(ThrottleControls, context.controls)
    length = _length(context, controls)
    if length is None:
        context.note(DetailStatus.FAILED, "Invalid throttle configuration", raw={"controls": dict(context.controls)})
        return Failed()
    threshold = controls.threshold or 1
    value = evaluate_key(controls.throttle_key, context.variables) if controls.throttle_key else None
    scope = {
        "environment_id": context.environment_id,
        "step_id": find_id(context.step.id) or bytes(16),
        "subscriber_id": context.run.subscriber.id,
        "key_digest": key_digest(value),
    }
    rows = await context.db.fetch(LIST_PASSES, **scope, limit=threshold)
    recent = [row for row in rows if end_of(Millis(row["passed_at"]), *length, context.zone) > context.now]
    raw = {"threshold": threshold, "passed": len(recent)}
    if len(recent) >= threshold:
        context.note(DetailStatus.SUCCESS, "Step was throttled: limit exceeded", raw=raw)
        return Ended()
    await context.db.execute(INSERT_PASS, **scope, job_id=context.job.id, now=context.now)
    context.note(DetailStatus.SUCCESS, "Step completed", raw=raw)
    return Done(outputs={"throttled": False})


def _length(context: StepContext, controls: ThrottleControls) -> tuple[int, Unit] | None:
    if controls.kind is ThrottleType.DYNAMIC:
        return find_length(evaluate_key(controls.dynamic_key, context.variables)) if controls.dynamic_key else None
    return None if controls.amount is None or controls.unit is None else (controls.amount, controls.unit)
