"""Shapes of steps and their previews."""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Self

from msgspec import UNSET, Meta, Struct, UnsetType, field

from clarion.http.wire import CheckedText, OriginText, Wire, given
from clarion.ids import id_text
from clarion.vocabulary import StepType
from clarion.workflows.custom_form import SHOWN_AS_CUSTOM, make_custom_form
from clarion.workflows.issues import Issue, IssueType, find_issues, find_warnings
from clarion.workflows.model import ReplyCallback, Step, Variant, Workflow, WorkflowVersion
from clarion.workflows.schemas import control_schema, control_widgets
from clarion.workflows.tree import nest_controls

MAX_OVERRIDDEN = 32
"""Providers that a step has overrides for."""
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
    BRANCH = "branch"
    """Goes on by one of several paths, each with steps of its own."""
    EXIT = "exit"
    """Ends the run."""
    TRIGGER = "trigger"
    """Triggers another workflow."""
    TOOL = "tool"
    """Alerts in tools of on-call teams, or calls a webhook."""
    WAIT_FOR = "wait_for"
    """Waits for an event, up to a time."""
    UPDATE = "update"
    """Gives the messages of an earlier step new content."""
    CLEAR = "clear"
    """Withdraws the messages of an earlier step."""
    HTTP_REQUEST = "http_request"
    """Calls a URL; later steps see the answer."""
    ASK = "ask"
    """Waits for the answer to a question, up to a time."""


ProviderOverrides = Annotated[dict[str, dict[str, Any]], Meta(max_length=MAX_OVERRIDDEN)]
"""What is merged into the requests to each provider of the channel, by its id; texts in it are templates."""


class VariantIn(Wire):
    id: str | None = field(name="_id", default=None)
    """The `_id` of an existing variant, which then keeps it; made up if absent."""
    name: Annotated[str, Meta(max_length=255)] = ""
    """What people call the variant."""
    filters: list[dict[str, Any]] | None = None
    """The conditions under which the variant is sent in the place of the step; the first that fits is."""
    control_values: dict[str, Any] | None = None
    """The content of the variant, as in the step."""


class ReplyCallbackIn(Wire):
    """Where replies to the mails of the step are posted to, if the environment takes replies."""

    active: bool = False
    """Whether replies are posted."""
    url: str = ""
    """Where: a template over the payload, with the whole host in plain text or all of the URL in a variable."""

    def callback(self) -> ReplyCallback:
        return ReplyCallback(active=self.active, url=self.url)


class StepIn(Wire):
    """One step; an existing `_id` or `stepId` of the workflow changes that step."""

    id: str | None = field(name="_id", default=None)
    """The `_id` of an existing step of the workflow, which then keeps it; made up if absent."""
    step_id: IdentifierText | None = None
    """The identifier of the step, by which templates refer to its result; made from the name if absent."""
    name: Name
    """What people call the step."""
    type: StepKind
    """What the step does: send through a channel, wait, count, decide how the run goes on, or compute values."""
    active: bool = True
    """Whether runs do the step; an inactive one is skipped."""
    control_values: dict[str, Any] | None = None
    filters: list[dict[str, Any]] | None = None
    """The conditions under which the step is done; without any, always."""
    should_stop_on_fail: bool = False
    variants: Annotated[list[VariantIn], Meta(max_length=20)] | None = None
    """Other content for people or payloads that fit conditions; the first that fits is sent."""
    reply_callback: ReplyCallbackIn | None = None
    """For steps of the type email: where replies are posted to."""
    provider_overrides: ProviderOverrides | UnsetType | None = UNSET
    """For steps of the types chat and tool; absent: as it is, null: none."""

    @property
    def step_type(self) -> StepType:
        return StepType(self.type.value)


class IssueTypeOut(StrEnum):
    MISSING_VALUE = "MISSING_VALUE"
    """There is no value, or one that cannot be used; the message says which."""
    ILLEGAL_VARIABLE = "ILLEGAL_VARIABLE_IN_CONTROL_VALUE"
    """A variable can never have a value; it is rendered as empty text."""

    @classmethod
    def of(cls, kind: IssueType) -> Self:
        """Return one that every version of the published clients knows: they cannot read an answer with another."""
        return cls.ILLEGAL_VARIABLE if kind is IssueType.ILLEGAL_VARIABLE else cls.MISSING_VALUE


class IssueOut(Wire):
    issue_type: IssueTypeOut
    """The kind of the problem."""
    message: str
    """The problem in words."""


class WarningOut(Wire):
    message: str
    """What people would not see as it is meant, or nothing reads, in words."""


class StepIssuesOut(Wire):
    controls: dict[str, list[IssueOut]]
    """The problems, by the name of the control."""
    warnings: dict[str, list[WarningOut]] | UnsetType = UNSET
    """What keeps nothing from being sent, by the name of the control: a picture without a description, a
    control that nothing reads."""


class StepControlsOut(Wire):
    """The controls, with the JSON Schema of a form for them and the widgets that fit its fields."""

    values: dict[str, Any]
    """The values of the controls, the same as `controlValues`."""
    data_schema: dict[str, Any]
    """The JSON Schema of the controls."""
    ui_schema: dict[str, Any]
    """The widget that fits each control."""

    @classmethod
    def of(cls, step_type: StepType, values: dict[str, Any]) -> Self:
        return cls(values=values, data_schema=control_schema(step_type), ui_schema=control_widgets(step_type))


