"""What refers to a segment: steps of workflows, and triggers that have not come to all people yet."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.conditions import list_segments
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.environments.configuration import raise_configuration_version
from clarion.errors import Invalid, Problem
from clarion.ids import EnvironmentId, SegmentKey, TransactionKey
from clarion.jsontext import json_text, json_value
from clarion.segments.store import list_segments_by_key
from clarion.workflows.model import Step, VersionedWorkflow, WorkflowVersion
from clarion.workflows.store import list_versions_by_id, list_workflows
from clarion.workflows.tree import list_body_paths

MAX_TRIGGERS = 100
"""That are listed."""
_MAX_READ = 1_000

_NAMING = """
    SELECT transaction_key, created_at, recipients FROM triggers
    WHERE environment_id = :environment_id AND state = '%s' AND {position}(recipients, :name) > 0
    ORDER BY %s LIMIT :limit
"""
# Each in the order of its index: for that of ids, SQLite would read all triggers that there ever were.
LIST_SCHEDULED_NAMING = sql(_NAMING % ("scheduled", "created_at, id"))
LIST_EXPANDING_NAMING = sql(_NAMING % ("splitting", "priority, id"))


class SegmentTrigger(Struct, frozen=True, kw_only=True):
    transaction_key: TransactionKey
    at: Millis
    """When its runs begin."""


async def check_segments(db: Connection, version: WorkflowVersion) -> None:
    """Raise Invalid if conditions of the steps refer to segments that do not exist."""
    if not version.segment_keys:
        return
    # Locks the environment as deleting a segment does, so that both do not happen at once.
    await raise_configuration_version(db, version.environment_id)
    known = await list_segments_by_key(db, version.environment_id, list(version.segment_keys))
    problems: dict[str, list[Problem]] = {}
    for path, key in _list_references(version.steps):
        if key not in known:
            message = f"refers to the segment '{key}', which does not exist in this environment; create it first"
            problems.setdefault(path, []).append(Problem(message, key))
    if problems:
        raise Invalid(problems)


async def list_users(db: Connection, environment_id: EnvironmentId, key: SegmentKey) -> list[VersionedWorkflow]:
    """List the workflows with a step that refers to the segment, oldest first."""
    workflows = await list_workflows(db, environment_id)
    versions = await list_versions_by_id(db, environment_id, [workflow.version_id for workflow in workflows])
    return [
        VersionedWorkflow(workflow, versions[workflow.version_id])
        for workflow in workflows
        if key in versions[workflow.version_id].segment_keys
    ]


async def list_waiting_triggers(db: Connection, environment_id: EnvironmentId, key: SegmentKey) -> list[SegmentTrigger]:
    """List triggers for the segment that wait for their moment or have not come to all people, the first ones."""
    scope = {"environment_id": environment_id, "name": f'"key":{json_text(key)}', "limit": _MAX_READ}
    rows = [*await db.fetch(LIST_EXPANDING_NAMING, **scope), *await db.fetch(LIST_SCHEDULED_NAMING, **scope)]
    named = [row for row in rows if _names(json_value(row["recipients"]), key)][:MAX_TRIGGERS]
    return [SegmentTrigger(transaction_key=row["transaction_key"], at=row["created_at"]) for row in named]


def _names(recipients: Any, key: SegmentKey) -> bool:
    """A topic, or a person, may have the same key."""
    return any(segment["key"] == key for segment in recipients.get("segments", ()))


def _list_references(steps: Sequence[Step]) -> Iterator[tuple[str, SegmentKey]]:
    """Yield the path in the body of each rule, and the segments that it refers to."""
    for path, step in zip(list_body_paths(steps), steps, strict=True):
        parts = [("", step), *((f"variants.{number}.", one) for number, one in enumerate(step.variants))]
        for prefix, part in parts:
            for where, rule in part.list_rules():
                yield from ((f"{path}.{prefix}controlValues.{where}", SegmentKey(key)) for key in list_segments(rule))
