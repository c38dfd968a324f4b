"""Resources as promotion compares them, and how two of them differ."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from clarion.audit.model import Actor
from clarion.clock import Millis
from clarion.http.caller import Caller
from clarion.providers.builtin import BuiltinNames
from clarion.vault import Vault
from clarion.workflows.differences import Comparable, ComparedPart, DiffAction, Difference, diff_one, diff_parts


class PromotedType(StrEnum):
    """What is promoted."""

    WORKFLOW = "workflow"
    LAYOUT = "layout"
    INTEGRATION = "integration"


class Resource(Comparable, frozen=True, kw_only=True):
    """Something that can be promoted."""

    id: bytes
    updated_at: Millis
    parts: Sequence[ComparedPart] = ()
    record: Any
    """The resource itself."""
    match: str
    """Resources of two environments with the same one belong together."""


class ResourceDiff(Struct, frozen=True, kw_only=True):
    """How a resource differs between two environments."""

    type: PromotedType
    action: DiffAction
    source: Resource | None
    target: Resource | None
    changes: Sequence[Difference]
    problem: str | None = None
    """Why it cannot be promoted."""

    @property
    def shown(self) -> Resource:
        """The resource of the source, or else that of the target."""
        resource = self.source or self.target
        if resource is None:
            raise ValueError("A difference is between two resources, one of which exists")
        return resource


def diff_resources(kind: PromotedType, source: Resource | None, target: Resource | None) -> ResourceDiff:
    """Return what promotion changes in the target."""
    changes = [
        *diff_one(kind, source, target),
        *diff_parts([] if source is None else source.parts, [] if target is None else target.parts),
    ]
    if source is None or target is None:
        action = DiffAction.ADDED if target is None else DiffAction.DELETED
    else:
        action = DiffAction.MODIFIED if changes else DiffAction.UNCHANGED
    return ResourceDiff(type=kind, action=action, source=source, target=target, changes=changes)


class PromotionContext(Struct, frozen=True, kw_only=True):
    """What reading and writing promoted resources needs."""

    vault: Vault
    names: BuiltinNames
    now: Millis
    actor: Actor | None = None
    """Who promotes; None: not known."""
    caller: Caller | None = None
    """Whose rights count; None: nothing is changed, or the command line changes it."""
