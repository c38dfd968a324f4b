"""Wait for: the run goes on when an event comes, or when it has waited for long enough."""

from collections.abc import Iterator
from typing import Any

from clarion.clock import Millis
from clarion.content.environment import SECRET_MASK
from clarion.engine.masking import names_secret, show_key_value
from clarion.engine.steps.decision import Done, Ended, Failed, StepContext, StepOutcome, Waiting
from clarion.engine.waits import TooManyWaits
from clarion.ids import id_text
from clarion.jobs.details import DetailCode
from clarion.templates import render_value
from clarion.times import end_of
from clarion.vocabulary import JobStatus
from clarion.waits.model import MAX_WAIT, MAX_WAITS, EventWait, MessageEventName, WaitRule, WaitSince
from clarion.workflows.control_parts import OnTimeout
from clarion.workflows.controls import WaitForControls, whole


async def decide(context: StepContext) -> StepOutcome:
    controls = context.read_controls(WaitForControls)
    if not controls.event or controls.timeout is None:
        context.note(DetailCode.WAIT_INVALID, raw={"controls": dict(context.controls)})
        return Failed()
    timeout = controls.timeout
    until = min(end_of(context.now, timeout.amount, timeout.unit, context.zone), Millis(context.now + MAX_WAIT))
    wait = _make_wait(context, controls, controls.event, until)
    try:
        has_come = await context.waits.open(wait, context.run)
    except TooManyWaits:
        context.note(DetailCode.TOO_MANY_WAITS, raw={"limit": MAX_WAITS})
        return Failed()
    if has_come:
        return _go_on(context, wait, seen_before=True)
    raw = {"event": wait.event, "until": until, "since": wait.since, **_describe(context, controls, wait)}
    context.note(DetailCode.WAITS_FOR_EVENT, raw=raw)
    return Waiting(until)


async def finish(context: StepContext) -> StepOutcome:
    """The event has come, or it came in time no more."""
    wait = context.waits.find(context.job)
    if wait is not None and wait.matched is not None:
        return _go_on(context, wait, seen_before=False)
    controls = context.read_controls(WaitForControls)
    raw: dict[str, Any] = {"event": controls.event, "onTimeout": controls.on_timeout or OnTimeout.CONTINUE}
    if wait is not None and wait.missed:
        raw |= {"missed": wait.missed, "lastMissed": wait.last_missed}
    context.note(DetailCode.WAIT_OVER, raw=raw)
    outputs = {"matched": False, "event": None, "at": None, "data": None}
    if controls.on_timeout is OnTimeout.EXIT:
        return Ended(JobStatus.SKIPPED, DetailCode.STEP_AFTER_END, outputs=outputs)
    return Done(outputs=outputs)


def _go_on(context: StepContext, wait: EventWait, *, seen_before: bool) -> Done:
    event = wait.matched or {}
    outputs = {"matched": True, "event": event["name"], "at": event["at"], "data": event["data"]}
    raw: dict[str, Any] = {"event": event["name"], "eventId": event["id"], "at": event["at"]}
    if seen_before:
        raw["cameBefore"] = True
    if wait.missed:
        raw |= {"missed": wait.missed, "lastMissed": wait.last_missed}
    context.note(DetailCode.EVENT_MATCHED, raw=raw)
    return Done(outputs=outputs)


def _make_wait(context: StepContext, controls: WaitForControls, event: str, until: Millis) -> EventWait:
    run, is_of_message = context.run, event in set(MessageEventName)
    since = controls.since or (WaitSince.TRIGGER if is_of_message else WaitSince.REACHED)
    return EventWait(
        environment_id=run.trigger.environment_id,
        job_id=context.job.id,
        subscriber_id=run.subscriber.id,
        lane=context.job.lane,
        event=event,
        rule=WaitRule(
            run=id_text(run.id) if is_of_message else None,
            jobs=list(_list_jobs(context, controls.of_step)) if controls.of_step else (),
            pairs=[(pair.path, render_value(pair.value, context.variables)) for pair in controls.match or ()],
            condition=render_value(controls.condition, context.variables) if controls.condition else None,
        ),
        since=run.trigger.created_at if since is WaitSince.TRIGGER else context.now,
        until=until,
    )


def _list_jobs(context: StepContext, step_id: str) -> Iterator[str]:
    """The job of a step of the run; one that names nothing, where the step was not reached: no message fits then."""
    jobs = [job for job in context.run.jobs if context.run.step_of(job).step_id == step_id]
    yield from (id_text(job.id) for job in jobs)
    if not jobs:
        yield ""


def _describe(context: StepContext, controls: WaitForControls, wait: EventWait) -> dict[str, Any]:
    """What the step is set to, with the values that its templates came to."""
    described, content = dict[str, Any](), context.run.content
    if controls.of_step:
        described["ofStep"] = controls.of_step
    if wait.rule.pairs:
        values = dict(wait.rule.pairs)
        pairs = controls.match or ()
        described["match"] = {one.path: show_key_value(str(one.value), values[one.path], content) for one in pairs}
    if wait.rule.condition is not None:
        is_secret = names_secret(controls.condition, content)
        described["condition"] = SECRET_MASK if is_secret else wait.rule.condition
    if controls.timeout is not None:
        described |= {"amount": whole(controls.timeout.amount), "unit": controls.timeout.unit}
    return described
