"""All kinds of steps: what each comes to when it is reached, and when the moment it waited for has come."""

from collections.abc import Awaitable, Callable

from clarion.engine.steps import (
    ask,
    branch,
    changing,
    channels,
    digest,
    ending,
    http_request,
    in_app,
    throttle,
    trigger,
    wait_for,
    waiting,
)
from clarion.engine.steps.decision import Done, StepContext, StepOutcome
from clarion.jobs.details import DetailCode
from clarion.templates import render_value
from clarion.vocabulary import StepType

Decide = Callable[[StepContext], Awaitable[StepOutcome]]


async def _decide_custom(context: StepContext) -> StepOutcome:
    """What later steps see of it are its controls, rendered."""
    values = {name: value for name, value in context.controls.items() if name != "skip"}
    context.note(DetailCode.STEP_COMPLETED)
    return Done(outputs=render_value(values, context.variables))


DECIDE: dict[StepType, Decide] = {
    StepType.IN_APP: in_app.decide,
    StepType.EMAIL: channels.decide_email,
    StepType.SMS: channels.decide_sms,
    StepType.CHAT: channels.decide_chat,
    StepType.PUSH: channels.decide_push,
    StepType.DELAY: waiting.decide,
    StepType.DIGEST: digest.decide,
    StepType.THROTTLE: throttle.decide,
    StepType.CUSTOM: _decide_custom,
    StepType.BRANCH: branch.decide,
    StepType.EXIT: ending.decide,
    StepType.TRIGGER: trigger.decide,
    StepType.TOOL: channels.decide_tool,
    StepType.HTTP_REQUEST: http_request.decide,
    StepType.UPDATE: changing.decide_update,
    StepType.CLEAR: changing.decide_clear,
    StepType.WAIT_FOR: wait_for.decide,
    StepType.ASK: ask.decide,
}
FINISH: dict[StepType, Decide] = {
    StepType.HTTP_REQUEST: http_request.finish,
    StepType.DELAY: waiting.finish,
    StepType.DIGEST: digest.finish,
    StepType.WAIT_FOR: wait_for.finish,
    StepType.ASK: ask.finish,
}
