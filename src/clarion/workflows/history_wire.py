"""Shapes of the history of workflows."""

from collections.abc import Sequence
from typing import Any, Self

from msgspec import UNSET, UnsetType, field

from clarion.audit.wire import AuditActorOut
from clarion.clock import iso_text
from clarion.http.pages import CursorQuery
from clarion.http.wire import DateTimeText, Wire, given
from clarion.ids import id_text
from clarion.vocabulary import StepType
from clarion.workflows.differences import ComparedPart, DiffAction, Difference, flatten
from clarion.workflows.history import PastVersion, VersionChange, VersionKind, VersionNote, describe_changes
from clarion.workflows.model import Workflow, WorkflowVersion
from clarion.workflows.step_wire import StepOut


class VersionsQuery(CursorQuery):
    """Newest first, unless `orderDirection` is `ASC`."""


class DiffQuery(Wire):
    to: str | None = None
    """The `_id` or number of the other version; without it, the current one."""


class VersionChangeOut(Wire):
    """What a version changed: a step, or what a version has besides steps."""

    action: DiffAction
    """What happened to the step."""
    step_id: str | UnsetType = UNSET
    """The identifier of the step; absent if it is about what a version has besides steps."""
    step_type: StepType | UnsetType = UNSET
    name: str | UnsetType = UNSET
    """The name of the step."""
    fields: list[str]
    """The paths of the first fields that differ."""
    more_fields: int | UnsetType = UNSET
    """How many other fields differ."""

    @classmethod
    def of(cls, change: VersionChange) -> Self:
        return cls(
            action=change.action,
            step_id=given(change.step_id),
            step_type=UNSET if change.step_type is None else StepType(change.step_type),
            name=given(change.name),
            fields=change.fields,
            more_fields=change.more_fields or UNSET,
        )


class PastVersionOut(Wire):
    """A version; `author`, `kind`, `changes` and `summary` are absent if it was made before they were stored."""

    id: str = field(name="_id")
    number: int
    """The number of the version; the first is 1."""
    is_current: bool
    """Whether triggers run this version."""
    kind: VersionKind | UnsetType = UNSET
    """How the version was made."""
    source_id: str | UnsetType = UNSET
    """What it was made from: a version that was restored, a workflow that was copied, an environment."""
    author: AuditActorOut | UnsetType = UNSET
    """Who made the version."""
    changes: list[VersionChangeOut] | UnsetType = UNSET
    """What the version changed, compared with the one before."""
    summary: str | UnsetType = UNSET
    """The changes in one sentence."""
    created_at: DateTimeText

    @classmethod
    def of(cls, workflow: Workflow, version: PastVersion) -> Self:
        return cls(
            id=id_text(version.id),
            number=version.number,
            is_current=version.id == workflow.version_id,
            **_note_fields(version.note),
            created_at=iso_text(version.created_at),
        )


class VersionOut(PastVersionOut):
    """A version with its content."""

    workflow_id: str
    steps: list[StepOut]
    """The steps of this version, in their order."""
    payload_schema: dict[str, Any] | UnsetType = UNSET
    validate_payload: bool

    @classmethod
    def whole(
        cls, workflow: Workflow, version: WorkflowVersion, note: VersionNote | None, steps: list[StepOut]
    ) -> Self:
        return cls(
            id=id_text(version.id),
            number=version.number,
            is_current=version.id == workflow.version_id,
            **_note_fields(note),
            created_at=iso_text(version.created_at),
            workflow_id=workflow.key,
            steps=steps,
            payload_schema=given(version.payload_schema),
            validate_payload=version.validate_payload,
        )


class VersionNameOut(Wire):
    id: str = field(name="_id")
    number: int
    """The number of the version."""

    @classmethod
    def of(cls, version: WorkflowVersion) -> Self:
        return cls(id=id_text(version.id), number=version.number)


class FieldDiffOut(Wire):
    """A field that differs."""

    path: str
    """Where the field is, such as `controlValues.subject`."""
    before: Any = UNSET
    """The value in the first version; absent if there is no such field."""
    after: Any = UNSET
    """The value in the second version; absent if there is no such field."""


class PartDiffOut(Wire):
    """How a step differs; without `stepId`, what a version has besides steps. Indexes are places in the workflow."""

    action: DiffAction
    """What happened to the step."""
    step_id: str | UnsetType = UNSET
    """The identifier of the step; absent if it is about what a version has besides steps."""
    step_type: StepType | UnsetType = UNSET
    name: str | UnsetType = UNSET
    """The name of the step."""
    previous_index: int | UnsetType = UNSET
    new_index: int | UnsetType = UNSET
    fields: list[FieldDiffOut]
    """The fields that differ."""

    @classmethod
    def of(cls, change: Difference) -> Self:
        part = change.shown if isinstance(change.shown, ComparedPart) else None
        return cls(
            action=change.action,
            step_id=UNSET if part is None else part.identifier,
            step_type=UNSET if part is None else StepType(part.type),
            name=UNSET if part is None else part.name,
            previous_index=given(change.previous_index),
            new_index=given(change.new_index),
            fields=_field_diffs(change),
        )


class VersionDiffOut(Wire):
    """What changed on the way from one version to the other."""

    source: VersionNameOut = field(name="from")
    """The version that the comparison starts from."""
    target: VersionNameOut = field(name="to")
    """The version that it is compared with."""
    changes: list[PartDiffOut]
    """How the steps differ, and what a version has besides them."""

    @classmethod
    def of(cls, source: WorkflowVersion, target: WorkflowVersion, changes: Sequence[Difference]) -> Self:
        return cls(
            source=VersionNameOut.of(source),
            target=VersionNameOut.of(target),
            changes=[PartDiffOut.of(one) for one in changes],
        )


def _note_fields(note: VersionNote | None) -> dict[str, Any]:
    if note is None:
        return {}
    origin = note.origin
    return {
        "kind": origin.kind,
        "source_id": UNSET if origin.source_id is None else id_text(origin.source_id),
        "author": UNSET if origin.actor is None else AuditActorOut.of(origin.actor),
        "changes": [VersionChangeOut.of(one) for one in note.changes],
        "summary": describe_changes(note.changes),
    }


def _field_diffs(change: Difference) -> list[FieldDiffOut]:
    before, after = flatten(change.before or {}), flatten(change.after or {})
    return [
        FieldDiffOut(path=name, before=before.get(name, UNSET), after=after.get(name, UNSET))
        for name in sorted(before.keys() | after.keys())
    ]
