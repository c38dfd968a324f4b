"""Shapes of steps and their previews."""

import re
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Self

from msgspec import UNSET, Meta, UnsetType, field

from clarion.http.wire import CheckedText, OriginText, Wire
from clarion.ids import id_text
from clarion.vocabulary import StepType
from clarion.workflows.issues import IssueType, find_issues
from clarion.workflows.model import Step, Variant, Workflow
from clarion.workflows.schemas import control_schema, control_widgets

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
    """The controls, with the JSON Schema of a form for them and the widgets that fit its fields."""

    values: dict[str, Any]
    data_schema: dict[str, Any]
    ui_schema: dict[str, Any]

    @classmethod
    def of(cls, step_type: StepType, values: dict[str, Any]) -> Self:
        return cls(values=values, data_schema=control_schema(step_type), ui_schema=control_widgets(step_type))


class StepSchemaOut(Wire):
    """The JSON Schema of the controls of a step type, and the widgets that fit its fields."""

    type: StepType
    data_schema: dict[str, Any]
    ui_schema: dict[str, Any]

    @classmethod
    def of(cls, step_type: StepType) -> Self:
        return cls(type=step_type, data_schema=control_schema(step_type), ui_schema=control_widgets(step_type))


class VariantOut(Wire):
    id: str = field(name="_id")
    name: str
    filters: list[dict[str, Any]]
    control_values: dict[str, Any]

    @classmethod
    def of(cls, variant: Variant) -> Self:
        return cls(id=variant.id, name=variant.name, filters=variant.filters, control_values=variant.controls)


class StepOut(Wire):
    """A step; `variables` is the JSON Schema of the variables that its templates and conditions see."""

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
    origin: OriginText
    workflow_id: str
    workflow_database_id: str

    @classmethod
    def of(cls, step: Step, workflow: Workflow, variables: dict[str, Any], origin: str) -> Self:
        values = _with_subject(step)
        return cls(
            id=step.id,
            step_id=step.step_id,
            slug=step.slug,
            name=step.name,
            type=step.type,
            active=step.active,
            controls=StepControlsOut.of(step.type, values),
            control_values=values,
            filters=step.filters,
            should_stop_on_fail=step.should_stop_on_fail,
            variants=[VariantOut.of(variant) for variant in step.variants],
            variables=variables,
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
    """The variables to render with, as `variables` of the step describes them."""

    payload: dict[str, Any] = field(default_factory=dict)
    subscriber: dict[str, Any] = field(default_factory=dict)
    steps: dict[str, Any] = field(default_factory=dict)
    actor: dict[str, Any] | UnsetType | None = UNSET
    context: dict[str, Any] | UnsetType = UNSET
    workflow: dict[str, Any] | UnsetType = UNSET
    """Without it, the workflow itself."""
    step: dict[str, Any] | UnsetType = UNSET
    """The events of a digest before the step; without it, none."""


class PreviewIn(Wire):
    """Controls to preview instead of the saved ones, and the variables."""

    control_values: dict[str, Any] | None = None
    preview_payload: PreviewPayloadIn | None = None


class UnsavedPreviewIn(PreviewIn):
    """A step that need not be saved: its type, its controls and the variables.

    The payload gets the defaults of `payloadSchema`, as that of a trigger does if the workflow validates payloads.
    """

    type: StepKind
    payload_schema: dict[str, Any] | None = None


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
