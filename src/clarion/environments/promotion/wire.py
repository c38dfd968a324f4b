"""Shapes of differences between environments, and of promotions."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, Self

from msgspec import UNSET, Meta, UnsetType

from clarion.clock import iso_text
from clarion.environments.promotion.actions import LackingVariable, Promoted, Promotion, Selected
from clarion.environments.promotion.model import PromotedType, Resource, ResourceDiff
from clarion.http.wire import DateTimeText, IdText, Wire, given, one_of
from clarion.ids import id_text
from clarion.vocabulary import StepType
from clarion.workflows.differences import Comparable, ComparedPart, DiffAction, Difference

SyncAction = Literal["created", "updated", "deleted"]
ChangeType = Literal["workflow", "layout", "integration", "step"]

_ACTIONS: dict[DiffAction, SyncAction] = {
    DiffAction.ADDED: "created",
    DiffAction.MODIFIED: "updated",
    DiffAction.DELETED: "deleted",
}


class SelectedIn(Wire):
    resource_type: PromotedType
    resource_id: Annotated[str, Meta(min_length=1, max_length=255)]
    """The identifier or `_id` of the workflow, layout or integration."""


class DiffIn(Wire):
    source_environment_id: IdText | None = None
    """The `_id` of the environment to take from; by default the development environment."""
    resources: Annotated[list[SelectedIn], Meta(min_length=1, max_length=1_000)] | None = None
    """Only these workflows, with the layouts of their steps, layouts and integrations; by default all."""

    def selected(self) -> list[Selected] | None:
        if self.resources is None:
            return None
        return [Selected(one.resource_type, one.resource_id) for one in self.resources]


class PublishIn(DiffIn):
    dry_run: bool = False
    """Whether only to answer what would be done."""
    prune: bool = False
    """Whether to delete workflows that the source does not have."""


class SyncIn(Wire):
    target_environment_id: IdText
    """The `_id` of the environment to copy the workflow to."""


class ResourceOut(Wire):
    id: str
    """The identifier of the workflow, layout, integration or step."""
    name: str
    """What people call it."""
    updated_at: DateTimeText | UnsetType = UNSET
    """When it was last changed; absent for steps."""

    @classmethod
    def of(cls, resource: Comparable) -> Self:
        updated_at = iso_text(resource.updated_at) if isinstance(resource, Resource) else UNSET
        return cls(id=resource.identifier, name=resource.name, updated_at=updated_at)


class ChangedFieldsOut(Wire):
    """The fields that differ: `previous` as they are in the target, `new` as they are in the source."""

    previous: dict[str, Any] | None
    """The fields as they are in the target; null if it is not there."""
    new: dict[str, Any] | None
    """The fields as they are in the source; null if it is not there."""


class ChangeOut(Wire):
    """A difference of the resource itself, or of one of its steps."""

    resource_type: Annotated[str, one_of(ChangeType)]
    action: DiffAction
    """What the promotion does to it."""
    source_resource: ResourceOut | None
    """It in the source; null if it is not there."""
    target_resource: ResourceOut | None
    """It in the target; null if it is not there."""
    diffs: ChangedFieldsOut
    """The fields that differ."""
    step_type: Annotated[str, one_of(StepType)] | UnsetType = UNSET
    previous_index: int | UnsetType = UNSET
    new_index: int | UnsetType = UNSET

    @classmethod
    def of(cls, change: Difference) -> Self:
        part = change.shown
        return cls(
            resource_type=change.type,
            action=change.action,
            source_resource=_resource_out(change.new),
            target_resource=_resource_out(change.old),
            diffs=ChangedFieldsOut(previous=change.before, new=change.after),
            step_type=part.type if isinstance(part, ComparedPart) else UNSET,
            previous_index=given(change.previous_index),
            new_index=given(change.new_index),
        )


class DiffSummaryOut(Wire):
    added: int
    """How many parts are new in the target."""
    modified: int
    """How many parts change or move."""
    deleted: int
    """How many parts are deleted in the target."""
    unchanged: int
    """How many parts stay as they are."""

    @classmethod
    def of(cls, diff: ResourceDiff) -> Self:
        actions = [change.action for change in diff.changes] or [diff.action]
        return cls(
            added=actions.count(DiffAction.ADDED),
            modified=actions.count(DiffAction.MODIFIED) + actions.count(DiffAction.MOVED),
            deleted=actions.count(DiffAction.DELETED),
            unchanged=actions.count(DiffAction.UNCHANGED),
        )


class ResourceDiffOut(Wire):
    """How a resource differs."""

    resource_type: PromotedType
    action: DiffAction
    """What the promotion does to it."""
    source_resource: ResourceOut | None
    """It in the source; null if it is not there."""
    target_resource: ResourceOut | None
    """It in the target; null if it is not there."""
    changes: list[ChangeOut]
    """The differences of the resource itself and of its steps."""
    summary: DiffSummaryOut
    """How many parts differ."""
    problem: str | UnsetType = UNSET
    """Why it cannot be promoted."""

    @classmethod
    def of(cls, diff: ResourceDiff) -> Self:
        return cls(
            resource_type=diff.type,
            action=diff.action,
            source_resource=_resource_out(diff.source),
            target_resource=_resource_out(diff.target),
            changes=[ChangeOut.of(change) for change in diff.changes],
            summary=DiffSummaryOut.of(diff),
            problem=given(diff.problem),
        )


class EnvironmentSummaryOut(Wire):
    total_entities: int
    """How many workflows, layouts and integrations were compared."""
    total_changes: int
    """How many of them differ."""
    has_changes: bool
    """Whether any of them differs."""


class LackingVariableOut(Wire):
    """A variable that has no value in the target: texts see nothing there, and integrations cannot send."""

    key: str
    """The key of the variable, as in `{{env.<key>}}`."""
    workflow_ids: list[str]
    """The identifiers of the workflows that use it."""
    layout_ids: list[str]
    """The identifiers of the layouts that use it."""
    integration_identifiers: list[str]
    """The identifiers of the integrations whose credentials refer to it."""

    @classmethod
    def of(cls, variable: LackingVariable) -> Self:
        return cls(
            key=variable.key,
            workflow_ids=list(variable.users.get(PromotedType.WORKFLOW, ())),
            layout_ids=list(variable.users.get(PromotedType.LAYOUT, ())),
            integration_identifiers=list(variable.users.get(PromotedType.INTEGRATION, ())),
        )


class EnvironmentDiffOut(Wire):
    source_environment_id: str
    """The `_id` of the environment that is taken from."""
    target_environment_id: str
    """The `_id` of the environment that would change."""
    resources: list[ResourceDiffOut]
    """The workflows, layouts and integrations, each with its differences."""
    summary: EnvironmentSummaryOut
    """How many of them differ."""
    lacking_variables: list[LackingVariableOut] | UnsetType = UNSET
    """The variables that workflows use and that have no value in the target; absent if there are none."""

    @classmethod
    def of(cls, promotion: Promotion, diffs: Sequence[ResourceDiff], lacking: Sequence[LackingVariable]) -> Self:
        changes = sum(diff.action is not DiffAction.UNCHANGED for diff in diffs)
        return cls(
            source_environment_id=id_text(promotion.source_id),
            target_environment_id=id_text(promotion.target_id),
            resources=[ResourceDiffOut.of(diff) for diff in diffs],
            summary=EnvironmentSummaryOut(total_entities=len(diffs), total_changes=changes, has_changes=changes > 0),
            lacking_variables=[LackingVariableOut.of(variable) for variable in lacking] or UNSET,
        )


class SyncedOut(Wire):
    resource_type: PromotedType
    resource_id: str
    resource_name: str
    action: SyncAction
    """What was done to it in the target."""


class SkippedOut(Wire):
    resource_type: PromotedType
    resource_id: str
    resource_name: str
    reason: str
    """Why it was left as it is."""


class SyncResultOut(Wire):
    resource_type: PromotedType
    successful: list[SyncedOut]
    """Those that were promoted."""
    failed: list[SkippedOut]
    """Always empty: a promotion is done whole or not at all."""
    skipped: list[SkippedOut]
    """Those that were left as they are."""
    total_processed: int
    """How many there were."""

    @classmethod
    def of(cls, kind: PromotedType, promoted: Sequence[Promoted]) -> Self:
        return cls(
            resource_type=kind,
            successful=[
                SyncedOut(**_names(outcome.diff), action=_ACTIONS[outcome.diff.action])
                for outcome in promoted
                if outcome.reason is None
            ],
            failed=[],
            skipped=[
                SkippedOut(**_names(outcome.diff), reason=outcome.reason)
                for outcome in promoted
                if outcome.reason is not None
            ],
            total_processed=len(promoted),
        )


class PublishSummaryOut(Wire):
    resources: int
    """How many workflows, layouts and integrations there were."""
    successful: int
    """How many were promoted."""
    failed: int
    """Always 0: a promotion is done whole or not at all."""
    skipped: int
    """How many were left as they are."""


class PublishResultOut(Wire):
    results: list[SyncResultOut]
    """What was done, by the kind of resource."""
    summary: PublishSummaryOut
    """How many there were."""
    lacking_variables: list[LackingVariableOut] | UnsetType = UNSET
    """The variables that the promoted workflows use and that have no value in the target; absent if there are none."""

    @classmethod
    def of(cls, promoted: Sequence[Promoted], lacking: Sequence[LackingVariable]) -> Self:
        kinds = dict.fromkeys(outcome.diff.type for outcome in promoted)
        done = sum(outcome.reason is None for outcome in promoted)
        return cls(
            results=[
                SyncResultOut.of(kind, [outcome for outcome in promoted if outcome.diff.type is kind]) for kind in kinds
            ],
            summary=PublishSummaryOut(resources=len(promoted), successful=done, failed=0, skipped=len(promoted) - done),
            lacking_variables=[LackingVariableOut.of(variable) for variable in lacking] or UNSET,
        )


class TagOut(Wire):
    name: str
    """A tag that workflows of the environment have."""

    @classmethod
    def list_of(cls, names: Iterable[str]) -> list[Self]:
        return [cls(name=one) for one in names]


def _resource_out(resource: Comparable | None) -> ResourceOut | None:
    return None if resource is None else ResourceOut.of(resource)


def _names(diff: ResourceDiff) -> dict[str, Any]:
    return {"resource_type": diff.type, "resource_id": diff.shown.identifier, "resource_name": diff.shown.name}
