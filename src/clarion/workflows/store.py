"""SQL of workflows and their versions."""

from collections.abc import Iterable

from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.ids import EnvironmentId, WorkflowId, WorkflowVersionId
from clarion.jsontext import json_text, json_value
from clarion.workflows.model import (
    PreferenceLayer,
    Workflow,
    WorkflowVersion,
    decode_layer,
    decode_steps,
    find_workflow_id,
)

INSERT_WORKFLOW = sql("""
    INSERT INTO workflows (
        environment_id, id, key, name, description, active, tags, severity, default_preference, user_preference,
        version_id, created_at, updated_at
    ) VALUES (
        :environment_id, :id, :key, :name, :description, :active, :tags, :severity, :default_preference,
        :user_preference, :version_id, :created_at, :updated_at
    )
    ON CONFLICT (environment_id, key) WHERE deleted_at IS NULL DO NOTHING
    RETURNING id
""")
INSERT_VERSION = sql("""
    INSERT INTO workflow_versions (
        environment_id, id, workflow_id, number, steps, payload_schema, validate_payload, created_at
    ) VALUES (
        :environment_id, :id, :workflow_id, :number, :steps, :payload_schema, :validate_payload, :created_at
    )
""")
FIND_WORKFLOW_BY_KEY = sql("""
    SELECT * FROM workflows WHERE environment_id = :environment_id AND key = :key AND deleted_at IS NULL
""")
FIND_WORKFLOW_BY_ID = sql("""
    SELECT * FROM workflows WHERE environment_id = :environment_id AND id = :id AND deleted_at IS NULL
""")
LIST_ACTIVE_WORKFLOWS = sql("""
    SELECT * FROM workflows WHERE environment_id = :environment_id AND active AND deleted_at IS NULL ORDER BY id
""")
LIST_WORKFLOWS_BY_ID = sql("SELECT * FROM workflows WHERE environment_id = :environment_id AND id {any:ids}")
LIST_VERSIONS_BY_ID = sql("SELECT * FROM workflow_versions WHERE environment_id = :environment_id AND id {any:ids}")


async def insert_workflow(db: Connection, workflow: Workflow, version: WorkflowVersion) -> bool:
    """Insert a workflow with its first version, unless the identifier is taken."""
    row = await db.fetch_one(
        INSERT_WORKFLOW,
        environment_id=workflow.environment_id,
        id=workflow.id,
        key=workflow.key,
        name=workflow.name,
        description=workflow.description,
        active=workflow.active,
        tags=json_text(workflow.tags),
        severity=workflow.severity,
        default_preference=_layer_text(workflow.default_preference),
        user_preference=_layer_text(workflow.user_preference),
        version_id=workflow.version_id,
        created_at=workflow.created_at,
        updated_at=workflow.updated_at,
    )
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
    )


async def find_workflow(db: Connection, environment_id: EnvironmentId, reference: str) -> Workflow | None:
    """A workflow by its identifier, `_id` or slug."""
    row = await db.fetch_one(FIND_WORKFLOW_BY_KEY, environment_id=environment_id, key=reference)
    workflow_id = find_workflow_id(reference)
    if row is None and workflow_id is not None:
        row = await db.fetch_one(FIND_WORKFLOW_BY_ID, environment_id=environment_id, id=workflow_id)
    return None if row is None else workflow_of(row)


async def list_active_workflows(db: Connection, environment_id: EnvironmentId) -> list[Workflow]:
    """Every workflow that can be triggered, oldest first."""
    return [workflow_of(row) for row in await db.fetch(LIST_ACTIVE_WORKFLOWS, environment_id=environment_id)]


async def list_workflows_by_id(
    db: Connection, environment_id: EnvironmentId, ids: Iterable[WorkflowId]
) -> dict[WorkflowId, Workflow]:
    """The given workflows, deleted ones included: their runs still tell their name."""
    rows = await db.fetch(LIST_WORKFLOWS_BY_ID, environment_id=environment_id, ids=list(dict.fromkeys(ids)))
    return {row["id"]: workflow_of(row) for row in rows}


async def list_versions_by_id(
    db: Connection, environment_id: EnvironmentId, ids: Iterable[WorkflowVersionId]
) -> dict[WorkflowVersionId, WorkflowVersion]:
    rows = await db.fetch(LIST_VERSIONS_BY_ID, environment_id=environment_id, ids=list(dict.fromkeys(ids)))
    return {row["id"]: version_of(row) for row in rows}


def workflow_of(row: Row) -> Workflow:
    return Workflow(
        **{
            **dict(row),
            "active": bool(row["active"]),
            "tags": json_value(row["tags"]),
            "default_preference": _layer(row["default_preference"]),
            "user_preference": _layer(row["user_preference"]),
        }
    )


def version_of(row: Row) -> WorkflowVersion:
    return WorkflowVersion(
        **{
            **dict(row),
            "steps": decode_steps(row["steps"]),
            "payload_schema": json_value(row["payload_schema"]),
            "validate_payload": bool(row["validate_payload"]),
        }
    )


def _layer(text: str | None) -> PreferenceLayer | None:
    return None if text is None else decode_layer(text)


def _layer_text(layer: PreferenceLayer | None) -> str | None:
    return None if layer is None else json_text(layer)
