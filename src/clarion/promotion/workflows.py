"""Promotion of workflows: their fields, and their steps by identifier."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from clarion.conditions import rename_previous_steps
from clarion.db.port import Connection
from clarion.ids import EnvironmentId
from clarion.jsontext import plain_value
from clarion.promotion.context import PromotionContext
from clarion.promotion.model import Part, Resource, ResourceDiff
from clarion.workflows import actions, store
from clarion.workflows.model import Step, Variant, VersionedWorkflow, Workflow, WorkflowVersion
from clarion.workflows.steps import new_step_id

_FIELDS = ("name", "description", "active", "tags", "severity", "default_preference", "user_preference")
_CONTENT = ("payload_schema", "validate_payload")


async def list_resources(db: Connection, environment_id: EnvironmentId, _: PromotionContext) -> list[Resource]:
    found = await store.list_workflows(db, environment_id)
    versions = await store.list_versions_by_id(db, environment_id, [one.version_id for one in found])
    return [_resource(one, versions[one.version_id]) for one in found]


async def apply(db: Connection, environment_id: EnvironmentId, diff: ResourceDiff, context: PromotionContext) -> None:
    """Create, change or delete a workflow of the target; runs under way keep their version."""
    if diff.source is None:
        await actions.delete_workflow(db, (await _lock(db, environment_id, diff))[0], context.now)
        return
    workflow, version = diff.source.record
    fields = {name: getattr(workflow, name) for name in _FIELDS}
    content = {name: getattr(version, name) for name in _CONTENT}
    if diff.target is None:
        content["steps"] = _copy_steps(version, (), context)
        await actions.create_workflow(db, environment_id, fields | {"key": workflow.key}, content, context.now)
    else:
        current = await _lock(db, environment_id, diff)
        content["steps"] = _copy_steps(version, current[1].steps, context)
        await actions.change_workflow(db, current, fields, content, context.now)


async def _lock(db: Connection, environment_id: EnvironmentId, diff: ResourceDiff) -> VersionedWorkflow:
    workflow = await store.get_workflow(db, environment_id, diff.shown.identifier, for_update=True)
    return workflow, await store.get_version(db, workflow)


def _resource(workflow: Workflow, version: WorkflowVersion) -> Resource:
    fields = {
        "name": workflow.name,
        "description": workflow.description,
        "active": workflow.active,
        "tags": workflow.tags,
        "severity": workflow.severity,
        "preferences": {
            "workflow": plain_value(workflow.default_preference),
            "user": plain_value(workflow.user_preference),
        },
        "payloadSchema": version.payload_schema,
        "validatePayload": version.validate_payload,
    }
    return Resource(
        id=workflow.id,
        identifier=workflow.key,
        name=workflow.name,
        updated_at=workflow.updated_at,
        fields=fields,
        parts=[_part(one) for one in _portable_steps(version)],
        record=(workflow, version),
        match=workflow.key,
    )


def _part(step: Step) -> Part:
    values: dict[str, Any] = plain_value(step)
    fields = {name: value for name, value in values.items() if name not in ("id", "stepId")}
    fields["variants"] = [_without_id(one) for one in fields["variants"]]
    return Part(identifier=step.step_id, name=step.name, type=step.type, fields=fields)


def _without_id(variant: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in variant.items() if name != "id"}


def _portable_steps(version: WorkflowVersion) -> list[Step]:
    """Return the steps with conditions that name earlier steps by identifiers, which all environments share."""

    def rename(reference: str) -> str:
        found = version.find_step(reference)
        return reference if found is None else found.step_id

    return [
        replace(
            step,
            filters=rename_previous_steps(step.filters, rename),
            variants=[replace(one, filters=rename_previous_steps(one.filters, rename)) for one in step.variants],
        )
        for step in version.steps
    ]


def _copy_steps(version: WorkflowVersion, current: Sequence[Step], context: PromotionContext) -> list[Step]:
    """Return the steps for the target; a step that it has keeps its id, so that open digests go on."""
    known = {one.step_id: one for one in current}
    copied = []
    for step in _portable_steps(version):
        before = known.get(step.step_id)
        variants = [] if before is None else before.variants
        copied.append(
            replace(
                step,
                id=new_step_id(context.now) if before is None else before.id,
                variants=_copy_variants(step.variants, variants, context),
            )
        )
    return copied


def _copy_variants(variants: Sequence[Variant], current: Sequence[Variant], context: PromotionContext) -> list[Variant]:
    ids = [one.id for one in current]
    return [
        replace(one, id=ids[index] if index < len(ids) else new_step_id(context.now))
        for index, one in enumerate(variants)
    ]
