"""SQL of the history of workflows."""

import msgspec

from clarion.audit.model import Actor, ActorType
from clarion.db.listing import Listing
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.errors import Gone, NotFound
from clarion.ids import WorkflowVersionId, find_id
from clarion.jsontext import json_text
from clarion.workflows.history import PastVersion, VersionChange, VersionKind, VersionNote, VersionOrigin
from clarion.workflows.model import Workflow, WorkflowVersion
from clarion.workflows.store import get_version, version_of

_NOTE = "n.kind, n.source_id, n.actor_type, n.actor_id, n.actor_name, n.changes"
# A version never changes, so that the order of `updatedAt` is that of their creation.
_SOURCE = """
    (SELECT v.environment_id, v.id, v.workflow_id, v.number, v.created_at, v.created_at AS updated_at
     FROM workflow_versions AS v) AS t
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
FIND_VERSION_BY_ID = sql("""
    SELECT * FROM workflow_versions
    WHERE environment_id = :environment_id AND id = :id AND workflow_id = :workflow_id
""")
FIND_VERSION_BY_NUMBER = sql("""
    SELECT * FROM workflow_versions
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
