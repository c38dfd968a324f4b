"""SQL of workflows and their versions."""

from collections.abc import Iterable
from typing import Any

import msgspec

from clarion.cache import CacheSlot
from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import columns_of, sql
from clarion.errors import NotFound
from clarion.ids import EnvironmentId, WorkflowId, WorkflowVersionId
from clarion.jsontext import json_text, json_value
from clarion.tracking.model import decode_override
from clarion.waits.store import insert_awaited
from clarion.workflows.model import (
    MovedFrom,
    PreferenceLayer,
    Workflow,
    WorkflowVersion,
    decode_layer,
    decode_steps,
    find_workflow_id,
)

_decode_moved = msgspec.json.Decoder(MovedFrom).decode
_VERSIONS: CacheSlot[tuple[EnvironmentId, WorkflowVersionId], WorkflowVersion] = CacheSlot(limit=1024)

WORKFLOW_COLUMNS = columns_of(Workflow)
VERSION_COLUMNS = columns_of(WorkflowVersion)
INSERT_WORKFLOW = sql("""
    INSERT INTO workflows (
        environment_id, id, key, name, description, active, tags, severity, default_preference, user_preference,
        tracking, takes_replies, version_id, created_at, updated_at
    ) VALUES (
        :environment_id, :id, :key, :name, :description, :active, :tags, :severity, :default_preference,
        :user_preference, :tracking, :takes_replies, :version_id, :created_at, :updated_at
    )
    ON CONFLICT (environment_id, key) WHERE deleted_at IS NULL DO NOTHING
    RETURNING id
""")
INSERT_VERSION = sql("""
    INSERT INTO workflow_versions (
        environment_id, id, workflow_id, number, steps, payload_schema, validate_payload, created_at, moved
    ) VALUES (
        :environment_id, :id, :workflow_id, :number, :steps, :payload_schema, :validate_payload, :created_at, :moved
    )
""")
_BY_KEY = f"""
    SELECT {WORKFLOW_COLUMNS} FROM workflows
    WHERE environment_id = :environment_id AND key = :key AND deleted_at IS NULL
"""
_BY_ID = f"""
    SELECT {WORKFLOW_COLUMNS} FROM workflows
    WHERE environment_id = :environment_id AND id = :id AND deleted_at IS NULL
"""

LIST_WORKFLOWS_BY_KEY = sql(f"""
    SELECT {WORKFLOW_COLUMNS} FROM workflows
    WHERE environment_id = :environment_id AND key {{any:keys}} AND deleted_at IS NULL
""")
FIND_WORKFLOW_BY_KEY = sql(_BY_KEY)
FIND_WORKFLOW_BY_ID = sql(_BY_ID)
FIND_WORKFLOW_BY_KEY_FOR_UPDATE = sql(_BY_KEY + " {for_update}")
FIND_WORKFLOW_BY_ID_FOR_UPDATE = sql(_BY_ID + " {for_update}")
UPDATE_WORKFLOW = sql("""
    UPDATE workflows SET
        name = :name, description = :description, active = :active, tags = :tags, severity = :severity,
        default_preference = :default_preference, user_preference = :user_preference, tracking = :tracking,
        takes_replies = :takes_replies, version_id = :version_id, updated_at = :updated_at
    WHERE environment_id = :environment_id AND id = :id
""")
MARK_WORKFLOW_DELETED = sql("""
    UPDATE workflows SET deleted_at = :now WHERE environment_id = :environment_id AND id = :id
""")
LIST_WORKFLOWS = sql(f"""
    SELECT {WORKFLOW_COLUMNS} FROM workflows
    WHERE environment_id = :environment_id AND deleted_at IS NULL ORDER BY id
""")
LIST_ACTIVE_WORKFLOWS = sql(f"""
    SELECT {WORKFLOW_COLUMNS} FROM workflows
    WHERE environment_id = :environment_id AND active AND deleted_at IS NULL ORDER BY id
""")
LIST_WORKFLOWS_BY_ID = sql(f"""
    SELECT {WORKFLOW_COLUMNS} FROM workflows
    WHERE environment_id = :environment_id AND id {{any:ids}}
""")
LIST_VERSIONS_BY_ID = sql(f"""
    SELECT {VERSION_COLUMNS} FROM workflow_versions
    WHERE environment_id = :environment_id AND id {{any:ids}}
""")