class StepSchemaOut(Wire):
    """The JSON Schema of the controls of a step type, and the widgets that fit its fields."""

    type: StepType
    """The type of steps that have these controls."""
    data_schema: dict[str, Any]
    """The JSON Schema of the controls."""
    ui_schema: dict[str, Any]
    """The widget that fits each control."""

    @classmethod
    def of(cls, step_type: StepType) -> Self:
        return cls(type=step_type, data_schema=control_schema(step_type), ui_schema=control_widgets(step_type))


class VariantOut(Wire):
    id: str = field(name="_id")
    name: str
    """What people call the variant."""
    filters: list[dict[str, Any]]
    """The conditions under which the variant is sent."""
    control_values: dict[str, Any]
    """The content of the variant."""

    @classmethod
    def of(cls, variant: Variant) -> Self:
        return cls(id=variant.id, name=variant.name, filters=variant.filters, control_values=variant.controls)


class ReplyCallbackOut(Wire):
    """Where replies to the mails of the step are posted to."""

    active: bool
    """Whether replies are posted."""
    url: str
    """The template of the URL."""


class PlaceOut(Wire):
    """A path of a branch."""

    branch: str
    """The `stepId` of the branch."""
    path: str
    """The name of the path."""


class ShownWorkflow(Struct, frozen=True, kw_only=True):
    """A version of a workflow as its steps are shown."""

    workflow: Workflow
    version: WorkflowVersion
    origin: str
    has_all_steps: bool = True
    """Whether the caller knows all types of steps; else some are custom steps."""

    def show(self, step: Step) -> tuple[StepType, dict[str, Any]]:
        """Return the type and the controls."""
        values = _with_subject(step)
        if step.type is StepType.BRANCH:
            values = nest_controls(self.version.steps, step)
        if self.has_all_steps or step.type not in SHOWN_AS_CUSTOM:
            return step.type, values
        return StepType.CUSTOM, make_custom_form(step.type, values)


class StepOut(Wire):
    """A step; `variables` is the JSON Schema of the variables that its templates and conditions see."""

    id: str = field(name="_id")
    step_id: str
    slug: str
    name: str
    """What people call the step."""
    type: StepType
    """What the step does."""
    active: bool
    """Whether runs do the step."""
    controls: StepControlsOut
    """The controls with the schema of a form for them."""
    control_values: dict[str, Any]
    filters: list[dict[str, Any]]
    """The conditions under which the step is done; empty is always."""
    should_stop_on_fail: bool
    variants: list[VariantOut]
    """Other content for people or payloads that fit conditions."""
    reply_callback: ReplyCallbackOut | UnsetType = UNSET
    """Where replies are posted to; absent if nothing was said about that."""
    provider_overrides: ProviderOverrides | UnsetType = UNSET
    """What is merged into the requests to each provider of the channel; absent: nothing."""
    variables: dict[str, Any]
    """The JSON Schema of the variables that templates and conditions of the step see."""
    issues: StepIssuesOut | UnsetType = UNSET
    """Problems of the step; absent if there are none."""
    within: PlaceOut | UnsetType = UNSET
    """Where it stands; absent if it is within no branch."""
    nested: list["StepOut"] | UnsetType = UNSET
    """Of a branch that is a step of the workflow itself: all steps within it, also those of branches within, in
    reading order; the controls have them as they are saved."""
    origin: OriginText
    workflow_id: str
    workflow_database_id: str
    """The `_id` of the workflow."""

    @classmethod
    def of(cls, step: Step, shown: ShownWorkflow, variables: dict[str, Any], unknown: Sequence[Issue] = ()) -> Self:
        """`unknown` are the issues about variables, which are those of the whole workflow."""
        kind, values = shown.show(step)
        workflow, callback = shown.workflow, step.reply_callback
        return cls(
            id=step.id,
            step_id=step.step_id,
            slug=step.slug,
            name=step.name,
            type=kind,
            active=step.active,
            controls=StepControlsOut.of(kind, values),
            control_values=values,
            filters=step.filters,
            should_stop_on_fail=step.should_stop_on_fail,
            variants=[VariantOut.of(variant) for variant in step.variants],
            reply_callback=UNSET if callback is None else ReplyCallbackOut(active=callback.active, url=callback.url),
            provider_overrides=given(step.provider_overrides),
            variables=variables,
            issues=issues_out([*find_issues(step), *unknown], find_warnings(step)),
            within=UNSET if step.within is None else PlaceOut(branch=step.within.branch, path=step.within.path),
            origin=shown.origin,
            workflow_id=workflow.key,
            workflow_database_id=id_text(workflow.id),
        )


class ListedStepOut(Wire):
    slug: str
    type: StepType
    """What the step does."""
    issues: StepIssuesOut | UnsetType = UNSET
    """Problems of the step; absent if there are none."""

    @classmethod
    def of(cls, step: Step, kind: StepType) -> Self:
        return cls(slug=step.slug, type=kind, issues=issues_out(find_issues(step)))


def issues_out(issues: Sequence[Issue], warnings: Sequence[tuple[str, str]] = ()) -> StepIssuesOut | UnsetType:
    by_path: dict[str, list[IssueOut]] = {}
    warned: dict[str, list[WarningOut]] = {}
    for issue in issues:
        by_path.setdefault(issue.path, []).append(
            IssueOut(issue_type=IssueTypeOut.of(issue.type), message=issue.message)
        )
    for path, message in warnings:
        warned.setdefault(path, []).append(WarningOut(message=message))
    return StepIssuesOut(controls=by_path, warnings=warned or UNSET) if by_path or warned else UNSET


def _with_subject(step: Step) -> dict[str, Any]:
    """Return the controls as they were sent, with the subject that clients require of every e-mail step."""
    if step.type is StepType.EMAIL and step.controls.get("subject") is None:
        return step.controls | {"subject": ""}
    return step.controls
