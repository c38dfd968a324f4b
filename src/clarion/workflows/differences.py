"""How two states of a resource differ, and two versions of a workflow: field by field, and step by step."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clarion.conditions import rename_previous_steps
from clarion.jsontext import json_text, plain_value
from clarion.workflows.model import Step, WorkflowVersion

STEP = "step"
"""The type of the parts of a workflow."""

WORKFLOW = "workflow"
"""The type of what a version has besides its steps."""


class DiffAction(StrEnum):
    """What became of a resource, or of a part of it."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    UNCHANGED = "unchanged"
    MOVED = "moved"


class Comparable(Struct, frozen=True, kw_only=True):
    """Something that is compared by its fields."""

    identifier: str
    name: str
    fields: dict[str, Any]
    """What is compared, without ids and secrets."""


class ComparedPart(Comparable, frozen=True, kw_only=True):
    """A step of a workflow."""

    type: str


class Difference(Struct, frozen=True, kw_only=True):
    """One difference: of the resource itself, or of one of its parts."""

    type: str
    action: DiffAction
    new: Comparable | None
    old: Comparable | None
    before: dict[str, Any] | None
    """The fields that differ, as they were; None if there was no such thing."""
    after: dict[str, Any] | None
    """The same fields, as they are now."""
    previous_index: int | None = None
    new_index: int | None = None

    @property
    def shown(self) -> Comparable:
        """The new state, or else the old one."""
        state = self.new or self.old
        if state is None:
            raise ValueError("A change is between two states, one of which exists")
        return state


def diff_one(
    kind: str,
    new: Comparable | None,
    old: Comparable | None,
    *,
    previous_index: int | None = None,
    new_index: int | None = None,
) -> Iterator[Difference]:
    """Yield the difference of two states, unless there is none."""
    before = None if old is None else old.fields
    after = None if new is None else new.fields
    action = DiffAction.MODIFIED
    if before is None or after is None:
        action = DiffAction.ADDED if before is None else DiffAction.DELETED
    else:
        before, after = diff_fields(before, after)
        if not before and not after:
            if previous_index == new_index:
                return
            action = DiffAction.MOVED
    yield Difference(
        type=kind,
        action=action,
        new=new,
        old=old,
        before=before,
        after=after,
        previous_index=previous_index,
        new_index=new_index,
    )


def diff_parts(new: Sequence[ComparedPart], old: Sequence[ComparedPart]) -> Iterator[Difference]:
    """Yield the differences of parts, which belong together by their identifiers."""
    places = {one.identifier: (index, one) for index, one in enumerate(old)}
    for index, part in enumerate(new):
        previous_index, before = places.pop(part.identifier, (None, None))
        yield from diff_one(STEP, part, before, previous_index=previous_index, new_index=index)
    for index, part in places.values():
        yield from diff_one(STEP, None, part, previous_index=index)


def diff_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields that differ on both sides; those of nested objects have their path as a name."""
    old, new = flatten(before), flatten(after)
    # Compared as JSON text, because 1, 1.0 and true are equal in Python and differ in JSON.
    names = [
        name for name in [*old, *(new.keys() - old.keys())] if json_text(old.get(name)) != json_text(new.get(name))
    ]
    return (
        {name: old[name] for name in sorted(names) if name in old},
        {name: new[name] for name in sorted(names) if name in new},
    )


def flatten(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return all fields, those of nested objects by their paths."""
    return dict(_flatten(fields))


def _flatten(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        if isinstance(value, dict) and value:
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def diff_versions(old: WorkflowVersion | None, new: WorkflowVersion) -> list[Difference]:
    """Return what a version changes in another one, or in nothing."""
    before = None if old is None else _content(old)
    return [
        *([] if before is None else diff_one(WORKFLOW, _content(new), before)),
        *diff_parts(list_parts(new), [] if old is None else list_parts(old)),
    ]


def list_parts(version: WorkflowVersion) -> list[ComparedPart]:
    """Return the steps of a version with everything but their ids."""
    return [_part(one) for one in portable_steps(version)]


def content_fields(version: WorkflowVersion) -> dict[str, Any]:
    """Return what a version has besides its steps."""
    return {"payloadSchema": version.payload_schema, "validatePayload": version.validate_payload}


def portable_steps(version: WorkflowVersion) -> list[Step]:
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


def _content(version: WorkflowVersion) -> Comparable:
    name = str(version.number)
    return Comparable(identifier=name, name=name, fields=content_fields(version))


def _part(step: Step) -> ComparedPart:
    values: dict[str, Any] = plain_value(step)
    fields = {name: value for name, value in values.items() if name not in ("id", "stepId")}
    fields["variants"] = [_without_id(one) for one in fields["variants"]]
    return ComparedPart(identifier=step.step_id, name=step.name, type=step.type, fields=fields)


def _without_id(variant: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in variant.items() if name != "id"}
