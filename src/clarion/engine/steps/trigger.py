"""Trigger: another workflow starts, for the same person or for others; the run goes on at once."""

from collections.abc import Iterator
from typing import Final

from clarion.engine.steps.decision import Done, Failed, StepContext, StepOutcome
from clarion.engine.triggered import NotTriggered
from clarion.http.wire import SubscriberKeyText
from clarion.ids import SubscriberKey
from clarion.jobs.details import DetailCode
from clarion.templates import render_value
from clarion.workflows.controls import TriggerControls

MAX_PEOPLE: Final = 10
"""Workflows that trigger each other multiply whom they are for."""


async def decide(context: StepContext) -> StepOutcome:
    controls = context.read_controls(TriggerControls)
    workflow = controls.workflow_id or ""
    try:
        people = _read_people(context, controls)
        payload = render_value(controls.payload or {}, context.variables)
        transaction = await context.triggered.trigger(context.run, context.job, workflow, people, payload)
    except NotTriggered as problem:
        context.note(DetailCode.WORKFLOW_NOT_TRIGGERED, raw={"workflowId": workflow, "reason": str(problem)})
        return Failed()
    raw = {"workflowId": workflow, "transactionId": transaction, "subscriberIds": people}
    context.note(DetailCode.WORKFLOW_TRIGGERED, raw=raw)
    return Done(outputs={"transactionId": transaction})


def _read_people(context: StepContext, controls: TriggerControls) -> list[SubscriberKey]:
    if not controls.to:
        return [context.run.subscriber.key]
    people = list(dict.fromkeys(_list_keys(context, controls.to)))
    if not people:
        raise NotTriggered("`to` is empty; leave it out to trigger the workflow for the same person")
    if len(people) > MAX_PEOPLE:
        raise NotTriggered(f"`to` names {len(people)} people; a step triggers a workflow for at most {MAX_PEOPLE}")
    return people


def _list_keys(context: StepContext, to: str | list[str]) -> Iterator[SubscriberKey]:
    for text in [to] if isinstance(to, str) else to:
        for key in (part.strip() for part in str(render_value(text, context.variables)).split(",")):
            if key and not SubscriberKeyText.accepts(key):
                raise NotTriggered(f"`to` has '{key[:64]}', which is no subscriberId: it {SubscriberKeyText.RULE}")
            if key:
                yield SubscriberKey(key)
