"""Filters of runs: read from a query, as SQL for walks through the store, and as a check of single rows."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from clarion.db.listing import split_by_values
from clarion.db.port import Connection, Dialect, Row
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SubscriberId, TriggerId, WorkflowId
from clarion.jsontext import json_text, json_value
from clarion.providers.builtin import BuiltinNames
from clarion.runs.model import RunFilter
from clarion.runs.notifications.model import step_mask
from clarion.runs.notifications.store import LIST_KINDS, LIST_KINDS_OF_TEMPLATES, split_by_kind
from clarion.runs.status import COMPLETED, STORED
from clarion.runs.wire import RunFilterQuery
from clarion.triggers.transactions import list_trigger_ids
from clarion.workflows.model import find_workflow_id

LIST_SUBSCRIBERS = sql("SELECT id FROM subscribers WHERE environment_id = :environment_id AND key {any:keys}")
LIST_WORKFLOWS = sql("""
    SELECT id FROM workflows WHERE environment_id = :environment_id AND key {any:keys}
    UNION SELECT id FROM workflows WHERE environment_id = :environment_id AND id {any:ids}
""")

_OF_PROVIDERS = """
    EXISTS (
        SELECT 1 FROM jobs AS j WHERE j.environment_id = t.environment_id AND j.notification_id = t.id
        AND j.provider_id {any:providers}
    )