async def insert_workflow(db: Connection, workflow: Workflow, version: WorkflowVersion) -> bool:
    """Insert a workflow with its first version; returns False if the identifier is taken."""
    row = await db.fetch_one(INSERT_WORKFLOW, **_columns(workflow), key=workflow.key, created_at=workflow.created_at)
    if row is None:
        return False
    await insert_version(db, version)
    return True


async def insert_version(db: Connection, version: WorkflowVersion) -> None:
    await db.execute(
        INSERT_VERSION,
        environment_id=version.environment_id,
        id=version.id,
        workflow_id=version.workflow_id,
        number=version.number,
        steps=json_text(version.steps),
        payload_schema=None if version.payload_schema is None else json_text(version.payload_schema),
        validate_payload=version.validate_payload,
        created_at=version.created_at,
        moved=None if version.moved is None else json_text(version.moved),
    )
    await insert_awaited(db, version.environment_id, version.awaited_events)


async def find_workflow(
    db: Connection, environment_id: EnvironmentId, reference: str, *, for_update: bool = False
) -> Workflow | None:
    """Find a workflow by its identifier, `_id` or slug."""
    by_key, by_id = (
        (FIND_WORKFLOW_BY_KEY_FOR_UPDATE, FIND_WORKFLOW_BY_ID_FOR_UPDATE)
        if for_update
        else (FIND_WORKFLOW_BY_KEY, FIND_WORKFLOW_BY_ID)
    )
    row = await db.fetch_one(by_key, environment_id=environment_id, key=reference)
    workflow_id = find_workflow_id(reference)
    if row is None and workflow_id is not None:
        row = await db.fetch_one(by_id, environment_id=environment_id, id=workflow_id)
    return None if row is None else workflow_of(row)


async def get_workflow(
    db: Connection, environment_id: EnvironmentId, reference: str, *, for_update: bool = False
) -> Workflow:
    workflow = await find_workflow(db, environment_id, reference, for_update=for_update)
    if workflow is None:
        raise NotFound("Workflow", reference)
    return workflow


async def get_version(db: Connection, workflow: Workflow) -> WorkflowVersion:
    """Return the current version, which new runs take."""
    versions = await list_versions_by_id(db, workflow.environment_id, [workflow.version_id])
    return versions[workflow.version_id]


async def update_workflow(db: Connection, workflow: Workflow) -> None:
    """Write every column of a workflow that can change; the caller has locked its row."""
    await db.execute(UPDATE_WORKFLOW, **_columns(workflow))


async def mark_workflow_deleted(db: Connection, workflow: Workflow, now: Millis) -> None:
    """Mark a workflow deleted and free its identifier; its versions stay for the runs under way."""
    await db.execute(MARK_WORKFLOW_DELETED, environment_id=workflow.environment_id, id=workflow.id, now=now)


async def list_workflows(db: Connection, environment_id: EnvironmentId) -> list[Workflow]:
    """List the workflows that are not deleted, oldest first."""
    return [workflow_of(row) for row in await db.fetch(LIST_WORKFLOWS, environment_id=environment_id)]


async def list_active_workflows(db: Connection, environment_id: EnvironmentId) -> list[Workflow]:
    """List the workflows that can be triggered, oldest first."""
    return [workflow_of(row) for row in await db.fetch(LIST_ACTIVE_WORKFLOWS, environment_id=environment_id)]


