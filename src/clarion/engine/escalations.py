"""Escalation: others are asked a question that nobody has answered for a while, in the unit of work of its step."""

from typing import Any

from clarion.answers.links import NAME as ANSWERS
from clarion.answers.links import answer_variables
from clarion.answers.questions import label_of
from clarion.engine.steps.decision import StepContext
from clarion.engine.steps.trigger import list_people
from clarion.engine.triggered import NotTriggered
from clarion.ids import id_text
from clarion.jobs.details import DetailCode
from clarion.subscribers.model import Subscriber
from clarion.templates import TemplateProblem, render_text, render_value
from clarion.workflows.control_parts import Escalation
from clarion.workflows.controls import AskControls


async def escalate(context: StepContext, controls: AskControls, escalation: Escalation) -> None:
    """Trigger the workflow for each of the people, with links of their own; what fails does not end the wait."""
    workflow = escalation.workflow_id or ""
    try:
        asked, unknown = await _ask_others(context, controls, escalation)
    except (NotTriggered, TemplateProblem) as problem:
        context.note(DetailCode.QUESTION_NOT_ESCALATED, raw={"workflowId": workflow, "reason": str(problem)})
        return
    raw: dict[str, Any] = {"workflowId": workflow, "transactionIds": asked}
    if unknown:
        raw["unknown"] = unknown
    context.note(DetailCode.QUESTION_ESCALATED if asked else DetailCode.QUESTION_NOT_ESCALATED, raw=raw)


async def _ask_others(
    context: StepContext, controls: AskControls, escalation: Escalation
) -> tuple[dict[str, str], list[str]]:
    """Return the transaction for each of those who were asked, and who does not exist."""
    keys = list_people(context, escalation.to or [])
    people = await context.triggered.find_people(keys)
    shared = _describe_question(context, controls, escalation)
    asked = {}
    for number, key in enumerate(key for key in keys if key in people):
        payload = shared | {ANSWERS: _make_links(context, people[key])}
        asked[str(key)] = await context.triggered.trigger(
            context.run, context.job, escalation.workflow_id or "", [key], payload, part=f"_{number}"
        )
    return asked, [str(key) for key in keys if key not in people]


def _describe_question(context: StepContext, controls: AskControls, escalation: Escalation) -> dict[str, Any]:
    """The payload that all of them get."""
    given: dict[str, Any] = render_value(escalation.payload or {}, context.variables)
    return given | {
        "question": render_text(controls.question or "", context.variables).strip(),
        "labels": {one.value: label_of(one, context.variables) for one in controls.choices or ()},
        "askedSubscriberId": context.run.subscriber.key,
        "notificationId": id_text(context.run.id),
        "stepId": context.step.step_id,
    }


def _make_links(context: StepContext, person: Subscriber) -> dict[str, str]:
    run = context.run
    if run.links is None:
        return {}
    links = answer_variables(run.links, run.id, person.id, [context.step], context.now)
    return {choice: str(link) for choice, link in links[context.step.step_id].items()}
