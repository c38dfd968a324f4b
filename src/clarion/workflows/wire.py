"""Shapes of workflows."""

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Any, Self

from msgspec import UNSET, Meta, UnsetType, field
from msgspec.structs import replace

from clarion.clock import iso_text
from clarion.content.translations.known import KnownTexts
from clarion.http.preconditions import make_etag
from clarion.http.wire import DateTimeText, OriginText, Wire, changes_of, given
from clarion.ids import id_text
from clarion.providers.builtin import BuiltinNames
from clarion.tracking.model import TrackingOverride
from clarion.vocabulary import Channel, OrderDirection, Severity, StepType
from clarion.workflows.custom_form import SHOWN_AS_CUSTOM
from clarion.workflows.issues import WorkflowStatus, status_of
from clarion.workflows.model import MAX_STEPS, MainSwitch, PreferenceLayer, Switch, Workflow, WorkflowVersion
from clarion.workflows.step_wire import IdentifierText, ListedStepOut, Name, ShownWorkflow, StepIn, StepOut
from clarion.workflows.tree import list_within
from clarion.workflows.variables import describe_variables, find_unknown_variables

Tags = Annotated[list[Annotated[str, Meta(min_length=1, max_length=64)]], Meta(max_length=16)]
Description = Annotated[str, Meta(max_length=4096)]


class SwitchIn(Wire):
    enabled: bool | None = None
    """Whether messages of the channel are sent; null is no decision."""


class MainSwitchIn(Wire):
    enabled: bool | None = None
    """Whether messages of the workflow are sent, unless a channel says otherwise; null is no decision."""
    read_only: bool | None = None


class LayerIn(Wire):
    all: MainSwitchIn = MainSwitchIn()
    """The switch for all channels."""
    channels: dict[Channel, SwitchIn] = field(default_factory=dict)
    """Switches of single channels, which win over `all`."""

    def layer(self) -> PreferenceLayer:
        return PreferenceLayer(
            MainSwitch(self.all.enabled, bool(self.all.read_only)),
            {channel: Switch(one.enabled) for channel, one in self.channels.items() if one.enabled is not None},
        )


class PreferencesIn(Wire):
    """`workflow` holds the defaults of the workflow's author, `user` the overrides of the team; null clears."""

    user: LayerIn | UnsetType | None = UNSET
    """What the team decides instead of the author of the workflow; null clears it."""
    workflow: LayerIn | UnsetType | None = UNSET
    """What the author of the workflow decides; null clears it."""

    def changes(self) -> dict[str, PreferenceLayer | None]:
        names = {"workflow": "default_preference", "user": "user_preference"}
        sent = changes_of(self, *names)
        return {names[name]: None if layer is None else layer.layer() for name, layer in sent.items()}


class WorkflowTrackingIn(Wire):
    """What is tracked of the e-mails of the workflow; null and absent: as the environment does.

    A workflow that people cannot switch off is tracked only if it says so here.
    """

    opens: bool | None = None
    """Whether opens are tracked."""
    clicks: bool | None = None
    """Whether clicks on links are tracked."""

    def override(self) -> TrackingOverride | None:
        override = TrackingOverride(opens=self.opens, clicks=self.clicks)
        return None if override == TrackingOverride() else override


class WorkflowPatch(Wire):
    """Omitted stays as it is; null clears."""

    name: Name | UnsetType = UNSET
    """What people call the workflow."""
    description: Description | UnsetType | None = UNSET
    """What the workflow is for; null clears it."""
    tags: Tags | UnsetType = UNSET
    """Group workflows: people and lists filter by them. They replace all tags."""
    active: bool | UnsetType = UNSET
    """Whether triggers run the workflow; those of an inactive one are answered `trigger_not_active`."""
    severity: Severity | UnsetType = UNSET
    preferences: PreferencesIn | UnsetType = UNSET
    """Which channels are on for people who have not decided themselves."""
    tracking: WorkflowTrackingIn | UnsetType | None = UNSET
    """Whether opens and clicks of e-mails are tracked; null: as the environment does."""
    takes_replies: bool | UnsetType | None = UNSET
    """Whether e-mails have an address for replies; null: as the environment does. Steps with a callback have one."""
    payload_schema: dict[str, Any] | UnsetType | None = UNSET
    """The JSON Schema of payloads; null clears it. It may have defaults, which payloads get."""
    validate_payload: bool | UnsetType = UNSET
    is_translation_enabled: bool | UnsetType = UNSET
    """Whether `t` has the translations of the workflow; false keeps them."""

    def fields(self) -> dict[str, Any]:
        """The changes of the workflow itself."""
        sent = changes_of(self, "name", "description", "tags", "active", "severity", "takes_replies")
        if not isinstance(self.tracking, UnsetType):
            sent["tracking"] = None if self.tracking is None else self.tracking.override()
        return sent if isinstance(self.preferences, UnsetType) else sent | self.preferences.changes()

    def content(self) -> dict[str, Any]:
        """The changes that make a new version."""
        return changes_of(self, "payload_schema", "validate_payload")


