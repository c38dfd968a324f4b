"""Issues: what a saved step still lacks. Responses show them; they never keep a step from being saved."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from clarion.conditions import FilterKind, list_unsupported
from clarion.providers.email.addresses import find_address_problem
from clarion.providers.email.message import can_set_header
from clarion.templates import has_markup
from clarion.vocabulary import StepType
from clarion.workflows.controls import (
    Action,
    Controls,
    ControlsProblem,
    DelayControls,
    DelayType,
    DigestControls,
    DigestType,
    EditorType,
    EmailControls,
    InAppControls,
    PushControls,
    Redirect,
    TextControls,
    ThrottleControls,
    ThrottleType,
    read_controls,
)
from clarion.workflows.email_content import BLOCK_DOCUMENT, is_block_document, list_written_addresses
from clarion.workflows.model import Step

_LINK_STARTS = ("https://", "http://", "/", "{{", "{%")


class IssueType(StrEnum):
    MISSING_VALUE = "MISSING_VALUE"
    INVALID_URL = "INVALID_URL"
    UNSUPPORTED_PROPERTY = "UNSUPPORTED_PROPERTY"


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
    found = [*_issues_of(step.type, step.controls, ""), *_issues_of_filters(step.filters, "")]
    for number, variant in enumerate(step.variants):
        found += _issues_of(step.type, variant.controls, f"variants.{number}.")
        found += _issues_of_filters(variant.filters, f"variants.{number}.")
    return found


def status_of(*, active: bool, steps: Sequence[Step]) -> WorkflowStatus:
    """Return the status; an active workflow with an incomplete active step is in error."""
    if not active:
        return WorkflowStatus.INACTIVE
    is_incomplete = any(step.active and find_issues(step) for step in steps)
    return WorkflowStatus.ERROR if is_incomplete else WorkflowStatus.ACTIVE


def _issues_of(step_type: StepType, values: dict[str, object], prefix: str) -> Iterator[Issue]:
    try:
        controls = read_controls(step_type, values)
    except ControlsProblem as problem:
        yield Issue(prefix.rstrip("."), IssueType.UNSUPPORTED_PROPERTY, str(problem))
        return
    for name in _missing(controls):
        yield Issue(prefix + name, IssueType.MISSING_VALUE, f"{name} is missing")
    if isinstance(controls, InAppControls):
        for path, redirect in _links(controls):
            if redirect.url and not redirect.url.startswith(_LINK_STARTS):
                message = "must start with https://, http:// or /"
                yield Issue(prefix + path, IssueType.INVALID_URL, message)
    if isinstance(controls, EmailControls):
        for path, message in _email_problems(controls):
            yield Issue(prefix + path, IssueType.UNSUPPORTED_PROPERTY, message)


def _email_problems(controls: EmailControls) -> Iterator[tuple[str, str]]:
    """Yield what is not sent as the step says, with the reason and the way out."""
    if controls.layout_id:
        yield "layoutId", "layouts do not exist yet: the e-mail is sent without one; put its markup into the body"
    if is_block_document(controls):
        yield "body", BLOCK_DOCUMENT
    if controls.editor_type is EditorType.BLOCK:
        yield "editorType", "the block editor does not exist yet; use 'html'"
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


def _missing(controls: Controls) -> list[str]:
    """List the required members that are missing, as the API names them."""
    needed: dict[str, object] = {}
    match controls:
        case InAppControls():
            needed = {"body": controls.body or controls.subject}
        case EmailControls() | PushControls():
            needed = {"subject": controls.subject, "body": controls.body}
        case TextControls():
            needed = {"body": controls.body}
        case DelayControls() | DigestControls() | ThrottleControls():
            needed = _needed_to_wait(controls)
    return [name for name, value in needed.items() if not value]


def _needed_to_wait(controls: DelayControls | DigestControls | ThrottleControls) -> dict[str, object]:
    match controls:
        case DelayControls(kind=DelayType.TIMED) | DigestControls(kind=DigestType.TIMED):
            return {"cron": controls.cron}
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
