"""Issues: what a saved step still lacks. Responses show them; they never keep a step from being saved."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from clarion.conditions import FilterKind, list_unsupported
from clarion.content.email.checks import check_body
from clarion.content.email.compose import EditorType
from clarion.http.input.validation import list_unknown
from clarion.providers.email.addresses import find_address_problem
from clarion.providers.email.message import can_set_header
from clarion.templates import has_markup
from clarion.vocabulary import StepType
from clarion.workflows.content import list_written_addresses
from clarion.workflows.control_checks import check_controls
from clarion.workflows.controls import (
    SHAPES,
    Action,
    AskControls,
    BranchControls,
    ClearControls,
    Controls,
    ControlsProblem,
    DelayControls,
    DelayType,
    DigestControls,
    DigestType,
    EmailControls,
    HttpRequestControls,
    InAppControls,
    PushControls,
    Redirect,
    TextControls,
    ThrottleControls,
    ThrottleType,
    TriggerControls,
    UpdateControls,
    WaitForControls,
    read_as,
    read_controls,
)
from clarion.workflows.http_checks import list_personal_uses, list_request_warnings
from clarion.workflows.model import Step, Variant

_LINK_STARTS = ("https://", "http://", "/", "{{", "{%")


class IssueType(StrEnum):
    MISSING_VALUE = "MISSING_VALUE"
    INVALID_URL = "INVALID_URL"
    UNSUPPORTED_PROPERTY = "UNSUPPORTED_PROPERTY"
    ILLEGAL_VARIABLE = "ILLEGAL_VARIABLE_IN_CONTROL_VALUE"
    """A variable that can never have a value; it is rendered as empty text."""


class WorkflowStatus(StrEnum):
    ACTIVE = "ACTIVE"
    INACTIVE = "INACTIVE"
    ERROR = "ERROR"


class Issue(Struct, frozen=True):
    path: str
    type: IssueType
    message: str


def find_issues(step: Step) -> list[Issue]:
    """List everything that a step and its variants still lack."""
    issues: list[Issue] = []
    for prefix, part in list_parts(step):
        issues += _issues_of(step.type, part.controls, prefix)
        issues += _issues_of_filters(part.filters, prefix)
    return issues


def find_warnings(step: Step) -> list[tuple[str, str]]:
    """List what nothing reads and what people would not see as it is meant, with the paths; it is sent all the same."""
    warnings: list[tuple[str, str]] = []
    for prefix, part in list_parts(step):
        kinds = (_unknown_controls, _email_warnings, _request_warnings)
        listed = (warning for kind in kinds for warning in kind(step.type, part.controls))
        warnings += [(prefix + path, message) for path, message in listed]
    return warnings


def list_parts(step: Step) -> list[tuple[str, Step | Variant]]:
    """The step and its variants, each with how paths in it begin."""
    return [("", step), *((f"variants.{number}.", one) for number, one in enumerate(step.variants))]


def status_of(*, active: bool, steps: Sequence[Step]) -> WorkflowStatus:
    """Return the status; an active workflow with an incomplete active step is in error."""
    if not active:
        return WorkflowStatus.INACTIVE
    is_incomplete = any(find_issues(step) for step in steps if step.active)
    return WorkflowStatus.ERROR if is_incomplete else WorkflowStatus.ACTIVE


def _issues_of(step_type: StepType, values: dict[str, object], prefix: str) -> Iterator[Issue]:
    try:
        controls = read_controls(step_type, values)
    except ControlsProblem:
        found = check_controls(step_type, values)
        yield from (Issue(prefix + path, IssueType.UNSUPPORTED_PROPERTY, message) for path, message in found)
        return
    for name in list_missing(controls):
        yield Issue(prefix + name, IssueType.MISSING_VALUE, f"{name} is missing")
    yield from (Issue(prefix + path, kind, message) for path, kind, message in _own_issues(controls))


def _own_issues(controls: Controls) -> Iterator[tuple[str, IssueType, str]]:
    """Yield what is wrong with controls of some kinds of steps."""
    match controls:
        case InAppControls():
            for path, redirect in _links(controls):
                if redirect.url and not redirect.url.startswith(_LINK_STARTS):
                    yield path, IssueType.INVALID_URL, "must start with https://, http:// or /"
        case HttpRequestControls():
            for path, message in list_personal_uses(controls):
                yield path, IssueType.ILLEGAL_VARIABLE, message
        case EmailControls():
            for path, message in _email_problems(controls):
                yield path, IssueType.UNSUPPORTED_PROPERTY, message


def _unknown_controls(step_type: StepType, values: dict[str, object]) -> Iterator[tuple[str, str]]:
    if step_type is not StepType.CUSTOM:
        yield from ((path, problem.message) for path, problem in list_unknown(values, SHAPES[step_type]))


def _email_warnings(step_type: StepType, values: dict[str, object]) -> Iterator[tuple[str, str]]:
    body, editor = values.get("body"), values.get("editorType")
    is_checked = step_type is StepType.EMAIL and (editor is None or editor in set(EditorType))
    if is_checked and body and isinstance(body, str):
        problems = check_body(body, None if editor is None else EditorType(str(editor))).problems
        yield from ((problem.path, problem.message) for problem in problems if problem.is_warning)


def _request_warnings(step_type: StepType, values: dict[str, object]) -> Iterator[tuple[str, str]]:
    if step_type is StepType.HTTP_REQUEST and not check_controls(step_type, values):
        yield from list_request_warnings(read_as(HttpRequestControls, values))


def _email_problems(controls: EmailControls) -> Iterator[tuple[str, str]]:
    """Yield what is not sent as the step says, with the reason and the way out."""
    if controls.body:
        problems = check_body(controls.body, controls.editor_type).problems
        yield from ((problem.path, problem.message) for problem in problems if not problem.is_warning)
    for path, text in list_written_addresses(controls):
        if not has_markup(text) and (problem := find_address_problem(text)):
            yield path, problem
    for name in controls.headers or {}:
        if not can_set_header(name):
            yield f"headers.{name}", "cannot be set"


def _issues_of_filters(filters: list[dict[str, Any]], prefix: str) -> Iterator[Issue]:
    for path, kind in list_unsupported(filters):
        message = f"conditions on '{kind}' are not supported and never hold; use {', '.join(FilterKind)}"
        yield Issue(f"{prefix}filters.{path}", IssueType.UNSUPPORTED_PROPERTY, message)


_NEEDED: dict[type[Controls], tuple[str, ...]] = {
    EmailControls: ("subject", "body"),
    PushControls: ("subject", "body"),
    TextControls: ("body",),
    WaitForControls: ("event", "timeout"),
    HttpRequestControls: ("url",),
}


def list_missing(controls: Controls) -> list[str]:
    """List the required members that are missing, as the API names them."""
    needed: dict[str, object] = {}
    match controls:
        case UpdateControls():
            needed = {"ofStep": controls.of_step}
        case ClearControls():
            needed = {"ofStep": controls.of_step}
        case InAppControls():
            needed = {"body": controls.body or controls.subject}
        case BranchControls():
            needed = _needed_to_branch(controls)
        case TriggerControls():
            needed = {"workflowId": controls.workflow_id}
        case AskControls():
            needed = _needed_to_ask(controls)
        case DelayControls() | DigestControls() | ThrottleControls():
            needed = _needed_to_wait(controls)
        case _:
            needed = {name: getattr(controls, name) for name in _NEEDED.get(type(controls), ())}
    return [name for name, value in needed.items() if not value]


def _needed_to_branch(controls: BranchControls) -> dict[str, object]:
    paths = controls.paths or []
    if any(one.weight for one in paths):
        return {f"paths.{number}.weight": one.weight for number, one in enumerate(paths)}
    return {"paths": paths, **{f"paths.{number}.condition": one.condition for number, one in enumerate(paths)}}


def _needed_to_ask(controls: AskControls) -> dict[str, object]:
    needed: dict[str, object] = {name: getattr(controls, name) for name in ("question", "choices", "timeout")}
    if (others := controls.escalate) is not None:
        needed |= {"escalate.after": others.after, "escalate.to": others.to, "escalate.workflowId": others.workflow_id}
    return needed


def _needed_to_wait(controls: DelayControls | DigestControls | ThrottleControls) -> dict[str, object]:
    match controls:
        case DelayControls(kind=DelayType.TIMED) | DigestControls(kind=DigestType.TIMED):
            return {"cron": controls.cron}
        case DigestControls(dynamic_key=str(key)) if key:
            return {}
        case DelayControls(kind=DelayType.SCHEDULED):
            return {"delayPath": controls.delay_path}
        case DelayControls(kind=DelayType.DYNAMIC) | ThrottleControls(kind=ThrottleType.DYNAMIC):
            return {"dynamicKey": controls.dynamic_key}
        case _:
            return {"amount": controls.amount, "unit": controls.unit}


def _links(controls: InAppControls) -> Iterator[tuple[str, Redirect]]:
    if controls.redirect is not None:
        yield "redirect.url", controls.redirect
    actions: dict[str, Action | None] = {
        "primaryAction": controls.primary_action,
        "secondaryAction": controls.secondary_action,
    }
    for name, action in actions.items():
        if action is not None and action.redirect is not None:
            yield f"{name}.redirect.url", action.redirect
