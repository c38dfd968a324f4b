"""Promotion: compare environments, promote one to another, and list the tags of workflows."""

from msgspec.structs import replace

from clarion.audit.recording import author_of
from clarion.db.port import Connection
from clarion.environments.access import Reach, access_environment
from clarion.environments.model import Environment
from clarion.environments.promotion import actions
from clarion.environments.promotion.actions import Promotion, Selected
from clarion.environments.promotion.model import PromotedType, PromotionContext, ResourceDiff
from clarion.environments.promotion.wire import DiffIn, EnvironmentDiffOut, PublishIn, PublishResultOut, SyncIn, TagOut
from clarion.errors import Invalid
from clarion.http.operation import Call, DetachedCall, Transaction, operation
from clarion.http.services import Services
from clarion.ids import EnvironmentId, WorkflowKey
from clarion.vocabulary import Scope
from clarion.workflows.current import show_workflow
from clarion.workflows.model import VersionedWorkflow
from clarion.workflows.store import get_version, get_workflow, list_workflows
from clarion.workflows.wire import WorkflowOut


@operation(
    "POST",
    "/v2/environments/{targetEnvironmentId}/diff",
    scope=Scope.ENVIRONMENTS_WRITE,
    body=DiffIn,
    body_optional=True,
    transaction=Transaction.NONE,
)
async def diff_environments(call: DetachedCall, target_id: EnvironmentId, body: DiffIn) -> EnvironmentDiffOut:
    """Compare an environment with another of the organization: what promotion would change in it, field by field.

    An API key needs `organization:reach`.
    """
    reach = await call.database.read(lambda db: Reach.read(db, call.caller))
    promotion = _promotion(reach, target_id, body)
    _access(reach, promotion)
    context = _context(call.services)
    diffs, lacking = await call.database.scan(lambda db: _compare(db, promotion, context))
    return EnvironmentDiffOut.of(promotion, diffs, lacking)


@operation(
    "POST",
    "/v2/environments/{targetEnvironmentId}/publish",
    scope=Scope.ENVIRONMENTS_WRITE,
    body=PublishIn,
    body_optional=True,
)
async def publish_environment(call: Call, target_id: EnvironmentId, body: PublishIn) -> PublishResultOut:
    """Promote workflows and integrations of another environment to this one, all or nothing.

    Secrets are never copied: new integrations are inactive until their credentials are set, and others keep theirs.
    An API key needs `organization:reach`.
    """
    reach = await Reach.lock(call.db, call.caller)
    promotion = _promotion(reach, target_id, body, prune=body.prune)
    source, target = _access(reach, promotion, changes=True)
    context = _context_of_changes(call)
    promoted = await actions.promote(call.db, promotion, context, dry_run=body.dry_run)
    if not body.dry_run:
        await actions.record_promotion(call.db, source, target, promoted, author=author_of(call), context=context)
    diffs = [one.diff for one in promoted if one.reason is None]
    return PublishResultOut.of(promoted, await actions.list_lacking_variables(call.db, promotion, diffs))


@operation("PUT", "/v2/workflows/{workflowId}/sync", scope=Scope.WORKFLOWS_WRITE, body=SyncIn)
async def sync_workflow(call: Call, workflow_key: WorkflowKey, body: SyncIn) -> WorkflowOut:
    """Copy a workflow with the layouts of its steps to another environment, which is what publishing it alone does.

    Answers the workflow of the other environment. An API key needs `organization:reach`.
    """
    reach = await Reach.lock(call.db, call.caller)
    workflow = await get_workflow(call.db, call.environment_id, workflow_key)
    target_id = EnvironmentId(body.target_environment_id.id)
    if target_id == call.environment_id:
        message = "must be another environment than the one of the workflow"
        raise Invalid.field("targetEnvironmentId", message, body.target_environment_id)
    only = [Selected(PromotedType.WORKFLOW, workflow.key)]
    promotion = Promotion(source_id=call.environment_id, target_id=target_id, only=only)
    source, target = _access(reach, promotion, changes=True)
    context = _context_of_changes(call)
    promoted = await actions.promote(call.db, promotion, context)
    await actions.record_promotion(call.db, source, target, promoted, author=author_of(call), context=context)
    return await _show_workflow(call, target_id, workflow.key)


@operation("GET", "/v2/environments/{environmentId}/tags", scope=Scope.WORKFLOWS_READ)
async def list_environment_tags(call: Call, environment_id: EnvironmentId) -> list[TagOut]:
    """List the tags of an environment's workflows; an API key needs `organization:reach` for another than its own."""
    await access_environment(call, environment_id, Scope.WORKFLOWS_READ)
    workflows = await list_workflows(call.db, environment_id)
    return TagOut.list_of(sorted({tag for workflow in workflows for tag in workflow.tags}))


async def _compare(
    db: Connection, promotion: Promotion, context: PromotionContext
) -> tuple[list[ResourceDiff], list[actions.LackingVariable]]:
    diffs = await actions.compare(db, promotion, context)
    return diffs, await actions.list_lacking_variables(db, promotion, diffs)


async def _show_workflow(call: Call, environment_id: EnvironmentId, key: WorkflowKey) -> WorkflowOut:
    workflow = await get_workflow(call.db, environment_id, key)
    version = await get_version(call.db, workflow)
    return await show_workflow(call, VersionedWorkflow(workflow, version))


def _promotion(reach: Reach, target_id: EnvironmentId, body: DiffIn, *, prune: bool = True) -> Promotion:
    reach.get(target_id)
    if body.source_environment_id is None:
        source_id = next((one.id for one in reach.list() if one.is_development), None)
    else:
        given_id = body.source_environment_id.id
        source_id = next((one.id for one in reach.list() if one.id == given_id), None)
    if source_id is None or source_id == target_id:
        message = "must be the id of another environment of the organization that you can reach"
        raise Invalid.field("sourceEnvironmentId", message, body.source_environment_id)
    return Promotion(source_id=source_id, target_id=target_id, only=body.selected(), prune=prune)


def _access(reach: Reach, promotion: Promotion, *, changes: bool = False) -> tuple[Environment, Environment]:
    """Return source and target; refuses callers whose scopes in the two do not suffice."""
    reads = [kind.read_scope for kind in promotion.kinds]
    writes = [kind.write_scope for kind in promotion.kinds] if changes else []
    source = reach.get(promotion.source_id, *reads)
    return source, reach.get(promotion.target_id, Scope.ENVIRONMENTS_WRITE, *reads, *writes)


def _context(services: Services) -> PromotionContext:
    return PromotionContext(vault=services.vault, names=services.names, now=services.clock.now())


def _context_of_changes(call: Call) -> PromotionContext:
    return replace(_context(call.services), actor=author_of(call).actor, caller=call.caller)
