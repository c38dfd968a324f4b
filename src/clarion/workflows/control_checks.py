"""What keeps the controls of a step from being saved, and the texts that they have."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from clarion.clock import DAY, SECOND
from clarion.conditions import OF_SUBSCRIBERS, check_logic
from clarion.content.email.blocks.document import is_block_document
from clarion.content.email.checks import check_body, list_templates
from clarion.content.email.compose import EditorType
from clarion.http.input.validation import find_problems
from clarion.templates import MAX_TEMPLATE, check_key, check_template, weigh_markup
from clarion.times import Unit, check_cron
from clarion.vocabulary import StepType
from clarion.waits.model import MAX_WAIT, MessageEventName, find_name_problem
from clarion.workflows.control_parts import SlideLimit, Timeout
from clarion.workflows.controls import (
    SHAPES,
    AskControls,
    BranchControls,
    Controls,
    DigestControls,
    DigestType,
    HttpRequestControls,
    WaitControls,
    WaitForControls,
    normalize,
    read_as,
)
from clarion.workflows.http_checks import list_request_problems
from clarion.workflows.tree import OTHERWISE

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
_NOT_TEXT = frozenset({"skip", "cron", "responseBodySchema"})
_KEYS = ("digest_key", "throttle_key", "dynamic_key", "delay_path")
PathAndText = tuple[str, str]
"""A path in the controls, with the text or the problem there."""


def check_controls(step_type: StepType, values: Mapping[str, Any]) -> list[PathAndText]:
    """List everything that keeps controls from being saved: paths and what is wrong there.

    Missing content does not, because drafts are saved too.
    """
    shape = SHAPES[step_type]
    problems = [(path, problem.message) for path, problem in find_problems(normalize(shape, values), shape, "")]
    if step_type is not StepType.CUSTOM:
        problems += _template_problems(step_type, values)
    return problems or list(_rule_problems(read_as(shape, values)))


def _template_problems(step_type: StepType, values: Mapping[str, Any]) -> Iterator[PathAndText]:
    texts: list[PathAndText] = []
    for name, value in values.items():
        if step_type is StepType.EMAIL and name == "body" and isinstance(value, str) and is_block_document(value):
            yield from _document_problems(value)
        elif name not in _NOT_TEXT:
            texts += texts_of(value, name)
    yield from list_text_problems(texts)


def list_text_problems(texts: Iterable[PathAndText]) -> Iterator[PathAndText]:
    """Yield what is wrong with templates, each with its path, and where they become too much together."""
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
        elif name not in ("skip", "responseBodySchema"):
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
    yield from _kind_problems(controls)


def _kind_problems(controls: Controls) -> Iterator[PathAndText]:
    match controls:
        case BranchControls():
            yield from _path_problems(controls)
        case WaitForControls():
            yield from _event_problems(controls)
        case HttpRequestControls():
            yield from list_request_problems(controls)
        case AskControls():
            yield from _choice_problems(controls)


def _path_problems(controls: BranchControls) -> Iterator[PathAndText]:
    paths = controls.paths or []
    names = [one.name for one in paths]
    is_weighted = any(one.weight for one in paths)
    for number, path in enumerate(paths):
        if path.name == OTHERWISE:
            yield f"paths.{number}.name", f"must not be '{OTHERWISE}', which is the path where no condition holds"
        elif path.name in names[:number]:
            yield f"paths.{number}.name", "is that of a path before; every path needs its own"
        if path.condition and is_weighted:
            yield f"paths.{number}.condition", "cannot stand beside weights: a branch decides by one of both"
        elif path.condition and (problem := check_logic(path.condition)):
            yield f"paths.{number}.condition", problem
    if is_weighted and controls.otherwise is not None:
        yield OTHERWISE, "is never taken in a branch by weights; leave it out"


def _event_problems(controls: WaitForControls) -> Iterator[PathAndText]:
    """Yield what is wrong with what a step waits for."""
    if controls.event and (problem := find_name_problem(controls.event)):
        yield "event", problem
    if controls.of_step and controls.event and controls.event not in set(MessageEventName):
        yield "ofStep", f"is for events of messages alone: {', '.join(MessageEventName)}"
    if controls.condition and (problem := check_logic(controls.condition, OF_SUBSCRIBERS)):
        yield "condition", problem
    yield from _timeout_problems(controls.timeout)


def _choice_problems(controls: AskControls) -> Iterator[PathAndText]:
    values = [one.value for one in controls.choices or ()]
    for number, value in enumerate(values):
        if value in values[:number]:
            yield f"choices.{number}.value", "is that of a choice before; every choice needs its own"
    yield from _timeout_problems(controls.timeout)
    timeout, after = controls.timeout, None if controls.escalate is None else controls.escalate.after
    if timeout and after and _seconds(after.amount, after.unit) >= _seconds(timeout.amount, timeout.unit):
        yield "escalate.after.amount", "must make less time than the timeout, after which nobody is asked any more"


def _timeout_problems(timeout: Timeout | None) -> Iterator[PathAndText]:
    if timeout is not None and timeout.amount * _SECONDS[timeout.unit] * SECOND > MAX_WAIT:
        yield "timeout.amount", f"must not make more than {MAX_WAIT // DAY} days"


def _length_problems(controls: Controls) -> Iterator[PathAndText]:
    if not isinstance(controls, WaitControls):
        return
    if controls.amount and controls.unit and _is_too_long(controls.amount, controls.unit):
        yield "amount", f"must not make more than {_MAX_DAYS} days"
    window = controls.look_back_window if isinstance(controls, DigestControls) else None
    if window is not None and _is_too_long(window.amount, window.unit):
        yield "lookBackWindow.amount", f"must not make more than {_MAX_DAYS} days"
    if isinstance(controls, DigestControls):
        yield from _digest_problems(controls)


def _digest_problems(controls: DigestControls) -> Iterator[PathAndText]:
    if controls.dynamic_key and controls.kind is DigestType.TIMED:
        yield "dynamicKey", "is for a digest with an amount of time; one with a cron expression ends at its times"
    if controls.slide_up_to is not None:
        yield from _slide_problems(controls, controls.slide_up_to)
    by = controls.retain.by if controls.retain is not None else None
    if by and (problem := check_key(by)):
        yield "retain.by", problem


def _slide_problems(controls: DigestControls, limit: SlideLimit) -> Iterator[PathAndText]:
    if controls.kind is DigestType.TIMED:
        yield "slideUpTo", "is for a digest with an amount of time; one with a cron expression ends at its times"
    elif _is_too_long(limit.amount, limit.unit):
        yield "slideUpTo.amount", f"must not make more than {_MAX_DAYS} days"
    elif (
        controls.amount
        and controls.unit
        and _seconds(limit.amount, limit.unit) < _seconds(controls.amount, controls.unit)
    ):
        yield "slideUpTo.amount", "must not be shorter than the amount of time that each event starts anew"


def _is_too_long(amount: float, unit: Unit) -> bool:
    return _seconds(amount, unit) > _MAX_DAYS * _SECONDS_A_DAY


def _seconds(amount: float, unit: Unit) -> float:
    return amount * _SECONDS[unit]
