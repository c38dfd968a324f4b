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
        people = list_people(context, controls.to) if controls.to else [context.run.subscriber.key]
        payload = render_value(controls.payload or {}, context.variables)
        transaction = await context.triggered.trigger(context.run, context.job, workflow, people, payload)
    except NotTriggered as problem:
        context.note(DetailCode.WORKFLOW_NOT_TRIGGERED, raw={"workflowId": workflow, "reason": str(problem)})
        return Failed()
    raw = {"workflowId": workflow, "transactionId": transaction, "subscriberIds": people}
    context.note(DetailCode.WORKFLOW_TRIGGERED, raw=raw)
    return Done(outputs={"transactionId": transaction})


def list_people(context: StepContext, to: str | list[str]) -> list[SubscriberKey]:
    """Whom templates name, each once; raises NotTriggered."""
    people = list(dict.fromkeys(_list_keys(context, to)))
    if not people:
        raise NotTriggered("`to` is empty: it names nobody")
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
