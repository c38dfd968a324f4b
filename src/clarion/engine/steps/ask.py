"""Ask: the run goes on when somebody has answered a question, or when it has waited for long enough."""

from typing import Any

from clarion.answers.model import ANSWER_GIVEN, NO_ANSWER, RunAnswer
from clarion.clock import Millis
from clarion.content.environment import SECRET_MASK
from clarion.engine.escalations import escalate
from clarion.engine.masking import names_secret
from clarion.engine.steps.decision import Done, Ended, Failed, StepContext, StepOutcome, Waiting
from clarion.engine.waits import TooManyWaits
from clarion.ids import id_text
from clarion.jobs.details import DetailCode
from clarion.templates import render_text
from clarion.times import end_of
from clarion.vocabulary import JobStatus
from clarion.waits.model import MAX_WAIT, MAX_WAITS, EventWait, WaitRule
from clarion.workflows.control_parts import OnTimeout, Timeout
from clarion.workflows.controls import AskControls


async def decide(context: StepContext) -> StepOutcome:
    controls = context.read_controls(AskControls)
    if not controls.choices or controls.timeout is None:
        context.note(DetailCode.QUESTION_INVALID, raw={"controls": dict(context.controls)})
        return Failed()
    answer = context.waits.find_answer(context.run, context.step)
    if answer is not None:
        return _go_on(context, answer, given_before=True)
    until = min(_end_of(context, controls.timeout), Millis(context.now + MAX_WAIT))
    try:
        context.waits.add(_make_wait(context, until))
    except TooManyWaits:
        context.note(DetailCode.TOO_MANY_WAITS, raw={"limit": MAX_WAITS})
        return Failed()
    context.note(DetailCode.QUESTION_ASKED, raw=_describe(context, controls) | {"until": until})
    after = None if controls.escalate is None else controls.escalate.after
    return Waiting(until if after is None else min(until, _end_of(context, after)))


async def finish(context: StepContext) -> StepOutcome:
    """Somebody has answered, or nobody has for a while, or in time."""
    answer = context.waits.find_answer(context.run, context.step)
    if answer is not None:
        return _go_on(context, answer, given_before=False)
    controls, wait = context.read_controls(AskControls), context.waits.find(context.job)
    if controls.escalate is not None and wait is not None and context.now < wait.until:
        await escalate(context, controls, controls.escalate)
        return Waiting(wait.until)
    on_timeout = controls.on_timeout or OnTimeout.CONTINUE
    context.note(DetailCode.QUESTION_OVER, raw={"onTimeout": on_timeout})
    if on_timeout is OnTimeout.EXIT:
        return Ended(JobStatus.SKIPPED, DetailCode.STEP_AFTER_END, outputs=NO_ANSWER)
    return Done(outputs=NO_ANSWER)


def _go_on(context: StepContext, answer: RunAnswer, *, given_before: bool) -> Done:
    raw = answer.outputs | {"way": answer.way}
    if given_before:
        raw["givenBefore"] = True
    context.note(DetailCode.QUESTION_ANSWERED, raw=raw)
    return Done(outputs=answer.outputs)


def _end_of(context: StepContext, timeout: Timeout) -> Millis:
    return end_of(context.now, timeout.amount, timeout.unit, context.zone)


def _make_wait(context: StepContext, until: Millis) -> EventWait:
    run = context.run
    return EventWait(
        environment_id=run.trigger.environment_id,
        job_id=context.job.id,
        subscriber_id=run.subscriber.id,
        lane=context.job.lane,
        event=ANSWER_GIVEN,
        rule=WaitRule(run=id_text(run.id), jobs=[id_text(context.job.id)]),
        since=run.trigger.created_at,
        until=until,
    )


def _describe(context: StepContext, controls: AskControls) -> dict[str, Any]:
    """The question as people see it, unless it has a secret."""
    is_secret = names_secret(controls.question, context.run.content)
    question = SECRET_MASK if is_secret else render_text(controls.question or "", context.variables).strip()
    return {"question": question, "choices": [one.value for one in controls.choices or ()]}
