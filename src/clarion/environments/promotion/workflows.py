"""Promotion of workflows: their fields, and their steps by identifier."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from clarion.content.translations.groups import ResourceType, Translated, copy_group
from clarion.content.translations.store import describe_texts
from clarion.db.port import Connection
from clarion.environments.promotion.model import PromotionContext, Resource, ResourceDiff
from clarion.ids import EnvironmentId
from clarion.jsontext import plain_value
from clarion.workflows import actions, store
from clarion.workflows.differences import content_fields, list_parts, portable_steps
from clarion.workflows.history import VersionKind, VersionOrigin
from clarion.workflows.model import Step, Variant, VersionedWorkflow, Workflow, WorkflowVersion
from clarion.workflows.reply_callbacks import check_callback_rights
from clarion.workflows.steps import new_step_id

_FIELDS = (
    *("name", "description", "active", "tags", "severity", "default_preference", "user_preference"),
    *("tracking", "takes_replies"),
)
_CONTENT = ("payload_schema", "validate_payload")


async def list_resources(db: Connection, environment_id: EnvironmentId, _: PromotionContext) -> list[Resource]:
    workflows = await store.list_workflows(db, environment_id)
    versions = await store.list_versions_by_id(db, environment_id, [workflow.version_id for workflow in workflows])
    texts = await describe_texts(db, environment_id, ResourceType.WORKFLOW, [workflow.id for workflow in workflows])
    return [_resource(workflow, versions[workflow.version_id], texts[workflow.id]) for workflow in workflows]


async def apply(db: Connection, environment_id: EnvironmentId, diff: ResourceDiff, context: PromotionContext) -> None:
    """Create, change or delete a workflow of the target; runs under way keep their version."""
    if diff.source is None:
        await actions.delete_workflow(db, (await _lock(db, environment_id, diff))[0], context.now)
        return
    workflow, version = diff.source.record
    fields = {name: getattr(workflow, name) for name in _FIELDS}
    content = {name: getattr(version, name) for name in _CONTENT}
    origin = VersionOrigin(kind=VersionKind.PROMOTED, actor=context.actor, source_id=workflow.environment_id)
    if diff.target is None:
        content["steps"] = _copy_steps(version, (), context)
        _check_rights(environment_id, (), content["steps"], context)
        fields["key"] = workflow.key
        changed = await actions.create_workflow(db, environment_id, fields, content, context.now, origin)
    else:
        current = await _lock(db, environment_id, diff)
        content["steps"] = _copy_steps(version, current.version.steps, context)
        _check_rights(environment_id, current.version.steps, content["steps"], context)
        changed = await actions.change_workflow(db, current, fields, content, context.now, origin)
    await copy_group(db, _translated(workflow), _translated(changed.workflow), context.now)


def _check_rights(
    environment_id: EnvironmentId, before: Sequence[Step], after: Sequence[Step], context: PromotionContext
) -> None:
    if context.caller is not None:
        check_callback_rights(context.caller, environment_id, before, after)


async def _lock(db: Connection, environment_id: EnvironmentId, diff: ResourceDiff) -> VersionedWorkflow:
    workflow = await store.get_workflow(db, environment_id, diff.shown.identifier, for_update=True)
    return VersionedWorkflow(workflow, await store.get_version(db, workflow))


def _translated(workflow: Workflow) -> Translated:
    return Translated(workflow.environment_id, ResourceType.WORKFLOW, workflow.id)


def _resource(workflow: Workflow, version: WorkflowVersion, texts: Mapping[str, Any]) -> Resource:
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
        "tracking": plain_value(workflow.tracking),
        "takesReplies": workflow.takes_replies,
        **content_fields(version),
        **texts,
    }
    return Resource(
        id=workflow.id,
        identifier=workflow.key,
        name=workflow.name,
        updated_at=workflow.updated_at,
        fields=fields,
        parts=list_parts(version),
        record=(workflow, version),
        match=workflow.key,
    )


def _copy_steps(version: WorkflowVersion, current: Sequence[Step], context: PromotionContext) -> list[Step]:
    """Return the steps for the target; a step that it has keeps its id, so that open digests go on."""
    known = {one.step_id: one for one in current}
    copied = []
    for step in portable_steps(version):
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
