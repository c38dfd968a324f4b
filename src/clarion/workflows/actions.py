"""Create, change and copy workflows; a change adds a version, because runs keep the one that they started with."""

from collections.abc import Mapping
from typing import Any

import msgspec

from clarion.clock import Millis, iso_text
from clarion.content.translations.groups import ResourceType, Translated, copy_group
from clarion.db.port import Connection
from clarion.environments.configuration import raise_configuration_version
from clarion.errors import Invalid
from clarion.ids import EnvironmentId, WorkflowId, WorkflowKey, WorkflowVersionId, id_base62, id_text, new_id
from clarion.jsontext import json_text
from clarion.segments.usage import check_segments
from clarion.vocabulary import Severity
from clarion.webhooks.events import append_events
from clarion.webhooks.model import EventType
from clarion.workflows import store
from clarion.workflows.circles import refuse_circle
from clarion.workflows.differences import portable_steps
from clarion.workflows.history import VersionOrigin, insert_note, make_note
from clarion.workflows.model import Step, VersionedWorkflow, Workflow, WorkflowVersion
from clarion.workflows.steps import new_step_id

_UNKNOWN = VersionOrigin()


async def create_workflow(
    db: Connection,
    environment_id: EnvironmentId,
    fields: Mapping[str, Any],
    content: Mapping[str, Any],
    now: Millis,
    origin: VersionOrigin = _UNKNOWN,
) -> VersionedWorkflow:
    """Create a workflow with its first version; raises Invalid if the identifier is taken."""
    workflow, version = _new_workflow(environment_id, fields, content, now)
    await check_segments(db, version)
    await refuse_circle(db, environment_id, workflow.key, version.steps)
    if not await store.insert_workflow(db, workflow, version):
        raise _identifier_taken(workflow.key)
    await insert_note(db, version, make_note(None, version, origin))
    await _append_event(db, EventType.WORKFLOW_CREATED, workflow, now)
    return VersionedWorkflow(workflow, version)


async def change_workflow(
    db: Connection,
    current: VersionedWorkflow,
    fields: Mapping[str, Any],
    content: Mapping[str, Any],
    now: Millis,
    origin: VersionOrigin = _UNKNOWN,
) -> VersionedWorkflow:
    """Apply changes, with a new version if the content differs; the caller has locked the workflow's row.

    If nothing differs, nothing is written.
    """
    workflow, version = current
    next_version = make_next_version(version, content, now)
    changed = msgspec.structs.replace(workflow, **fields, version_id=next_version.id)
    if changed == workflow:
        return current
    if next_version is not version:
        await check_segments(db, next_version)
        await refuse_circle(db, workflow.environment_id, workflow.key, next_version.steps)
        await store.insert_version(db, next_version)
        await insert_note(db, next_version, make_note(version, next_version, origin))
    changed = msgspec.structs.replace(changed, updated_at=now)
    await store.update_workflow(db, changed)
    await raise_configuration_version(db, changed.environment_id)
    await _append_event(db, EventType.WORKFLOW_UPDATED, changed, now)
    return VersionedWorkflow(changed, next_version)


async def duplicate_workflow(
    db: Connection, workflow: Workflow, fields: Mapping[str, Any], now: Millis, origin: VersionOrigin = _UNKNOWN
) -> VersionedWorkflow:
    """Copy a workflow under another identifier; the copy is inactive."""
    version = await store.get_version(db, workflow)
    copied = msgspec.structs.asdict(workflow) | {"name": f"{workflow.name} (Copy)"[:255], "active": False}
    content = {
        "steps": [_with_new_ids(step, now) for step in portable_steps(version)],
        "payload_schema": version.payload_schema,
        "validate_payload": version.validate_payload,
    }
    keys = [fields["key"]] if "key" in fields else _copy_keys(workflow.key, now)
    for key in keys:
        copy, first = _new_workflow(workflow.environment_id, {**copied, **fields, "key": key}, content, now)
        if await store.insert_workflow(db, copy, first):
            await insert_note(db, first, make_note(None, first, origin))
            await copy_group(db, _translated(workflow), _translated(copy), now)
            await _append_event(db, EventType.WORKFLOW_CREATED, copy, now)
            return VersionedWorkflow(copy, first)
    raise _identifier_taken(keys[-1])


async def delete_workflow(db: Connection, workflow: Workflow, now: Millis) -> None:
    """Mark the workflow deleted, which frees its identifier; the caller has locked its row.

    Its translations stay for the runs under way, as its versions do, and nobody else finds them.
    """
    await store.mark_workflow_deleted(db, workflow, now)
    await _append_event(db, EventType.WORKFLOW_DELETED, workflow, now)


def make_next_version(version: WorkflowVersion, content: Mapping[str, Any], now: Millis) -> WorkflowVersion:
    """Return a version with the new content, or the given one if the content is the same."""
    changed = msgspec.structs.replace(version, **content)
    # Compared as JSON text, because 1, 1.0 and true are equal in Python and differ in JSON.
    if json_text(changed) == json_text(version):
        return version
    return msgspec.structs.replace(
        changed, id=WorkflowVersionId(new_id(now)), number=version.number + 1, created_at=now
    )


async def _append_event(db: Connection, kind: EventType, workflow: Workflow, now: Millis) -> None:
    data = {
        "_id": id_text(workflow.id),
        "workflowId": workflow.key,
        "name": workflow.name,
        "active": workflow.active,
        "tags": workflow.tags,
        "severity": workflow.severity,
        "createdAt": iso_text(workflow.created_at),
        "updatedAt": iso_text(workflow.updated_at),
    }
    await append_events(db, workflow.environment_id, [(kind, data)], now)


def _new_workflow(
    environment_id: EnvironmentId, fields: Mapping[str, Any], content: Mapping[str, Any], now: Millis
) -> VersionedWorkflow:
    version = WorkflowVersion(
        environment_id=environment_id,
        id=WorkflowVersionId(new_id(now)),
        workflow_id=WorkflowId(new_id(now)),
        number=1,
        steps=content["steps"],
        payload_schema=content.get("payload_schema"),
        validate_payload=content.get("validate_payload", False),
        created_at=now,
    )
    workflow = Workflow(
        environment_id=environment_id,
        id=version.workflow_id,
        key=fields["key"],
        name=fields["name"],
        description=fields.get("description"),
        active=fields.get("active", True),
        tags=fields.get("tags", []),
        severity=fields.get("severity", Severity.NONE),
        default_preference=fields.get("default_preference"),
        user_preference=fields.get("user_preference"),
        tracking=fields.get("tracking"),
        takes_replies=fields.get("takes_replies"),
        version_id=version.id,
        created_at=now,
        updated_at=now,
    )
    return VersionedWorkflow(workflow, version)


def _translated(workflow: Workflow) -> Translated:
    return Translated(workflow.environment_id, ResourceType.WORKFLOW, workflow.id)


def _with_new_ids(step: Step, now: Millis) -> Step:
    variants = [msgspec.structs.replace(variant, id=new_step_id(now)) for variant in step.variants]
    return msgspec.structs.replace(step, id=new_step_id(now), variants=variants)


def _copy_keys(key: WorkflowKey, now: Millis) -> list[WorkflowKey]:
    """Return identifiers to try for a copy: a readable one, then a unique one."""
    base = f"{key[:230]}-copy"
    return [WorkflowKey(base), WorkflowKey(f"{base}-{id_base62(new_id(now))[-8:]}")]


def _identifier_taken(key: WorkflowKey) -> Invalid:
    return Invalid.field("workflowId", "is the identifier of another workflow of this environment", key)
