"""The kinds of resources that are promoted, in the order in which they are written."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from clarion.db.port import Connection
from clarion.environments.promotion import integrations, workflows
from clarion.environments.promotion.context import PromotionContext
from clarion.environments.promotion.model import Resource, ResourceDiff, ResourceType
from clarion.ids import EnvironmentId
from clarion.vocabulary import Scope


class ResourceKind(Struct, frozen=True, kw_only=True):
    """How resources of one type are read, compared and written."""

    type: ResourceType
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
        type=ResourceType.INTEGRATION,
        read_scope=Scope.INTEGRATIONS_READ,
        write_scope=Scope.INTEGRATIONS_WRITE,
        list_resources=integrations.list_resources,
        apply=integrations.apply,
        find_problem=integrations.find_problem,
        is_pruned=False,
    ),
    ResourceKind(
        type=ResourceType.WORKFLOW,
        read_scope=Scope.WORKFLOWS_READ,
        write_scope=Scope.WORKFLOWS_WRITE,
        list_resources=workflows.list_resources,
        apply=workflows.apply,
        is_pruned=True,
    ),
)
"""A further kind, such as layouts, is a module like `workflows`, a member of ResourceType and an entry here."""
