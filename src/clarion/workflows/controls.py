"""The controls of each step type: content, timing, and the condition under which the step runs.

Controls are stored exactly as callers send them and decoded into these shapes when they are used.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, field

from clarion.content.email.compose import EditorType
from clarion.errors import ClarionError
from clarion.http.input.validation import find_problems
from clarion.http.wire import Wire
from clarion.times import Unit
from clarion.vocabulary import StepType
from clarion.waits.model import MAX_PAIRS, WaitSince
from clarion.workflows.control_parts import (
    Amount,
    AskChoice,
    BranchPath,
    Count,
    Escalation,
    EventPair,
    ItemLimit,
    KeyValue,
    LookBackWindow,
    OnTimeout,
    OtherPath,
    RetainedEvents,
    SlideLimit,
    Timeout,
)
from clarion.workflows.tree import MAX_PATHS

Addresses = str | list[str]
"""One address, several with commas between them, or a list."""
MAX_HEADERS = 50
DEFAULT_TIMEOUT_SECONDS = 5.0
MAX_TIMEOUT_SECONDS = 15


MAX_CHOICES = 10


BY_TIME = "time"
"""Of events of a digest: in the order of their triggers."""


class ControlsProblem(ClarionError):
    """Controls do not fit their shape; the message names each path and what is wrong there."""


class Target(StrEnum):
    """Where a link opens."""

    SELF = "_self"
    BLANK = "_blank"
    PARENT = "_parent"
    TOP = "_top"
    UNFENCED_TOP = "_unfencedTop"


class DelayType(StrEnum):
    REGULAR = "regular"
    SCHEDULED = "scheduled"
    TIMED = "timed"
    DYNAMIC = "dynamic"


class DigestType(StrEnum):
    REGULAR = "regular"
    TIMED = "timed"


class VersionChoice(StrEnum):
    """Which version a run goes on with after a digest; pinned if none is given."""

    LATEST = "latest"
    PINNED = "pinned"


class ThrottleType(StrEnum):
    FIXED = "fixed"
    DYNAMIC = "dynamic"


class HttpMethod(StrEnum):
    GET = "GET"
    POST = "POST"
    PUT = "PUT"
    DELETE = "DELETE"
    PATCH = "PATCH"


class OnFailure(StrEnum):
    """What becomes of a run whose HTTP step fails."""

    STOP = "stop"
    CONTINUE = "continue"


class Share(StrEnum):
    """For whom the request of an HTTP step is made."""

    PERSON = "person"
    TRIGGER = "trigger"
    """One request for all runs of a trigger."""


class Redirect(Wire):
    url: str
    target: Target | None = None


class Action(Wire):
    label: str | None = None
    redirect: Redirect | None = None
    answer: str | None = None
    """What using the button answers to a question of the run: the `stepId`, a dot and the value of a choice."""


class EmailSender(Wire):
    email: str | None = None
    name: str | None = None


class Controls(Wire):
    """What every step has: `skip` is the JSON-logic under which it runs."""

    skip: dict[str, Any] | None = None


class InAppControls(Controls):
    subject: str | None = None
    body: str | None = None
    avatar: str | None = None
    primary_action: Action | None = None
    secondary_action: Action | None = None
    redirect: Redirect | None = None
    data: dict[str, Any] | None = None
    disable_output_sanitization: bool | None = None


class EmailControls(Controls):
    subject: str | None = None
    body: str | None = None
    editor_type: EditorType | None = None
    sender: EmailSender | str | None = field(name="from", default=None)
    sender_name: str | None = None
    reply_to: Addresses | None = None
    cc: Addresses | None = None
    bcc: Addresses | None = None
    headers: dict[str, str] | None = None
    preheader: str | None = None
    layout_id: str | None = None
    use_provider_defaults: bool | None = None
    """Whether the sender is that of the integration, whatever `from` says."""
    disable_output_sanitization: bool | None = None


class TextControls(Controls):
    """Controls of SMS, chat and tool steps."""

    body: str | None = None


class PushControls(Controls):
    subject: str | None = None
    body: str | None = None
    data: dict[str, Any] | None = None


class WaitControls(Controls):
    """The length of time of steps that wait or count."""

    amount: Amount | None = None
    unit: Unit | None = None


class DelayControls(WaitControls):
    type: DelayType | None = None
    cron: str | None = None
    dynamic_key: str | None = None
    delay_path: str | None = None
    extend_to_schedule: bool | None = None

    @property
    def kind(self) -> DelayType:
        return self.type or (DelayType.TIMED if self.cron and self.amount is None else DelayType.REGULAR)


class DigestControls(WaitControls):
    type: DigestType | None = None
    cron: str | None = None
    digest_key: str | None = None
    look_back_window: LookBackWindow | None = None
    slide_up_to: SlideLimit | None = None
    max_items: ItemLimit | None = None
    dynamic_key: str | None = None
    retain: RetainedEvents | None = None
    version: VersionChoice | None = None
    extend_to_schedule: bool | None = None

    @property
    def kind(self) -> DigestType:
        return self.type or (DigestType.TIMED if self.cron and self.amount is None else DigestType.REGULAR)


class ThrottleControls(WaitControls):
    type: ThrottleType | None = None
    threshold: Count | None = None
    throttle_key: str | None = None
    dynamic_key: str | None = None

    @property
    def kind(self) -> ThrottleType:
        return self.type or (ThrottleType.DYNAMIC if self.dynamic_key else ThrottleType.FIXED)


class BranchControls(Controls):
    paths: Annotated[list[BranchPath], Meta(max_length=MAX_PATHS)] | None = None
    otherwise: OtherPath | None = None


class ExitControls(Controls):
    reason: str | None = None


class WaitForControls(Controls):
    event: str | None = None
    of_step: str | None = None
    match: Annotated[list[EventPair], Meta(max_length=MAX_PAIRS)] | None = None
    condition: dict[str, Any] | None = None
    timeout: Timeout | None = None
    on_timeout: OnTimeout | None = None
    since: WaitSince | None = None


class AskControls(Controls):
    question: str | None = None
    choices: Annotated[list[AskChoice], Meta(max_length=MAX_CHOICES)] | None = None
    timeout: Timeout | None = None
    on_timeout: OnTimeout | None = None
    escalate: Escalation | None = None


class UpdateControls(InAppControls):
    """The new content; what is left out stays as it is."""

    of_step: str | None = None


class ClearControls(Controls):
    of_step: str | None = None


class TriggerControls(Controls):
    workflow_id: str | None = None
    to: Addresses | None = None
    payload: dict[str, Any] | None = None


class HttpRequestControls(Controls):
    method: HttpMethod | None = None
    url: str | None = None
    headers: Annotated[list[KeyValue], Meta(max_length=MAX_HEADERS)] | None = None
    body: str | dict[str, Any] | Annotated[list[KeyValue], Meta(max_length=MAX_HEADERS)] | None = None
    response_body_schema: dict[str, Any] | None = None
    enforce_schema_validation: bool | None = None
    on_failure: OnFailure | None = None
    continue_on_failure: bool | None = None
    """The same as `on_failure`, by the name that other systems have for it."""
    timeout: Annotated[float, Meta(gt=0, le=MAX_TIMEOUT_SECONDS * 1000)] | None = None
    share: Share | None = None

    @property
    def seconds(self) -> float:
        """How long an answer is waited for; numbers that are too large for seconds are milliseconds."""
        if self.timeout is None:
            return DEFAULT_TIMEOUT_SECONDS
        return self.timeout if self.timeout <= MAX_TIMEOUT_SECONDS else self.timeout / 1000


SHAPES: dict[StepType, type[Controls]] = {
    StepType.IN_APP: InAppControls,
    StepType.EMAIL: EmailControls,
    StepType.SMS: TextControls,
    StepType.CHAT: TextControls,
    StepType.PUSH: PushControls,
    StepType.DELAY: DelayControls,
    StepType.DIGEST: DigestControls,
    StepType.THROTTLE: ThrottleControls,
    StepType.CUSTOM: Controls,
    StepType.BRANCH: BranchControls,
    StepType.EXIT: ExitControls,
    StepType.TRIGGER: TriggerControls,
    StepType.TOOL: TextControls,
    StepType.WAIT_FOR: WaitForControls,
    StepType.HTTP_REQUEST: HttpRequestControls,
    StepType.ASK: AskControls,
    StepType.UPDATE: UpdateControls,
    StepType.CLEAR: ClearControls,
}

ControlsT = TypeVar("ControlsT", bound=Controls)


def read_controls(step_type: StepType, values: Mapping[str, Any]) -> Controls:
    """Decode stored controls into the shape of their step type; raises ControlsProblem."""
    return read_as(SHAPES[step_type], values)


def read_as(shape: type[ControlsT], values: Mapping[str, Any]) -> ControlsT:
    """Decode stored controls into a given shape; raises ControlsProblem."""
    normalized = normalize(shape, values)
    try:
        return msgspec.convert(normalized, shape)
    except msgspec.ValidationError:
        found = [f"{path} {problem.message}" for path, problem in find_problems(normalized, shape, "")]
        raise ControlsProblem("; ".join(found)) from None


def normalize(shape: type[Controls], values: Mapping[str, Any]) -> dict[str, Any]:
    """Some clients send whole numbers as floats; counts of steps that wait must be whole."""
    return _with_whole_numbers(values) if issubclass(shape, WaitControls) else dict(values)


def _with_whole_numbers(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: whole(value) for name, value in values.items()}


def whole(value: Any) -> Any:
    """Turn 3.0 into 3, also inside an object; other values are returned as they are."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return int(value)
    return _with_whole_numbers(value) if isinstance(value, dict) else value
