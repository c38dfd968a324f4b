"""The history of a workflow: who made each version, from what, and what it changed."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec
from msgspec import Struct

from clarion.audit.model import Actor, ActorType
from clarion.clock import Millis
from clarion.db.listing import Listing
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import Gone, NotFound
from clarion.ids import WorkflowVersionId, find_id
from clarion.jsontext import json_text
from clarion.workflows.differences import ComparedPart, DiffAction, Difference, diff_versions, flatten
from clarion.workflows.model import Workflow, WorkflowVersion
from clarion.workflows.store import VERSION_COLUMNS, get_version, version_of

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


_NOTE = "n.kind, n.source_id, n.actor_type, n.actor_id, n.actor_name, n.changes"
# A version never changes, so that the order of `updatedAt` is that of their creation.
_SOURCE = """
    (SELECT v.environment_id, v.id, v.workflow_id, v.number, v.created_at, v.created_at AS updated_at
     FROM workflow_versions AS v WHERE v.moved IS NULL) AS t
    LEFT JOIN workflow_version_notes AS n ON n.environment_id = t.environment_id AND n.id = t.id
"""

INSERT_NOTE = sql("""
    INSERT INTO workflow_version_notes (
        environment_id, id, kind, source_id, actor_type, actor_id, actor_name, changes
    ) VALUES (
        :environment_id, :id, :kind, :source_id, :actor_type, :actor_id, :actor_name, :changes
    )
""")
FIND_NOTE = sql(f"""
    SELECT {_NOTE} FROM workflow_version_notes AS n WHERE n.environment_id = :environment_id AND n.id = :id
""")
FIND_VERSION_BY_ID = sql(f"""
    SELECT {VERSION_COLUMNS} FROM workflow_versions
    WHERE environment_id = :environment_id AND id = :id AND workflow_id = :workflow_id AND moved IS NULL
""")
FIND_VERSION_BY_NUMBER = sql(f"""
    SELECT {VERSION_COLUMNS} FROM workflow_versions
    WHERE environment_id = :environment_id AND workflow_id = :workflow_id AND number = :number
""")

_decode_changes = msgspec.json.Decoder(list[VersionChange]).decode


async def insert_note(db: Connection, version: WorkflowVersion, note: VersionNote) -> None:
    actor = note.origin.actor
    await db.execute(
        INSERT_NOTE,
        environment_id=version.environment_id,
        id=version.id,
        kind=note.origin.kind,
        source_id=note.origin.source_id,
        actor_type=None if actor is None else actor.type,
        actor_id=None if actor is None else actor.id,
        actor_name=None if actor is None else actor.name,
        changes=json_text(note.changes),
    )


def list_past_versions(workflow: Workflow) -> Listing:
    """List the versions of a workflow without their content."""
    return Listing(
        columns=f"t.id, t.number, t.created_at, t.updated_at, {_NOTE}",
        source=_SOURCE,
        where="t.environment_id = :environment_id AND t.workflow_id = :workflow_id",
        parameters={"environment_id": workflow.environment_id, "workflow_id": workflow.id},
        is_selective=True,
    )


async def get_past_version(db: Connection, workflow: Workflow, reference: str) -> WorkflowVersion:
    """Return a version by its `_id` or number; raises Gone if it was deleted, as far as that is known."""
    scope = {"environment_id": workflow.environment_id, "workflow_id": workflow.id}
    version_id = find_id(reference)
    if version_id is not None:
        row = await db.fetch_one(FIND_VERSION_BY_ID, **scope, id=version_id)
    elif reference.isascii() and reference.isdigit() and len(reference) < 10:
        row = await db.fetch_one(FIND_VERSION_BY_NUMBER, **scope, number=int(reference))
        if row is None and 0 < int(reference) < (await get_version(db, workflow)).number:
            raise Gone(
                f"Version {reference} of workflow '{workflow.key}' was deleted: versions that were replaced long ago "
                "are deleted when no run needs them"
            )
    else:
        row = None
    if row is None:
        raise NotFound("Workflow version", reference)
    return version_of(row)


async def find_note(db: Connection, version: WorkflowVersion) -> VersionNote | None:
    row = await db.fetch_one(FIND_NOTE, environment_id=version.environment_id, id=version.id)
    return None if row is None else _note(row)


def past_version_of(row: Row) -> PastVersion:
    return PastVersion(
        id=WorkflowVersionId(row["id"]), number=row["number"], created_at=row["created_at"], note=_note(row)
    )


def _note(row: Row) -> VersionNote | None:
    if row["kind"] is None:
        return None
    kind = row["actor_type"]
    actor = None if kind is None else Actor(type=ActorType(kind), id=row["actor_id"], name=row["actor_name"])
    origin = VersionOrigin(kind=VersionKind(row["kind"]), actor=actor, source_id=row["source_id"])
    return VersionNote(origin=origin, changes=_decode_changes(row["changes"]))