"""
_OF_TOPIC = {
    Dialect.SQLITE: """
        EXISTS (SELECT 1 FROM json_each(t.topics) AS one WHERE json_extract(one.value, '$.topicKey') = :topic)
    """,
    Dialect.POSTGRES: "coalesce(CAST(t.topics AS jsonb) @> CAST(:topic AS jsonb), FALSE)",
}

Conditions = dict[str, dict[str, Any]]
"""SQL conditions, each with its parameters."""


class Selection(Struct, frozen=True, kw_only=True):
    """A filter as SQL: disjoint parts, each in the order of an index by id, and conditions on the rows of all parts."""

    parts: tuple[str, ...]
    conditions: tuple[str, ...]
    parameters: dict[str, Any]

    @property
    def match(self) -> str:
        """Whether a row fulfils the conditions, as SQL."""
        return " AND ".join(self.conditions) or "TRUE"


async def read_filter(
    db: Connection, environment_id: EnvironmentId, query: RunFilterQuery, names: BuiltinNames
) -> RunFilter:
    """Look up what a query names; unknown names find nothing."""
    return RunFilter(
        environment_id=environment_id,
        statuses=frozenset(STORED[one] for one in query.status) or None,
        step_mask=step_mask(query.step_type),
        providers=_read_providers(query, names),
        workflow_ids=await _find_workflows(db, environment_id, query.workflow_id),
        subscriber_ids=await _find_subscribers(db, environment_id, query.subscriber_id),
        trigger_ids=await _find_triggers(db, environment_id, query.transaction_id),
        topic=query.topic_key or None,
    )


def _read_providers(query: RunFilterQuery, names: BuiltinNames) -> frozenset[str] | None:
    if not query.provider_id:
        return None
    return frozenset(found for one in query.provider_id if (found := names.from_wire(one)) is not None)


async def _find_workflows(
    db: Connection, environment_id: EnvironmentId, references: Sequence[str]
) -> frozenset[WorkflowId] | None:
    if not references:
        return None
    ids = [found for one in references if (found := find_workflow_id(one)) is not None]
    rows = await db.fetch(LIST_WORKFLOWS, environment_id=environment_id, keys=list(references), ids=ids)
    return frozenset(row["id"] for row in rows)


async def _find_subscribers(
    db: Connection, environment_id: EnvironmentId, keys: Sequence[str]
) -> frozenset[SubscriberId] | None:
    if not keys:
        return None
    rows = await db.fetch(LIST_SUBSCRIBERS, environment_id=environment_id, keys=list(keys))
    return frozenset(row["id"] for row in rows)


async def _find_triggers(
    db: Connection, environment_id: EnvironmentId, keys: Sequence[str]
) -> frozenset[TriggerId] | None:
    return frozenset(await list_trigger_ids(db, environment_id, keys)) if keys else None


async def select_runs(db: Connection, wanted: RunFilter) -> Selection:
    """Choose the index to walk: the filter that is most selective makes the parts, the others are conditions."""
    left: dict[str, Conditions] = {
        "subscribers": _of_any("t.subscriber_id", "subscriber_ids", wanted.subscriber_ids),
        "triggers": _of_any("t.trigger_id", "trigger_ids", wanted.trigger_ids),
        "statuses": _of_statuses(wanted),
        "workflows": _of_any("t.workflow_id", "workflow_ids", wanted.workflow_ids),
        "steps": {"(t.step_types & :mask) <> 0": {"mask": wanted.step_mask}} if wanted.step_mask else {},
        "providers": _of_providers(wanted),
        "topic": _of_topic(db.dialect, wanted),
    }
    parts: Sequence[str] = ["TRUE"]
    bound: dict[str, Any] = {}
    if wanted.subscriber_ids is not None:
        parts, bound = split_by_values("t.subscriber_id", sorted(wanted.subscriber_ids))
        left["subscribers"] = {}
    elif wanted.trigger_ids is not None:
        parts, bound = split_by_values("t.trigger_id", sorted(wanted.trigger_ids))
        left["triggers"] = {}
    elif wanted.statuses is not None and COMPLETED not in wanted.statuses:
        parts = [status_part(one) for one in sorted(wanted.statuses)]
        left["statuses"] = {}
    elif wanted.workflow_ids is not None or wanted.step_mask:
        kinds = await _parts_by_kind(db, wanted)
        if kinds is not None:
            parts, bound = kinds
            left |= {"workflows": {}, "steps": {}}
    conditions = [one for given in left.values() for one in given]
    parameters = {
        name: value
        for given in left.values()
        for bound_values in given.values()
        for name, value in bound_values.items()
    }
    return Selection(
        parts=tuple(parts),
        conditions=tuple(conditions),
        parameters={"environment_id": wanted.environment_id, **bound, **parameters},
    )


def status_part(status: int) -> str:
    """The runs with a status other than completed, as the partial index has them."""
    return f"t.status <> {COMPLETED} AND t.status = {status}"


def has_row(wanted: RunFilter, row: Row) -> bool:
    """Whether a row matches in everything but its providers, which are in its jobs."""
    status = row["status"]
    return (
        (wanted.statuses is None or (COMPLETED if status is None else status) in wanted.statuses)
        and (not wanted.step_mask or row["step_types"] & wanted.step_mask != 0)
        and (wanted.workflow_ids is None or row["workflow_id"] in wanted.workflow_ids)
        and (wanted.subscriber_ids is None or row["subscriber_id"] in wanted.subscriber_ids)
        and (wanted.trigger_ids is None or row["trigger_id"] in wanted.trigger_ids)
        and (wanted.topic is None or _has_topic(wanted.topic, row["topics"]))
    )


def _has_topic(key: str, topics: str | None) -> bool:
    return topics is not None and any(one.get("topicKey") == key for one in json_value(topics))


def _of_any(column: str, name: str, values: frozenset[Any] | None) -> Conditions:
    return {} if values is None else {f"{column} {{any:{name}}}": {name: sorted(values)}}


def _of_statuses(wanted: RunFilter) -> Conditions:
    if wanted.statuses is None:
        return {}
    numbers = ", ".join(str(one) for one in sorted(wanted.statuses))
    return {f"coalesce(t.status, {COMPLETED}) IN ({numbers})": {}}


def _of_providers(wanted: RunFilter) -> Conditions:
    return {} if wanted.providers is None else {_OF_PROVIDERS: {"providers": sorted(wanted.providers)}}


def _of_topic(dialect: Dialect, wanted: RunFilter) -> Conditions:
    if wanted.topic is None:
        return {}
    key = wanted.topic
    return {_OF_TOPIC[dialect]: {"topic": key if dialect is Dialect.SQLITE else json_text([{"topicKey": key}])}}


async def _parts_by_kind(db: Connection, wanted: RunFilter) -> tuple[list[str], dict[str, Any]] | None:
    """Make a part for each wanted workflow and set of step types; None if these are too many."""
    scope = {"environment_id": wanted.environment_id}
    if wanted.workflow_ids is None:
        rows = await db.fetch(LIST_KINDS, **scope)
    else:
        rows = await db.fetch(LIST_KINDS_OF_TEMPLATES, **scope, templates=sorted(wanted.workflow_ids))
    return split_by_kind(rows, wanted.step_mask)
