"""Compares two environments, and promotes one to the other in one unit of work."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from clarion.audit.model import Action, Author
from clarion.audit.recording import record_event
from clarion.db.port import Connection
from clarion.environments.model import Environment
from clarion.environments.promotion import integrations, layouts, workflows
from clarion.environments.promotion.model import PromotedType, PromotionContext, Resource, ResourceDiff, diff_resources
from clarion.environments.variables.model import is_used_in
from clarion.environments.variables.store import list_keys_lacking
from clarion.errors import Invalid, Problem
from clarion.ids import EnvironmentId, id_text
from clarion.jsontext import json_text, plain_value
from clarion.vocabulary import Scope
from clarion.workflows.differences import DiffAction


class ResourceKind(Struct, frozen=True, kw_only=True):
    """How resources of one type are read, compared and written."""

    type: PromotedType
    read_scope: Scope
    write_scope: Scope
    list_resources: Callable[[Connection, EnvironmentId, PromotionContext], Awaitable[list[Resource]]]
    apply: Callable[[Connection, EnvironmentId, ResourceDiff, PromotionContext], Awaitable[None]]
    find_problem: Callable[[Resource, Resource], str | None] = lambda _source, _target: None
    is_pruned: bool
    """Whether promotion can delete what the source does not have."""


# What others refer to comes first.
KINDS = (
    ResourceKind(
        type=PromotedType.INTEGRATION,
        read_scope=Scope.INTEGRATIONS_READ,
        write_scope=Scope.INTEGRATIONS_WRITE,
        list_resources=integrations.list_resources,
        apply=integrations.apply,
        find_problem=integrations.find_problem,
        is_pruned=False,
    ),
    ResourceKind(
        type=PromotedType.LAYOUT,
        read_scope=Scope.WORKFLOWS_READ,
        write_scope=Scope.WORKFLOWS_WRITE,
        list_resources=layouts.list_resources,
        apply=layouts.apply,
        is_pruned=False,
    ),
    ResourceKind(
        type=PromotedType.WORKFLOW,
        read_scope=Scope.WORKFLOWS_READ,
        write_scope=Scope.WORKFLOWS_WRITE,
        list_resources=workflows.list_resources,
        apply=workflows.apply,
        is_pruned=True,
    ),
)
"""A further kind is a module like `workflows`, a member of PromotedType and an entry here."""


class Selected(Struct, frozen=True):
    """A resource that the caller named, by its identifier or `_id`."""

    type: PromotedType
    identifier: str


class Promotion(Struct, frozen=True, kw_only=True):
    """What to promote: `only` some resources, or everything; `prune` deletes what the source does not have."""

    source_id: EnvironmentId
    target_id: EnvironmentId
    only: Sequence[Selected] | None = None
    prune: bool = False

    @property
    def kinds(self) -> list[ResourceKind]:
        if self.only is None:
            return list(KINDS)
        types = {one.type for one in self.only}
        # Workflows take their layouts along.
        types |= {PromotedType.LAYOUT} if PromotedType.WORKFLOW in types else set()
        return [kind for kind in KINDS if kind.type in types]


class Promoted(Struct, frozen=True):
    """A difference, and why it was not promoted; None if it was."""

    diff: ResourceDiff
    reason: str | None


class LackingVariable(Struct, frozen=True):
    """A variable without a value in the target, and the identifiers of what uses it."""

    key: str
    users: Mapping[PromotedType, Sequence[str]]


async def compare(db: Connection, promotion: Promotion, context: PromotionContext) -> list[ResourceDiff]:
    """List the resources of both environments, with what differs."""
    diffs: list[ResourceDiff] = []
    for kind in promotion.kinds:
        source = await kind.list_resources(db, promotion.source_id, context)
        target = await kind.list_resources(db, promotion.target_id, context)
        diffs += _diff_kind(kind, source, target)
    return _select(diffs, promotion)


async def promote(
    db: Connection, promotion: Promotion, context: PromotionContext, *, dry_run: bool = False
) -> list[Promoted]:
    """Make the target like the source; a dry run returns the same without writing."""
    promoted = [_decide(diff, promotion) for diff in await compare(db, promotion, context)]
    kinds = {kind.type: kind for kind in KINDS}
    for outcome in promoted:
        if outcome.reason is None and not dry_run:
            await kinds[outcome.diff.type].apply(db, promotion.target_id, outcome.diff, context)
    return promoted


async def list_lacking_variables(
    db: Connection, promotion: Promotion, diffs: Sequence[ResourceDiff]
) -> list[LackingVariable]:
    """The variables that promoted resources use and that have a value in the source, but none in the target."""
    keys = await list_keys_lacking(db, source_id=promotion.source_id, target_id=promotion.target_id)
    texts = [
        (diff.type, diff.source.identifier, _text_of(diff.type, diff.source))
        for diff in diffs
        if keys and diff.source is not None
    ]
    lacking = []
    for key in keys:
        users: dict[PromotedType, list[str]] = {}
        for kind, name, text in texts:
            if is_used_in([text], key):
                users.setdefault(kind, []).append(name)
        lacking += [LackingVariable(key, users)] if users else []
    return lacking


def _text_of(kind: PromotedType, resource: Resource) -> str:
    """All texts of a resource that may refer to variables."""
    if kind is PromotedType.INTEGRATION:
        return json_text(resource.record.credentials)
    steps = resource.record[1].steps if kind is PromotedType.WORKFLOW else ()
    return json_text(plain_value([resource.fields, steps]))


async def record_promotion(
    db: Connection,
    source: Environment,
    target: Environment,
    promoted: Sequence[Promoted],
    *,
    author: Author,
    context: PromotionContext,
) -> None:
    """Record what was promoted in the audit log of the target, unless that is nothing."""
    resources = [
        {"type": outcome.diff.type, "identifier": outcome.diff.shown.identifier, "action": outcome.diff.action}
        for outcome in promoted
        if outcome.reason is None
    ]
    if resources:
        details = {"from": {"_id": id_text(source.id), "name": source.name}, "resources": resources}
        await record_event(db, Action.ENVIRONMENT_PROMOTE, target, author, context.now, details=details)


def _diff_kind(kind: ResourceKind, source: Collection[Resource], target: Collection[Resource]) -> list[ResourceDiff]:
    old = {resource.match: resource for resource in target}
    diffs = []
    for resource in source:
        before = old.pop(resource.match, None)
        diff = diff_resources(kind.type, resource, before)
        problem = None if before is None else kind.find_problem(resource, before)
        diffs.append(replace(diff, problem=problem))
    if kind.is_pruned:
        diffs += [diff_resources(kind.type, None, resource) for resource in old.values()]
    return diffs


def _select(diffs: list[ResourceDiff], promotion: Promotion) -> list[ResourceDiff]:
    if promotion.only is None:
        return diffs
    chosen: list[ResourceDiff] = []
    problems: dict[str, list[Problem]] = {}
    for index, wanted in enumerate(promotion.only):
        diff = next((one for one in diffs if _is_named(one, wanted)), None)
        if diff is None:
            message = f"is no {wanted.type} of the two environments"
        elif diff.action is DiffAction.DELETED and not promotion.prune:
            message = f"is a {wanted.type} of the target only; ask for `prune` to delete it"
        else:
            chosen += [] if diff in chosen else [diff]
            continue
        problems[f"resources.{index}.resourceId"] = [Problem(message, wanted.identifier)]
    if problems:
        raise Invalid(problems)
    return [*_list_layouts(diffs, chosen), *chosen]


def _list_layouts(diffs: Sequence[ResourceDiff], chosen: Sequence[ResourceDiff]) -> list[ResourceDiff]:
    """The layouts that chosen workflows of the source use and that differ, unless they are chosen themselves."""
    workflows = (one.source for one in chosen if one.type is PromotedType.WORKFLOW and one.source is not None)
    used: set[str] = {key for source in workflows for key in source.record[1].layout_keys}
    return [
        diff
        for diff in diffs
        if diff.type is PromotedType.LAYOUT
        and diff.shown.identifier in used
        and diff.action in (DiffAction.ADDED, DiffAction.MODIFIED)
        and diff not in chosen
    ]


def _is_named(diff: ResourceDiff, wanted: Selected) -> bool:
    resources = [one for one in (diff.source, diff.target) if one is not None]
    names = {name for one in resources for name in (one.identifier, id_text(one.id))}
    return diff.type is wanted.type and wanted.identifier in names


def _decide(diff: ResourceDiff, promotion: Promotion) -> Promoted:
    if diff.problem is not None:
        return Promoted(diff, diff.problem)
    if diff.action is DiffAction.UNCHANGED:
        return Promoted(diff, "is the same in both environments")
    if diff.action is DiffAction.DELETED and not promotion.prune:
        return Promoted(diff, "is only in the target; ask for `prune` to delete it")
    return Promoted(diff, None)
