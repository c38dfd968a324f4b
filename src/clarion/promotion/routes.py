"""Promotion: compare environments, promote one to another, and list the tags of workflows."""

from collections.abc import Sequence

from clarion.audit.model import Author
from clarion.audit.recording import author_of
from clarion.environments.actions import get_environment, list_environments_to_change, require_scope
from clarion.environments.model import Environment, list_missing_scopes
from clarion.environments.store import list_environments
from clarion.errors import Forbidden, Invalid, NotFound
from clarion.http.caller import Caller
from clarion.http.operation import Call, DetachedCall, Services, Transaction, operation
from clarion.ids import EnvironmentId, id_text
from clarion.promotion import actions
from clarion.promotion.actions import Promotion
from clarion.promotion.auditing import record_promotion
from clarion.promotion.context import PromotionContext
from clarion.promotion.wire import DiffIn, EnvironmentDiffOut, PublishIn, PublishResultOut, TagOut
from clarion.vocabulary import Scope
from clarion.workflows.store import list_workflows

_TAG = "Environments"


@operation(
    "POST",
    "/v2/environments/{targetEnvironmentId}/diff",
    scope=Scope.ENVIRONMENTS_WRITE,
    body=DiffIn,
    body_optional=True,
    transaction=Transaction.NONE,
    tag=_TAG,
)
async def diff_environments(call: DetachedCall, target_id: EnvironmentId, body: DiffIn) -> EnvironmentDiffOut:
    """Compare an environment with another of the organization: what promotion would change in it, field by field."""
    environments = await call.database.read(lambda db: list_environments(db, call.caller.organization_id))
    promotion = _promotion(environments, target_id, body)
    _require_access(call.caller, environments, promotion)
    _require_scopes(call.caller, [kind.read_scope for kind in promotion.kinds])
    context = _context(call.services)
    diffs = await call.database.scan(lambda db: actions.compare(db, promotion, context))
    return EnvironmentDiffOut.of(promotion, diffs)


@operation(
    "POST",
    "/v2/environments/{targetEnvironmentId}/publish",
    scope=Scope.ENVIRONMENTS_WRITE,
    body=PublishIn,
    body_optional=True,
    tag=_TAG,
)
async def publish_environment(call: Call, target_id: EnvironmentId, body: PublishIn) -> PublishResultOut:
    """Promote workflows and integrations of another environment to this one, all or nothing.

    Secrets are never copied: new integrations are inactive until their credentials are set, and others keep theirs.
    """
    environments = await list_environments_to_change(call.db, call.organization_id)
    promotion = _promotion(environments, target_id, body, prune=body.prune)
    _require_access(call.caller, environments, promotion, changes=True)
    _require_scopes(call.caller, [kind.read_scope for kind in promotion.kinds])
    _require_scopes(call.caller, [kind.write_scope for kind in promotion.kinds])
    context = _context(call.services, author_of(call))
    promoted = await actions.promote(call.db, promotion, context, dry_run=body.dry_run)
    if not body.dry_run:
        source, target = (get_environment(environments, one) for one in (promotion.source_id, target_id))
        await record_promotion(call.db, source, target, promoted, author=author_of(call), context=context)
    return PublishResultOut.of(promoted)


@operation("GET", "/v2/environments/{environmentId}/tags", scope=Scope.WORKFLOWS_READ, tag=_TAG)
async def list_environment_tags(call: Call, environment_id: EnvironmentId) -> list[TagOut]:
    """List the tags of an environment's workflows; another one than the key's needs the scope `environments:write`."""
    if environment_id != call.environment_id and not call.caller.has_scope(Scope.ENVIRONMENTS_WRITE):
        raise NotFound("Environment", id_text(environment_id))
    found = get_environment(await list_environments(call.db, call.organization_id), environment_id)
    require_scope(call.caller, found, Scope.WORKFLOWS_READ)
    workflows = await list_workflows(call.db, environment_id)
    return TagOut.list_of(sorted({tag for workflow in workflows for tag in workflow.tags}))


def _promotion(
    environments: Sequence[Environment], target_id: EnvironmentId, body: DiffIn, *, prune: bool = True
) -> Promotion:
    get_environment(environments, target_id)
    if body.source_environment_id is None:
        source_id = next((one.id for one in environments if one.is_development), None)
    else:
        given_id = body.source_environment_id.id
        source_id = next((one.id for one in environments if one.id == given_id), None)
    if source_id is None or source_id == target_id:
        message = "must be the id of another environment of the organization"
        raise Invalid.field("sourceEnvironmentId", message, body.source_environment_id)
    return Promotion(source_id=source_id, target_id=target_id, only=body.selected(), prune=prune)


def _require_access(
    caller: Caller, environments: Sequence[Environment], promotion: Promotion, *, changes: bool = False
) -> None:
    """Refuse members whose roles in the two environments do not suffice; the scopes of a key count in both."""
    if caller.member is None:
        return
    source, target = (get_environment(environments, one) for one in (promotion.source_id, promotion.target_id))
    require_scope(caller, target, Scope.ENVIRONMENTS_WRITE)
    for kind in promotion.kinds:
        require_scope(caller, source, kind.read_scope)
        require_scope(caller, target, kind.read_scope)
        if changes:
            require_scope(caller, target, kind.write_scope)


def _context(services: Services, author: Author | None = None) -> PromotionContext:
    actor = None if author is None else author.actor
    return PromotionContext(vault=services.vault, names=services.names, now=services.clock.now(), actor=actor)


def _require_scopes(caller: Caller, scopes: Sequence[Scope]) -> None:
    missing = list_missing_scopes(caller.scopes, frozenset(scopes))
    if missing:
        raise Forbidden(
            f"{caller.title} lacks the scopes {', '.join(missing)}, which promotion of these resources needs",
            ctx={"missingScopes": missing},
        )
