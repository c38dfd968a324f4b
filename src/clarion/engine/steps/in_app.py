"""In-app: the message is in the inbox when the unit of work is committed."""

from typing import Any

from clarion.engine.outcomes import Done, Failed, StepOutcome
from clarion.engine.records import NewMessage
from clarion.engine.steps.context import StepContext
from clarion.ids import MessageId, find_id, id_text, new_id
from clarion.jobs.details import DetailStatus
from clarion.templates import render_text, render_value
from clarion.vocabulary import Channel
from clarion.workflows.controls import Action, InAppControls, Redirect, read_as

PROVIDER = "svc"


async def decide(context: StepContext) -> StepOutcome:
    if PROVIDER not in context.open_providers:
        context.note(
            DetailStatus.FAILED,
            "Subscriber does not have an active integration",
            raw={"channel": "in_app", "way out": "activate the in-app integration of this environment"},
        )
        return Failed()
    controls = read_as(InAppControls, context.controls)
    context.job.provider_id = PROVIDER
    message = _message(context, controls)
    context.note(DetailStatus.PENDING, "Message created")
    context.note(DetailStatus.PENDING, "Integration instance selected", raw={"providerId": PROVIDER})
    context.note(DetailStatus.SUCCESS, "Message sent")
    return Done(outputs=_outputs(context, message), messages=[message])


def _outputs(context: StepContext, message: NewMessage) -> dict[str, Any]:
    outputs: dict[str, Any] = {"seen": False, "read": False}
    if context.run.version.refers_to_steps:
        # Later steps find by it what became of the message: in-app messages have no index by job.
        outputs["messageId"] = id_text(message.id)
    return outputs


def _message(context: StepContext, controls: InAppControls) -> NewMessage:
    return NewMessage(
        id=MessageId(new_id(context.now)),
        job_id=context.job.id,
        step_id=find_id(context.step.id) or bytes(16),
        channel=Channel.IN_APP,
        provider_id=PROVIDER,
        content=_text(context, controls.body) or "",
        subject=_text(context, controls.subject),
        avatar=_text(context, controls.avatar),
        cta=_cta(context, controls),
        data=render_value(controls.data, context.variables) if controls.data else None,
        severity=context.run.workflow.severity,
        delivered_at=context.now,
    )


def _cta(context: StepContext, controls: InAppControls) -> dict[str, Any]:
    actions = (("primary", controls.primary_action), ("secondary", controls.secondary_action))
    buttons = [_button(context, kind, action) for kind, action in actions if action is not None and action.label]
    cta: dict[str, Any] = {"action": {"buttons": buttons}}
    if controls.redirect is not None:
        cta |= {"type": "redirect", "data": _redirect(context, controls.redirect)}
    return cta


def _button(context: StepContext, kind: str, action: Action) -> dict[str, Any]:
    button = {"type": kind, "content": _text(context, action.label) or ""}
    return button | (_redirect(context, action.redirect) if action.redirect else {})


def _redirect(context: StepContext, redirect: Redirect) -> dict[str, Any]:
    return {"url": _text(context, redirect.url) or "", "target": redirect.target or "_self"}


def _text(context: StepContext, text: str | None) -> str | None:
    return None if text is None else render_text(text, context.variables)