class WorkflowDefinition(WorkflowPatch):
    name: Name
    """What people call the workflow."""
    steps: Annotated[list[StepIn], Meta(max_length=MAX_STEPS)]
    """All steps of the workflow, in their order; steps that are missing here are removed."""


class WorkflowPut(WorkflowDefinition):
    """Replaces the steps; other omitted fields stay as they are, and null clears."""

    confirm_token: str | None = None
    """Of the impact of exactly these steps. Members need one to change an active workflow of Production."""


class WorkflowIn(WorkflowDefinition):
    workflow_id: IdentifierText
    """The identifier of the workflow, by which triggers name it; it cannot change."""


class DuplicateIn(Wire):
    name: Name | UnsetType = UNSET
    """The name of the copy; by default that of the workflow and `(Copy)`."""
    workflow_id: IdentifierText | UnsetType = UNSET
    """The identifier of the copy; made from that of the workflow if absent."""
    description: Description | UnsetType | None = UNSET
    """What the copy is for; by default the same as the workflow."""
    tags: Tags | UnsetType = UNSET
    """The tags of the copy; by default those of the workflow."""


class WorkflowOrder(StrEnum):
    CREATED_AT = "createdAt"
    UPDATED_AT = "updatedAt"
    NAME = "name"


class WorkflowsQuery(Wire):
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 0
    order_direction: OrderDirection = OrderDirection.DESC
    order_by: WorkflowOrder = WorkflowOrder.CREATED_AT
    """What the list is sorted by."""
    query: str | None = None
    """Only workflows whose name or identifier contains this text, in any case."""
    tags: list[str] | None = None
    status: list[WorkflowStatus] | None = None


class SwitchOut(Wire):
    enabled: bool
    """Whether messages of the channel are sent."""


class MainSwitchOut(Wire):
    enabled: bool
    """Whether messages of the workflow are sent, unless a channel says otherwise."""
    read_only: bool


class LayerOut(Wire):
    all: MainSwitchOut
    """The switch for all channels."""
    channels: dict[Channel, SwitchOut]
    """The switch of each channel, after `all` and the layer below."""


class WorkflowPreferencesOut(Wire):
    default: LayerOut
    """What the author of the workflow decided."""
    user: LayerOut | None
    """What the team decided instead; null if nothing."""

    @classmethod
    def of(cls, workflow: Workflow) -> Self:
        default = workflow.default_preference or PreferenceLayer()
        user = workflow.user_preference
        return cls(default=_layer_out([default]), user=None if user is None else _layer_out([user, default]))


class WorkflowTrackingOut(Wire):
    """What the workflow decides about tracking; absent: as the environment does."""

    opens: bool | UnsetType = UNSET
    """Whether opens are tracked."""
    clicks: bool | UnsetType = UNSET
    """Whether clicks on links are tracked."""

    @classmethod
    def of(cls, override: TrackingOverride) -> Self:
        return cls(opens=given(override.opens), clicks=given(override.clicks))


