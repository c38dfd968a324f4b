"""The history of a workflow: who made each version, from what, and what it changed."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from clarion.audit.model import Actor
from clarion.clock import Millis
from clarion.ids import WorkflowVersionId
from clarion.workflows.comparing import diff_versions
from clarion.workflows.differences import ComparedPart, DiffAction, Difference, flatten
from clarion.workflows.model import WorkflowVersion

MAX_FIELDS = 20
"""How many fields of a step the history names; a comparison of versions shows all."""


class VersionKind(StrEnum):
    """How a version came to be."""

    SAVED = "saved"
    DUPLICATED = "duplicated"
    """The first version of a copy; its source is the workflow."""
    PROMOTED = "promoted"
    """Its source is the environment."""
    RESTORED = "restored"
    """Its source is the version."""


class VersionOrigin(Struct, frozen=True, kw_only=True):
    """Who makes a version, and from what."""

    kind: VersionKind = VersionKind.SAVED
    actor: Actor | None = None
    """None: not known."""
    source_id: bytes | None = None


class VersionChange(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a version changed in the one before: a step, or what it has besides steps."""

    action: DiffAction
    step_id: str | None = None
    step_type: str | None = None
    name: str | None = None
    fields: list[str] = []
    """The paths of fields that differ, up to MAX_FIELDS."""
    more_fields: int = 0


class VersionNote(Struct, frozen=True, kw_only=True):
    """What the history has of a version besides its content."""

    origin: VersionOrigin
    changes: list[VersionChange]


class PastVersion(Struct, frozen=True, kw_only=True):
    """A version without its content."""

    id: WorkflowVersionId
    number: int
    created_at: Millis
    note: VersionNote | None
    """None: made before notes were taken."""


def make_note(old: WorkflowVersion | None, new: WorkflowVersion, origin: VersionOrigin) -> VersionNote:
    return VersionNote(origin=origin, changes=[_change(one) for one in diff_versions(old, new)])


def describe_changes(changes: Sequence[VersionChange]) -> str:
    """Return the changes as a sentence for people."""
    return "; ".join(_describe(one) for one in changes) or "Nothing but ids of steps"


def _change(change: Difference) -> VersionChange:
    part = change.shown if isinstance(change.shown, ComparedPart) else None
    is_modified = change.action is DiffAction.MODIFIED
    names = sorted({**flatten(change.before or {}), **flatten(change.after or {})}) if is_modified else []
    return VersionChange(
        action=change.action,
        step_id=None if part is None else part.identifier,
        step_type=None if part is None else part.type,
        name=None if part is None else part.name,
        fields=names[:MAX_FIELDS],
        more_fields=max(0, len(names) - MAX_FIELDS),
    )


def _describe(change: VersionChange) -> str:
    more = f" and {change.more_fields} more" if change.more_fields else ""
    fields = ", ".join(change.fields) + more
    if change.step_id is None:
        return f"Changed {fields}"
    step = f"step '{change.step_id}'"
    match change.action:
        case DiffAction.ADDED:
            return f"Added {step}"
        case DiffAction.DELETED:
            return f"Deleted {step}"
        case DiffAction.MOVED:
            return f"Moved {step}"
        case _:
            return f"Changed {fields} of {step}"
