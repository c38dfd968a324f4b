"""In-app: the message is in the inbox when the unit of work is committed."""

from typing import Any

from clarion.engine.records import NewMessage
from clarion.engine.steps.decision import Done, Failed, StepContext, StepOutcome
from clarion.ids import MessageId, id_text, new_id
from clarion.jobs.details import DetailCode, DetailSource
from clarion.triggers.model import list_misplaced_overrides
from clarion.vocabulary import Channel
from clarion.workflows.content import InAppContent, make_cta, render_in_app
from clarion.workflows.controls import InAppControls

PROVIDER = "svc"


async def decide(context: StepContext) -> StepOutcome:
    if PROVIDER not in context.open_providers:
        context.note_no_integration(Channel.IN_APP)
        return Failed()
    context.job.provider_id = PROVIDER
    content, refused_links = render_in_app(context.read_controls(InAppControls), context.variables)
    message = _message(context, content)
    if refused_links:
        raw = {"fields": refused_links, "reason": "the link would run code in the page that shows the message"}
        context.note(DetailCode.LINKS_LEFT_OUT, raw=raw)
    if context.run.trigger.overrides:
        _note_ignored(context, context.run.trigger.overrides)
    context.note(DetailCode.MESSAGE_CREATED)
    context.note(DetailCode.INTEGRATION_SELECTED, raw={"providerId": PROVIDER})
    context.note(DetailCode.SENT)
    return Done(outputs=_outputs(context, message), messages=[message])


def _note_ignored(context: StepContext, overrides: dict[str, Any]) -> None:
    """Other steps may not be reached, so this one names all overrides that nothing reads."""
    ignored = list_misplaced_overrides(overrides, context.run.version.steps)
    if ignored:
        context.note(DetailCode.OVERRIDES_IGNORED, source=DetailSource.PAYLOAD, raw={"ignored": ignored})


def _outputs(context: StepContext, message: NewMessage) -> dict[str, Any]:
    outputs: dict[str, Any] = {"seen": False, "read": False}
    if context.run.version.refers_to_steps:
        # Later steps find by it what became of the message: in-app messages have no index by job.
        outputs["messageId"] = id_text(message.id)
    return outputs


def _message(context: StepContext, content: InAppContent) -> NewMessage:
    return NewMessage(
        id=MessageId(new_id(context.now)),
        job_id=context.job.id,
        step_id=context.step.id_bytes,
        channel=Channel.IN_APP,
        provider_id=PROVIDER,
        content=content.body or "",
        subject=content.subject,
        avatar=content.avatar,
        cta=make_cta(content),
        data=content.data,
        severity=context.run.workflow.severity,
        delivered_at=context.now,
    )
