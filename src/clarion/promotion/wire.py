"""Shapes of differences between environments, and of promotions."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, Self

from msgspec import UNSET, Meta, UnsetType

from clarion.clock import iso_text
from clarion.differences import Change, Comparable, DiffAction, Part
from clarion.http.wire import DateTimeText, IdText, Wire, given, one_of
from clarion.ids import id_text
from clarion.promotion.actions import Promoted, Promotion, Selected
from clarion.promotion.model import Resource, ResourceDiff, ResourceType
from clarion.vocabulary import StepType

SyncAction = Literal["created", "updated", "deleted"]
ChangeType = Literal["workflow", "integration", "step"]

_ACTIONS: dict[DiffAction, SyncAction] = {
    DiffAction.ADDED: "created",
    DiffAction.MODIFIED: "updated",
    DiffAction.DELETED: "deleted",
}


class SelectedIn(Wire):
    """`resourceId` is the identifier or the `_id` of the resource."""

    resource_type: ResourceType
    resource_id: Annotated[str, Meta(min_length=1, max_length=255)]


class DiffIn(Wire):
    """Without `sourceEnvironmentId` the source is the development environment."""

    source_environment_id: IdText | None = None
    resources: Annotated[list[SelectedIn], Meta(min_length=1, max_length=1_000)] | None = None

    def selected(self) -> list[Selected] | None:
        if self.resources is None:
            return None
        return [Selected(one.resource_type, one.resource_id) for one in self.resources]


class PublishIn(DiffIn):
    """Without `resources` everything is promoted; `prune` deletes workflows that the source does not have."""

    dry_run: bool = False
    prune: bool = False


class ResourceOut(Wire):
    id: str
    name: str
    updated_at: DateTimeText | UnsetType = UNSET

    @classmethod
    def of(cls, resource: Comparable) -> Self:
        updated_at = iso_text(resource.updated_at) if isinstance(resource, Resource) else UNSET
        return cls(id=resource.identifier, name=resource.name, updated_at=updated_at)


class ChangedFieldsOut(Wire):
    """The fields that differ: `previous` as they are in the target, `new` as they are in the source."""

    previous: dict[str, Any] | None
    new: dict[str, Any] | None


class ChangeOut(Wire):
    """A difference of the resource itself, or of one of its steps."""

    resource_type: Annotated[str, one_of(ChangeType)]
    action: DiffAction
    source_resource: ResourceOut | None
    target_resource: ResourceOut | None
    diffs: ChangedFieldsOut
    step_type: Annotated[str, one_of(StepType)] | UnsetType = UNSET
    previous_index: int | UnsetType = UNSET
    new_index: int | UnsetType = UNSET

    @classmethod
    def of(cls, change: Change) -> Self:
        part = change.shown
        return cls(
            resource_type=change.type,
            action=change.action,
            source_resource=_resource_out(change.new),
            target_resource=_resource_out(change.old),
            diffs=ChangedFieldsOut(previous=change.before, new=change.after),
            step_type=part.type if isinstance(part, Part) else UNSET,
            previous_index=given(change.previous_index),
            new_index=given(change.new_index),
        )


class DiffSummaryOut(Wire):
    added: int
    modified: int
    deleted: int
    unchanged: int

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
    """How a resource differs; `problem` says why it cannot be promoted."""

    resource_type: ResourceType
    action: DiffAction
    source_resource: ResourceOut | None
    target_resource: ResourceOut | None
    changes: list[ChangeOut]
    summary: DiffSummaryOut
    problem: str | UnsetType = UNSET

    @classmethod
    def of(cls, diff: ResourceDiff) -> Self:
        return cls(
            resource_type=diff.type,
            action=diff.action,
            source_resource=_resource_out(diff.source),
            target_resource=_resource_out(diff.target),
            changes=[ChangeOut.of(one) for one in diff.changes],
            summary=DiffSummaryOut.of(diff),
            problem=given(diff.problem),
        )


class EnvironmentSummaryOut(Wire):
    total_entities: int
    total_changes: int
    has_changes: bool


class EnvironmentDiffOut(Wire):
    source_environment_id: str
    target_environment_id: str
    resources: list[ResourceDiffOut]
    summary: EnvironmentSummaryOut

    @classmethod
    def of(cls, promotion: Promotion, diffs: Sequence[ResourceDiff]) -> Self:
        changes = sum(one.action is not DiffAction.UNCHANGED for one in diffs)
        return cls(
            source_environment_id=id_text(promotion.source_id),
            target_environment_id=id_text(promotion.target_id),
            resources=[ResourceDiffOut.of(one) for one in diffs],
            summary=EnvironmentSummaryOut(total_entities=len(diffs), total_changes=changes, has_changes=changes > 0),
        )


class SyncedOut(Wire):
    resource_type: ResourceType
    resource_id: str
    resource_name: str
    action: SyncAction


class SkippedOut(Wire):
    resource_type: ResourceType
    resource_id: str
    resource_name: str
    reason: str


class SyncResultOut(Wire):
    """`failed` is empty: a promotion is done whole or not at all."""

    resource_type: ResourceType
    successful: list[SyncedOut]
    failed: list[SkippedOut]
    skipped: list[SkippedOut]
    total_processed: int

    @classmethod
    def of(cls, kind: ResourceType, promoted: Sequence[Promoted]) -> Self:
        return cls(
            resource_type=kind,
            successful=[
                SyncedOut(**_names(one.diff), action=_ACTIONS[one.diff.action])
                for one in promoted
                if one.reason is None
            ],
            failed=[],
            skipped=[SkippedOut(**_names(one.diff), reason=one.reason) for one in promoted if one.reason is not None],
            total_processed=len(promoted),
        )


class PublishSummaryOut(Wire):
    resources: int
    successful: int
    failed: int
    skipped: int


class PublishResultOut(Wire):
    results: list[SyncResultOut]
    summary: PublishSummaryOut

    @classmethod
    def of(cls, promoted: Sequence[Promoted]) -> Self:
        kinds = dict.fromkeys(one.diff.type for one in promoted)
        done = sum(one.reason is None for one in promoted)
        return cls(
            results=[SyncResultOut.of(kind, [one for one in promoted if one.diff.type is kind]) for kind in kinds],
            summary=PublishSummaryOut(resources=len(promoted), successful=done, failed=0, skipped=len(promoted) - done),
        )


class TagOut(Wire):
    name: str

    @classmethod
    def list_of(cls, names: Iterable[str]) -> list[Self]:
        return [cls(name=one) for one in names]


def _resource_out(resource: Comparable | None) -> ResourceOut | None:
    return None if resource is None else ResourceOut.of(resource)


def _names(diff: ResourceDiff) -> dict[str, Any]:
    return {"resource_type": diff.type, "resource_id": diff.shown.identifier, "resource_name": diff.shown.name}
