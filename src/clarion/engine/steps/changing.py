"""Update and clear: messages of an earlier step get new content, or are withdrawn; the run goes on at once."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from clarion.engine.steps.decision import Done, Failed, StepContext, StepOutcome
from clarion.jobs.details import DetailCode
from clarion.jobs.model import Job
from clarion.messages.changes import PENDING, REFUSED
from clarion.messages.changing import Changed
from clarion.messages.content import NewContent
from clarion.templates import render_text, render_value
from clarion.vocabulary import Channel
from clarion.workflows.content import render_in_app
from clarion.workflows.controls import ClearControls, UpdateControls

_FIELDS = ("subject", "body", "avatar", "primary_action", "secondary_action", "redirect", "data")


async def decide_update(context: StepContext) -> StepOutcome:
    controls = context.read_controls(UpdateControls)
    if not controls.of_step:
        return _refuse(context)
    job = _find_job(context, controls.of_step)
    if job is None:
        return _finish(context, controls.of_step, [])
    content = _render(context, controls, context.run.step_of(job).channel)
    changed = await context.changes.update(context.run, context.step, job, content)
    return _finish(context, controls.of_step, changed)


async def decide_clear(context: StepContext) -> StepOutcome:
    controls = context.read_controls(ClearControls)
    if not controls.of_step:
        return _refuse(context)
    job = _find_job(context, controls.of_step)
    changed = [] if job is None else await context.changes.withdraw(context.run, context.step, job)
    return _finish(context, controls.of_step, changed)


def _refuse(context: StepContext) -> Failed:
    context.note(DetailCode.CHANGE_INVALID, raw={"controls": dict(context.controls)})
    return Failed()


def _find_job(context: StepContext, step_id: str) -> Job | None:
    return next((job for job in context.run.jobs if context.run.step_of(job).step_id == step_id), None)


def _render(context: StepContext, controls: UpdateControls, channel: Channel | None) -> NewContent:
    """What is given, rendered as the step of the message renders its own."""
    if channel is not Channel.IN_APP:
        title = UNSET if controls.subject is None else render_text(controls.subject, context.variables)
        body = UNSET if controls.body is None else render_text(controls.body, context.variables)
        data = UNSET if controls.data is None else render_value(controls.data, context.variables)
        return NewContent(title=title, body=body, data=data)
    rendered, refused_links = render_in_app(controls, context.variables)
    if refused_links:
        raw = {"fields": refused_links, "reason": "the link would run code in the page that shows the message"}
        context.note(DetailCode.LINKS_LEFT_OUT, raw=raw)
    given = [name for name in _FIELDS if getattr(controls, name) is not None]
    return NewContent(**{name: getattr(rendered, name) for name in given})


def _finish(context: StepContext, step_id: str, changed: Sequence[Changed]) -> Done:
    refused = [verdict for _, verdict in changed if verdict.state in REFUSED.values()]
    pending = [verdict for _, verdict in changed if verdict.state in PENDING.values()]
    counts = {
        "changed": len(changed) - len(refused) - len(pending),
        "pending": len(pending),
        "refused": len(refused),
    }
    raw: dict[str, Any] = {"ofStep": step_id, **counts}
    code = DetailCode.EARLIER_CHANGED if changed else DetailCode.NOTHING_TO_CHANGE
    if refused:
        code = DetailCode.EARLIER_NOT_CHANGED
        raw["reasons"] = dict(Counter(verdict.reason for verdict in refused if verdict.reason))
    context.note(code, raw=raw)
    return Done(outputs=counts)
