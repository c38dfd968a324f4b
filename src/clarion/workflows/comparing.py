"""Versions of workflows as they are compared: with each other, and with those of other environments."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from clarion.conditions import rename_previous_steps
from clarion.jsontext import plain_value
from clarion.workflows.differences import Comparable, ComparedPart, Difference, diff_one, diff_parts
from clarion.workflows.model import Step, WorkflowVersion

WORKFLOW = "workflow"
"""The type of what a version has besides its steps."""


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
