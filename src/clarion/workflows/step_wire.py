"""Shapes of steps and their previews."""

import re
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.http.wire import CheckedText, Wire
from clarion.ids import id_text
from clarion.vocabulary import StepType
from clarion.workflows.issues import IssueType, find_issues
from clarion.workflows.model import Step, Variant, Workflow

Name = Annotated[str, Meta(min_length=1, max_length=255)]


class IdentifierText(CheckedText):
    __slots__ = ()
    RULE = "must be at most 255 letters and digits, with single hyphens, dots or underscores between them"
    EXAMPLE = "welcome-mail"
    _PATTERN: ClassVar[re.Pattern[str]] = re.compile(r"[A-Za-z0-9]+([-_.][A-Za-z0-9]+)*")

    @classmethod
    def accepts(cls, text: str) -> bool:
        return len(text) <= 255 and cls._PATTERN.fullmatch(text) is not None


class StepKind(StrEnum):
    """The step types that a workflow can be made of."""

    IN_APP = "in_app"
    EMAIL = "email"
    SMS = "sms"
    CHAT = "chat"
    PUSH = "push"
    DIGEST = "digest"
    DELAY = "delay"
    THROTTLE = "throttle"
    CUSTOM = "custom"


class VariantIn(Wire):
    id: str | None = field(name="_id", default=None)
    name: Annotated[str, Meta(max_length=255)] = ""
    filters: list[dict[str, Any]] | None = None
    control_values: dict[str, Any] | None = None


class StepIn(Wire):
    """One step; an existing `_id` or `stepId` of the workflow changes that step."""

    id: str | None = field(name="_id", default=None)
    step_id: IdentifierText | None = None
    name: Name
    type: StepKind
    active: bool = True
    control_values: dict[str, Any] | None = None
    filters: list[dict[str, Any]] | None = None
    should_stop_on_fail: bool = False
    variants: Annotated[list[VariantIn], Meta(max_length=20)] | None = None

    @property
    def step_type(self) -> StepType:
        return StepType(self.type.value)


class IssueOut(Wire):
    issue_type: IssueType
    message: str


class StepIssuesOut(Wire):
    controls: dict[str, list[IssueOut]]


class StepControlsOut(Wire):
    values: dict[str, Any]


class VariantOut(Wire):
    id: str = field(name="_id")
    name: str
    filters: list[dict[str, Any]]
    control_values: dict[str, Any]

    @classmethod
    def of(cls, variant: Variant) -> Self:
        return cls(id=variant.id, name=variant.name, filters=variant.filters, control_values=variant.controls)


class StepOut(Wire):
    id: str = field(name="_id")
    step_id: str
    slug: str
    name: str
    type: StepType
    active: bool
    controls: StepControlsOut
    control_values: dict[str, Any]
    filters: list[dict[str, Any]]
    should_stop_on_fail: bool
    variants: list[VariantOut]
    variables: dict[str, Any]
    issues: StepIssuesOut | UnsetType = UNSET
    origin: str
    workflow_id: str
    workflow_database_id: str

    @classmethod
    def of(cls, step: Step, workflow: Workflow, origin: str) -> Self:
        values = _with_subject(step)
        return cls(
            id=step.id,
            step_id=step.step_id,
            slug=step.slug,
            name=step.name,
            type=step.type,
            active=step.active,
            controls=StepControlsOut(values=values),
            control_values=values,
            filters=step.filters,
            should_stop_on_fail=step.should_stop_on_fail,
            variants=[VariantOut.of(variant) for variant in step.variants],
            variables={},
            issues=_issues_out(step),
            origin=origin,
            workflow_id=workflow.key,
            workflow_database_id=id_text(workflow.id),
        )


class ListedStepOut(Wire):
    slug: str
    type: StepType
    issues: StepIssuesOut | UnsetType = UNSET

    @classmethod
    def of(cls, step: Step) -> Self:
        return cls(slug=step.slug, type=step.type, issues=_issues_out(step))


class PreviewPayloadIn(Wire):
    """The variables to render with."""

    payload: dict[str, Any] = field(default_factory=dict)
    subscriber: dict[str, Any] = field(default_factory=dict)
    steps: dict[str, Any] = field(default_factory=dict)


class PreviewIn(Wire):
    """Controls to preview instead of the saved ones, and the variables."""

    control_values: dict[str, Any] | None = None
    preview_payload: PreviewPayloadIn | None = None


class PreviewResultOut(Wire):
    type: StepType
    preview: dict[str, Any]


class PreviewOut(Wire):
    preview_payload_example: PreviewPayloadIn
    result: PreviewResultOut
    schema: dict[str, Any] | UnsetType = UNSET


def _issues_out(step: Step) -> StepIssuesOut | UnsetType:
    found: dict[str, list[IssueOut]] = {}
    for issue in find_issues(step):
        found.setdefault(issue.path, []).append(IssueOut(issue_type=issue.type, message=issue.message))
    return StepIssuesOut(controls=found) if found else UNSET


def _with_subject(step: Step) -> dict[str, Any]:
    """Return the controls as they were sent, with the subject that clients require of every e-mail step."""
    if step.type is StepType.EMAIL and step.controls.get("subject") is None:
        return step.controls | {"subject": ""}
    return step.controls
