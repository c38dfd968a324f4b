"""Resources as promotion compares them, and how two of them differ."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.jsontext import json_text


class ResourceType(StrEnum):
    """What is promoted."""

    WORKFLOW = "workflow"
    INTEGRATION = "integration"


STEP = "step"
"""The type of the parts of a workflow."""


class DiffAction(StrEnum):
    """What became of a resource, or of a part of it, on the way from the target to the source."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    UNCHANGED = "unchanged"
    MOVED = "moved"


class Part(Struct, frozen=True, kw_only=True):
    """A step of a workflow."""

    identifier: str
    name: str
    type: str
    fields: dict[str, Any]


class Resource(Struct, frozen=True, kw_only=True):
    """Something that can be promoted."""

    id: bytes
    identifier: str
    name: str
    updated_at: Millis
    fields: dict[str, Any]
    """What is compared and copied, without ids and secrets."""
    parts: Sequence[Part] = ()
    record: Any
    """The resource itself."""
    match: str
    """Resources of two environments with the same one belong together."""


class Change(Struct, frozen=True, kw_only=True):
    """One difference: of the resource itself, or of one of its parts."""

    type: str
    action: DiffAction
    source: Resource | Part | None
    target: Resource | Part | None
    before: dict[str, Any] | None
    """The fields that differ, as they are in the target; None if it has no such thing."""
    after: dict[str, Any] | None
    """The same fields in the source."""
    previous_index: int | None = None
    new_index: int | None = None


class ResourceDiff(Struct, frozen=True, kw_only=True):
    """How a resource differs between two environments."""

    type: ResourceType
    action: DiffAction
    source: Resource | None
    target: Resource | None
    changes: Sequence[Change]
    problem: str | None = None
    """Why it cannot be promoted."""

    @property
    def shown(self) -> Resource:
        """The resource of the source, or else that of the target."""
        found = self.source or self.target
        if found is None:
            raise ValueError("A difference is between two resources, one of which exists")
        return found


def diff_resources(kind: ResourceType, source: Resource | None, target: Resource | None) -> ResourceDiff:
    """Return what promotion changes in the target."""
    changes = [
        *_diff_one(kind, source, target),
        *_diff_parts([] if source is None else source.parts, [] if target is None else target.parts),
    ]
    if source is None or target is None:
        action = DiffAction.ADDED if target is None else DiffAction.DELETED
    else:
        action = DiffAction.MODIFIED if changes else DiffAction.UNCHANGED
    return ResourceDiff(type=kind, action=action, source=source, target=target, changes=changes)


def diff_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields that differ on both sides; those of nested objects have their path as a name."""
    old, new = dict(_flatten(before)), dict(_flatten(after))
    # Compared as JSON text, because 1, 1.0 and true are equal in Python and differ in JSON.
    names = [
        name for name in [*old, *(new.keys() - old.keys())] if json_text(old.get(name)) != json_text(new.get(name))
    ]
    return (
        {name: old[name] for name in sorted(names) if name in old},
        {name: new[name] for name in sorted(names) if name in new},
    )


def _diff_one(
    kind: str,
    source: Resource | Part | None,
    target: Resource | Part | None,
    *,
    previous_index: int | None = None,
    new_index: int | None = None,
) -> Iterator[Change]:
    before = None if target is None else target.fields
    after = None if source is None else source.fields
    action = DiffAction.MODIFIED
    if before is None or after is None:
        action = DiffAction.ADDED if before is None else DiffAction.DELETED
    else:
        before, after = diff_fields(before, after)
        if not before and not after:
            if previous_index == new_index:
                return
            action = DiffAction.MOVED
    yield Change(
        type=kind,
        action=action,
        source=source,
        target=target,
        before=before,
        after=after,
        previous_index=previous_index,
        new_index=new_index,
    )


def _diff_parts(source: Sequence[Part], target: Sequence[Part]) -> Iterator[Change]:
    old = {one.identifier: (index, one) for index, one in enumerate(target)}
    for index, one in enumerate(source):
        previous_index, before = old.pop(one.identifier, (None, None))
        yield from _diff_one(STEP, one, before, previous_index=previous_index, new_index=index)
    for index, one in old.values():
        yield from _diff_one(STEP, None, one, previous_index=index)


def _flatten(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        if isinstance(value, dict) and value:
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
