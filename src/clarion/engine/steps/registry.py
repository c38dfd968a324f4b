"""All kinds of steps: what each comes to when it is reached, and when the moment it waited for has come."""

from collections.abc import Awaitable, Callable

from clarion.engine.outcomes import StepOutcome
from clarion.engine.steps import channels, custom, digest, in_app, throttle, waiting
from clarion.engine.steps.context import StepContext
from clarion.vocabulary import StepType

Decide = Callable[[StepContext], Awaitable[StepOutcome]]

DECIDE: dict[StepType, Decide] = {
    StepType.IN_APP: in_app.decide,
    StepType.EMAIL: channels.decide_email,
    StepType.SMS: channels.decide_sms,
    StepType.CHAT: channels.decide_chat,
    StepType.PUSH: channels.decide_push,
    StepType.DELAY: waiting.decide,
    StepType.DIGEST: digest.decide,
    StepType.THROTTLE: throttle.decide,
    StepType.CUSTOM: custom.decide,
}
FINISH: dict[StepType, Decide] = {StepType.DELAY: waiting.finish, StepType.DIGEST: digest.finish}