class WorkflowOut(Wire):
    """A workflow with its current version; `etag` is the value for `If-Match` when it is saved."""

    id: str = field(name="_id")
    workflow_id: str
    slug: str
    name: str
    """What people call the workflow."""
    description: str | UnsetType = UNSET
    """What the workflow is for."""
    tags: list[str]
    active: bool
    """Whether triggers run the workflow."""
    severity: Severity
    preferences: WorkflowPreferencesOut
    """Which channels are on for people who have not decided themselves."""
    tracking: WorkflowTrackingOut | UnsetType = UNSET
    """Whether opens and clicks of e-mails are tracked; absent: as the environment does."""
    takes_replies: bool | UnsetType = UNSET
    """Whether e-mails have an address for replies; absent: as the environment does."""
    steps: list[StepOut]
    payload_schema: dict[str, Any] | UnsetType = UNSET
    validate_payload: bool
    is_translation_enabled: bool
    """Whether `t` has the translations of the workflow."""
    origin: OriginText
    status: WorkflowStatus
    """Whether triggers run the workflow, and whether its steps have problems."""
    version: int
    """The number of the current version, which grows with each change of the steps or the schema."""
    version_id: str
    """The `_id` of the current version."""
    etag: str
    """The value for `If-Match`, so that saving is refused if someone else saved meanwhile."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(
        cls,
        workflow: Workflow,
        version: WorkflowVersion,
        names: BuiltinNames,
        known: KnownTexts,
        env_keys: Collection[str] | None = None,
    ) -> Self:
        """`env_keys` are the keys of the variables of environments; without them no use of one is an issue."""
        shown = ShownWorkflow(
            workflow=workflow, version=version, origin=names.origin, has_all_steps=names.has_all_steps
        )
        return cls(
            id=id_text(workflow.id),
            workflow_id=workflow.key,
            slug=workflow.slug,
            name=workflow.name,
            description=given(workflow.description),
            tags=workflow.tags,
            active=workflow.active,
            severity=workflow.severity,
            preferences=WorkflowPreferencesOut.of(workflow),
            tracking=UNSET if workflow.tracking is None else WorkflowTrackingOut.of(workflow.tracking),
            takes_replies=given(workflow.takes_replies),
            steps=list_steps(shown, known, env_keys),
            payload_schema=given(version.payload_schema),
            validate_payload=version.validate_payload,
            is_translation_enabled=known.is_enabled,
            origin=names.origin,
            status=status_of(active=workflow.active, steps=version.steps),
            version=version.number,
            version_id=id_text(version.id),
            etag=etag_of(workflow),
            created_at=iso_text(workflow.created_at),
            updated_at=iso_text(workflow.updated_at),
        )


class ListedWorkflowOut(Wire):
    id: str = field(name="_id")
    workflow_id: str
    slug: str
    name: str
    """What people call the workflow."""
    tags: list[str]
    origin: OriginText
    status: WorkflowStatus
    """Whether triggers run the workflow, and whether its steps have problems."""
    step_type_overviews: list[StepType]
    """The types of the steps, in their order."""
    steps: list[ListedStepOut]
    is_translation_enabled: bool
    """Whether `t` has the translations of the workflow."""
    created_at: DateTimeText
    updated_at: DateTimeText

    @classmethod
    def of(cls, workflow: Workflow, version: WorkflowVersion, names: BuiltinNames, *, is_translated: bool) -> Self:
        kinds = [
            StepType.CUSTOM if step.type in SHOWN_AS_CUSTOM and not names.has_all_steps else step.type
            for step in version.steps
        ]
        return cls(
            id=id_text(workflow.id),
            workflow_id=workflow.key,
            slug=workflow.slug,
            name=workflow.name,
            tags=workflow.tags,
            origin=names.origin,
            status=status_of(active=workflow.active, steps=version.steps),
            step_type_overviews=kinds,
            steps=[ListedStepOut.of(*one) for one in zip(version.steps, kinds, strict=True)],
            is_translation_enabled=is_translated,
            created_at=iso_text(workflow.created_at),
            updated_at=iso_text(workflow.updated_at),
        )


class WorkflowsOut(Wire):
    workflows: list[ListedWorkflowOut]
    """The workflows of this page."""
    total_count: int
    """How many workflows match in all."""


def list_steps(
    shown: ShownWorkflow, known: KnownTexts | None = None, env_keys: Collection[str] | None = None
) -> list[StepOut]:
    """List the steps of the workflow itself, each branch with those within."""
    version = shown.version
    unknown = find_unknown_variables(version, known, env_keys, is_critical=shown.workflow.is_critical)
    listed = {
        step.step_id: StepOut.of(
            step, shown, describe_variables(version, step, env_keys=env_keys), unknown.get(step.id, ())
        )
        for step in version.steps
    }
    for branch in version.steps:
        if branch.type is StepType.BRANCH and branch.within is None:
            nested = [listed[one.step_id] for one in list_within(version.steps, branch)]
            listed[branch.step_id] = replace(listed[branch.step_id], nested=nested)
    return [listed[step.step_id] for step in version.steps if step.within is None]


def etag_of(workflow: Workflow) -> str:
    """Of the workflow with its content, which is another one only under another version id."""
    return make_etag(workflow)


def _layer_out(strongest_first: Sequence[PreferenceLayer]) -> LayerOut:
    """Fill in every switch of the first layer: from itself, then from the layers below it; the default is on."""
    main = _first_set(layer.all.enabled for layer in strongest_first)
    channels = {
        channel: SwitchOut(enabled=_first_set(_switch(layer, channel) for layer in strongest_first))
        for channel in Channel
    }
    return LayerOut(all=MainSwitchOut(enabled=main, read_only=strongest_first[0].all.read_only), channels=channels)


def _switch(layer: PreferenceLayer, channel: Channel) -> bool | None:
    switch = layer.channels.get(channel)
    return layer.all.enabled if switch is None else switch.enabled


def _first_set(values: Iterable[bool | None]) -> bool:
    return next((value for value in values if value is not None), True)