async def list_workflows_by_reference(
    db: Connection, environment_id: EnvironmentId, references: Iterable[str]
) -> dict[str, Workflow]:
    """Return the workflows that exist, by the given reference: identifier, `_id` or slug."""
    wanted = list(dict.fromkeys(references))
    rows = await db.fetch(LIST_WORKFLOWS_BY_KEY, environment_id=environment_id, keys=wanted)
    by_reference: dict[str, Workflow] = {row["key"]: workflow_of(row) for row in rows}
    missing = [one for one in wanted if one not in by_reference]
    return by_reference | await _list_workflows_by_id_text(db, environment_id, missing) if missing else by_reference


async def _list_workflows_by_id_text(
    db: Connection, environment_id: EnvironmentId, references: Iterable[str]
) -> dict[str, Workflow]:
    ids = {one: workflow_id for one in references if (workflow_id := find_workflow_id(one)) is not None}
    by_id = await list_workflows_by_id(db, environment_id, ids.values()) if ids else {}
    found = ((one, by_id.get(workflow_id)) for one, workflow_id in ids.items())
    return {one: workflow for one, workflow in found if workflow is not None and workflow.deleted_at is None}


async def list_workflows_by_id(
    db: Connection, environment_id: EnvironmentId, ids: Iterable[WorkflowId]
) -> dict[WorkflowId, Workflow]:
    """Return the given workflows, including deleted ones, whose runs still show their name."""
    rows = await db.fetch(LIST_WORKFLOWS_BY_ID, environment_id=environment_id, ids=list(dict.fromkeys(ids)))
    return {row["id"]: workflow_of(row) for row in rows}


async def list_versions_by_id(
    db: Connection, environment_id: EnvironmentId, ids: Iterable[WorkflowVersionId]
) -> dict[WorkflowVersionId, WorkflowVersion]:
    """The given versions; they never change, so they are cached."""
    cache = db.caches.of(_VERSIONS)
    wanted = dict.fromkeys(ids)
    versions = {one: version for one in wanted if (version := cache.get((environment_id, one))) is not None}
    missing = [one for one in wanted if one not in versions]
    if missing:
        for row in await db.fetch(LIST_VERSIONS_BY_ID, environment_id=environment_id, ids=missing):
            version = version_of(row)
            versions[version.id] = version
            cache.put((environment_id, version.id), version)
    return versions


def workflow_of(row: Row) -> Workflow:
    return Workflow(
        **{
            **dict(row),
            "active": bool(row["active"]),
            "tags": json_value(row["tags"]),
            "default_preference": _layer(row["default_preference"]),
            "user_preference": _layer(row["user_preference"]),
            "tracking": None if row["tracking"] is None else decode_override(row["tracking"]),
            "takes_replies": None if row["takes_replies"] is None else bool(row["takes_replies"]),
        }
    )


def version_of(row: Row) -> WorkflowVersion:
    return WorkflowVersion(
        **{
            **dict(row),
            "steps": decode_steps(row["steps"]),
            "payload_schema": json_value(row["payload_schema"]),
            "validate_payload": bool(row["validate_payload"]),
            "moved": None if row["moved"] is None else _decode_moved(row["moved"]),
        }
    )


def _columns(workflow: Workflow) -> dict[str, Any]:
    """Return the columns that INSERT and UPDATE share."""
    return {
        "environment_id": workflow.environment_id,
        "id": workflow.id,
        "name": workflow.name,
        "description": workflow.description,
        "active": workflow.active,
        "tags": json_text(workflow.tags),
        "severity": workflow.severity,
        "default_preference": _layer_text(workflow.default_preference),
        "user_preference": _layer_text(workflow.user_preference),
        "tracking": None if workflow.tracking is None else json_text(workflow.tracking),
        "takes_replies": workflow.takes_replies,
        "version_id": workflow.version_id,
        "updated_at": workflow.updated_at,
    }


def _layer(text: str | None) -> PreferenceLayer | None:
    return None if text is None else decode_layer(text)


def _layer_text(layer: PreferenceLayer | None) -> str | None:
    return None if layer is None else json_text(layer)
