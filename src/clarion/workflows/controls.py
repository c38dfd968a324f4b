"""The controls of each step type: content, timing, and the condition under which the step runs.

Controls are stored exactly as callers send them and decoded into these shapes when they are used.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, field

from clarion.conditions import check_logic
from clarion.content.email.blocks.document import is_block_document
from clarion.content.email.checks import check_body, list_templates
from clarion.content.email.compose import EditorType
from clarion.errors import ClarionError
from clarion.http.input.validation import find_problems
from clarion.http.wire import Wire
from clarion.templates import MAX_TEMPLATE, check_key, check_template, weigh_markup
from clarion.times import Unit, check_cron
from clarion.vocabulary import StepType

Amount = Annotated[float, Meta(gt=0, le=1_000_000_000)]
"""Of a unit of time; 0.5 hours are 30 minutes."""
Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Addresses = str | list[str]
"""One address, several with commas between them, or a list."""
PathAndText = tuple[str, str]
"""A path in the controls, with the text or the problem there."""

MAX_STEP_TEXT = 1 << 20
"""Characters of all texts of a step; several may come close to the limit of one, and all are parsed and rendered."""
MAX_STEP_MARKUP = 20_000
"""Tags of all texts of a step, counted as those of one text are."""
_MAX_DAYS = 3660
_SECONDS_A_DAY = 86_400
_SECONDS = {
    Unit.SECONDS: 1,
    Unit.MINUTES: 60,
    Unit.HOURS: 3600,
    Unit.DAYS: _SECONDS_A_DAY,
    Unit.WEEKS: 7 * _SECONDS_A_DAY,
    Unit.MONTHS: 31 * _SECONDS_A_DAY,
}
_NOT_TEXT = frozenset({"skip", "cron"})
_KEYS = ("digest_key", "throttle_key", "dynamic_key", "delay_path")


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


class ThrottleType(StrEnum):
    FIXED = "fixed"
    DYNAMIC = "dynamic"


class Redirect(Wire):
    url: str
    target: Target | None = None


class Action(Wire):
    label: str | None = None
    redirect: Redirect | None = None


class EmailSender(Wire):
    email: str | None = None
    name: str | None = None


class LookBackWindow(Wire):
    amount: Amount
    unit: Unit


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
    """Controls of SMS and chat steps."""

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
}

ControlsT = TypeVar("ControlsT", bound=Controls)


def read_controls(step_type: StepType, values: Mapping[str, Any]) -> Controls:
    """Decode stored controls into the shape of their step type; raises ControlsProblem."""
    return read_as(SHAPES[step_type], values)


def read_as(shape: type[ControlsT], values: Mapping[str, Any]) -> ControlsT:
    """Decode stored controls into a given shape; raises ControlsProblem."""
    normalized = _normalize(shape, values)
    try:
        return msgspec.convert(normalized, shape)
    except msgspec.ValidationError:
        found = [f"{path} {problem.message}" for path, problem in find_problems(normalized, shape, "")]
        raise ControlsProblem("; ".join(found)) from None


def check_controls(step_type: StepType, values: Mapping[str, Any]) -> list[PathAndText]:
    """List everything that keeps controls from being saved: paths and what is wrong there.

    Missing content does not, because drafts are saved too.
    """
    shape = SHAPES[step_type]
    problems = [(path, problem.message) for path, problem in find_problems(_normalize(shape, values), shape, "")]
    if step_type is not StepType.CUSTOM:
        problems += _template_problems(step_type, values)
    return problems or list(_rule_problems(read_as(shape, values)))


def _normalize(shape: type[Controls], values: Mapping[str, Any]) -> dict[str, Any]:
    """Some clients send whole numbers as floats; counts of steps that wait must be whole."""
    return _with_whole_numbers(values) if issubclass(shape, WaitControls) else dict(values)


def _with_whole_numbers(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: whole(value) for name, value in values.items()}


def whole(value: Any) -> Any:
    """Turn 3.0 into 3, also inside an object; other values are returned as they are."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return int(value)
    return _with_whole_numbers(value) if isinstance(value, dict) else value


def _template_problems(step_type: StepType, values: Mapping[str, Any]) -> Iterator[PathAndText]:
    texts: list[PathAndText] = []
    for name, value in values.items():
        if step_type is StepType.EMAIL and name == "body" and isinstance(value, str) and is_block_document(value):
            yield from _document_problems(value)
        elif name not in _NOT_TEXT:
            texts += texts_of(value, name)
    yield from _text_problems(texts)


def _text_problems(texts: Sequence[PathAndText]) -> Iterator[PathAndText]:
    length = weight = 0
    for path, text in texts:
        length += len(text)
        problem = check_template(text)
        weight += weigh_markup(text) if problem is None else 0
        if problem is None and length > MAX_STEP_TEXT:
            problem = f"makes the texts of the step longer than {MAX_STEP_TEXT} characters together"
        if problem is None and weight > MAX_STEP_MARKUP:
            problem = f"makes the tags of the step have more than {MAX_STEP_MARKUP} words and signs together"
        if problem is not None:
            yield path, problem
            if length > MAX_STEP_TEXT or weight > MAX_STEP_MARKUP:
                return


def _document_problems(body: str) -> Iterator[PathAndText]:
    """Yield the Liquid that is wrong; other problems of a block document do not keep it from being saved."""
    if len(body) > MAX_TEMPLATE:
        yield "body", f"must not be longer than {MAX_TEMPLATE} characters"
        return
    for problem in check_body(body, EditorType.BLOCK).problems:
        if problem.is_template:
            yield problem.path, problem.message


def list_texts(step_type: StepType, values: Mapping[str, Any]) -> Iterator[PathAndText]:
    """Yield the templates in controls with their paths; `skip` is none."""
    for name, value in values.items():
        if step_type is StepType.EMAIL and name == "body" and isinstance(value, str):
            yield from list_templates(value)
        elif name != "skip":
            yield from texts_of(value, name)


def texts_of(value: Any, path: str) -> Iterator[PathAndText]:
    """Yield every text in a JSON value with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from texts_of(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from texts_of(inner, f"{path}.{number}")


def _rule_problems(controls: Controls) -> Iterator[PathAndText]:
    """Yield the problems that types do not show; an empty text counts as missing."""
    if controls.skip and (problem := check_logic(controls.skip)):
        yield "skip", problem
    cron = getattr(controls, "cron", None)
    if cron and (problem := check_cron(cron)):
        yield "cron", problem
    names = {one.name: one.encode_name for one in msgspec.structs.fields(controls)}
    for name in names.keys() & _KEYS:
        key = getattr(controls, name)
        if key and (problem := check_key(key)):
            yield names[name], problem
    yield from _length_problems(controls)


def _length_problems(controls: Controls) -> Iterator[PathAndText]:
    if not isinstance(controls, WaitControls):
        return
    if controls.amount and controls.unit and _is_too_long(controls.amount, controls.unit):
        yield "amount", f"must not make more than {_MAX_DAYS} days"
    window = controls.look_back_window if isinstance(controls, DigestControls) else None
    if window is not None and _is_too_long(window.amount, window.unit):
        yield "lookBackWindow.amount", f"must not make more than {_MAX_DAYS} days"


def _is_too_long(amount: float, unit: Unit) -> bool:
    return amount * _SECONDS[unit] > _MAX_DAYS * _SECONDS_A_DAY
