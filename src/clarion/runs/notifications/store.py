"""SQL of triggered events: the filters of a list, its pages, and all that belongs to an event."""

from collections.abc import Iterable, Sequence
from typing import Any

from clarion.clock import SECOND, Millis
from clarion.contexts.model import keys_of
from clarion.contexts.wire import read_keys
from clarion.db.listing import MAX_PARTS, Listing, add_lengths, split_by_values
from clarion.db.port import Connection, Dialect, Row
from clarion.db.query import sql
from clarion.errors import Invalid, NotFound
from clarion.http.pages import list_newest_rows
from clarion.ids import EnvironmentId, JobId, NotificationId, SubscriberId, TriggerId, find_id, first_id, id_text
from clarion.jobs.details import read_details
from clarion.jobs.store import add_payloads
from clarion.jsontext import json_text, json_value
from clarion.runs.notifications.model import (
    EventJob,
    EventOrigin,
    Notification,
    NotificationDetails,
    step_mask,
    step_types_of,
)
from clarion.runs.notifications.wire import EventQuery
from clarion.subscribers.search import fold_email, folded_email, search_people
from clarion.subscribers.store import list_subscribers_by_id
from clarion.triggers.transactions import list_transaction_keys, list_trigger_ids
from clarion.vocabulary import JobStatus, StepType
from clarion.workflows.store import list_versions_by_id, list_workflows_by_id

COLUMNS = ", ".join(f"t.{name}" for name in Notification.__struct_fields__)
# Each job of an event repeats the payload and the overrides of the trigger.
_JOBS = "FROM jobs AS j WHERE j.environment_id = t.environment_id AND j.notification_id = t.id"
_WEIGHT = f"""
    {add_lengths("t.recipient")} + coalesce((SELECT sum({add_lengths("j.digest", "j.details")}) {_JOBS}), 0)
    + (SELECT {add_lengths("g.payload", "g.overrides")} FROM triggers AS g
       WHERE g.environment_id = t.environment_id AND g.id = t.trigger_id) * (1 + (SELECT count(*) {_JOBS}))
"""

# The workflows that ran, each with the sets of step types that its versions had. The recursion reads one index entry
# for each of them instead of every notification.
_KINDS_OF_RUNS = """
    WITH RECURSIVE kinds(workflow_id, step_types) AS (
        SELECT w.id, (
            SELECT min(n.step_types) FROM notifications AS n
            WHERE n.environment_id = :environment_id AND n.workflow_id = w.id
        )
        FROM workflows AS w WHERE w.environment_id = :environment_id {of_templates}
        UNION ALL
        SELECT k.workflow_id, (
            SELECT min(n.step_types) FROM notifications AS n
            WHERE n.environment_id = :environment_id AND n.workflow_id = k.workflow_id AND n.step_types > k.step_types
        )
        FROM kinds AS k WHERE k.step_types IS NOT NULL
    )
    SELECT workflow_id, step_types FROM kinds WHERE step_types IS NOT NULL
"""
LIST_KINDS = sql(_KINDS_OF_RUNS.replace("{of_templates}", ""))
LIST_KINDS_OF_TEMPLATES = sql(_KINDS_OF_RUNS.replace("{of_templates}", "AND w.id {any:templates}"))

# One query for e-mails and one for keys, so that each uses its index. UNION ALL may find a subscriber twice; with
# UNION, SQLite would scan all subscribers in the order of their ids.
LIST_NAMED = sql("""
    SELECT id FROM subscribers WHERE environment_id = :environment_id AND email {any:emails}
    UNION ALL SELECT id FROM subscribers WHERE environment_id = :environment_id AND key {any:subscriber_keys}
""")
_OF_PEOPLE = """
    EXISTS (
        SELECT 1 FROM subscribers AS s
        WHERE s.environment_id = :environment_id AND s.id = t.subscriber_id
        AND (
            s.email {any:emails} OR s.key {any:subscriber_keys} OR s.key = :search
            OR {position}({folded_email}, :folded) > 0
        )
    )
"""
_OF_TRANSACTIONS = """
    t.trigger_id IN (
        SELECT g.id FROM triggers AS g
        WHERE g.environment_id = :environment_id AND g.transaction_key {any:transaction_keys}
    )
"""
_OF_TOPIC = {
    Dialect.SQLITE: """
        EXISTS (SELECT 1 FROM json_each(t.topics) AS one WHERE json_extract(one.value, '$.topicKey') = :topic)
    """,
    Dialect.POSTGRES: "CAST(t.topics AS jsonb) @> CAST(:topic AS jsonb)",
}

_OF_TRIGGER = """
    EXISTS (SELECT 1 FROM triggers AS g WHERE g.environment_id = t.environment_id AND g.id = t.trigger_id AND {})
"""
_COUNT_CONTEXTS = """
    (SELECT count(*) FROM {each} AS c) = :context_count
    AND (SELECT count(*) FROM {each} AS c WHERE c.key || ':' || {id} {{any:context_keys}}) = :context_count
"""
_HAS_CONTEXTS = {
    Dialect.SQLITE: _COUNT_CONTEXTS.format(each="json_each(g.context)", id="json_extract(c.value, '$.id')"),
    Dialect.POSTGRES: _COUNT_CONTEXTS.format(each="jsonb_each(CAST(g.context AS jsonb))", id="(c.value->>'id')"),
}

# The time in an id is ahead of its row's `created_at` by at most this (see ids: bursts use the next milliseconds).
_MAX_LEAD = 2 * SECOND

Conditions = dict[str, dict[str, Any]]
"""SQL conditions, each with its parameters."""


async def filter_events(db: Connection, environment_id: EnvironmentId, query: EventQuery, horizon: Millis) -> Listing:
    """List the events that match every given filter; e-mails, keys and search each add subscribers.

    Events from before `horizon`, such as those of runs that wait for long, are listed only if the query names a time.
    The most selective filter makes the parts of the listing; the others become conditions on its rows.
    """
    conditions: Conditions = {
        "t.environment_id = :environment_id": {"environment_id": environment_id},
        **_of_topic(db.dialect, query),
        **_of_window(query, horizon),
        **_of_contexts(db.dialect, query),
    }
    parts: list[str] | None = None
    bound: dict[str, Any] = {}
    people = await _list_people(db, environment_id, query) if _names_people(query) else None
    if people is not None:
        parts, bound = split_by_values("t.subscriber_id", people)
        conditions |= _of_transactions(query) | _of_templates(query) | _of_channels(query)
    elif query.transaction_id:
        parts, bound = split_by_values("t.trigger_id", await list_trigger_ids(db, environment_id, query.transaction_id))
        conditions |= _of_templates(query) | _of_channels(query)
    else:
        parts, bound = await _parts_by_kind(db, environment_id, query)
        conditions |= (_of_templates(query) | _of_channels(query)) if parts is None else {}
    if people is None and _names_people(query):
        conditions |= _of_people(db.dialect, query)
    parameters = {name: value for bound in (*conditions.values(), bound) for name, value in bound.items()}
    return Listing(
        columns=COLUMNS,
        source="notifications AS t",
        where=" AND ".join(conditions),
        parameters=parameters,
        parts=parts,
        weight=_WEIGHT,
        unweighed_limit=1,
    )


def _names_people(query: EventQuery) -> bool:
    return bool(query.emails or query.subscriber_ids or query.search)


async def _list_people(db: Connection, environment_id: EnvironmentId, query: EventQuery) -> list[SubscriberId] | None:
    """List the subscribers that any filter names; None if a search finds too many to list."""
    people = await search_people(db, environment_id, query.search) if query.search else []
    if people is None:
        return None
    named = await db.fetch(LIST_NAMED, environment_id=environment_id, **_named(query))
    return list(dict.fromkeys([*people, *(row["id"] for row in named)]))


def _named(query: EventQuery) -> dict[str, list[str]]:
    return {"emails": list(query.emails), "subscriber_keys": list(query.subscriber_ids)}


async def _parts_by_kind(
    db: Connection, environment_id: EnvironmentId, query: EventQuery
) -> tuple[list[str] | None, dict[str, Any]]:
    """Make a part of the listing for each wanted workflow and set of step types; None if that is all or too many."""
    mask = _mask(query)
    if query.templates:
        rows = await db.fetch(LIST_KINDS_OF_TEMPLATES, environment_id=environment_id, templates=_template_ids(query))
    elif mask:
        rows = await db.fetch(LIST_KINDS, environment_id=environment_id)
    else:
        return None, {}
    return split_by_kind(rows, mask) or (None, {})


def split_by_kind(rows: Sequence[Row], mask: int) -> tuple[list[str], dict[str, Any]] | None:
    """A part of a list for each kind of runs that has one of the wanted step types; None if these are too many."""
    kinds = [row for row in rows if not mask or row["step_types"] & mask]
    if len(kinds) > MAX_PARTS:
        return None
    parameters = {f"workflow_{number}": row["workflow_id"] for number, row in enumerate(kinds)}
    parts = [
        f"t.workflow_id = :{name} AND t.step_types = {int(row['step_types'])}"
        for name, row in zip(parameters, kinds, strict=True)
    ]
    return parts, parameters


def _of_people(dialect: Dialect, query: EventQuery) -> Conditions:
    search = query.search or ""
    condition = _OF_PEOPLE.replace("{folded_email}", folded_email(dialect, "s"))
    return {condition: _named(query) | {"search": search, "folded": fold_email(search)}}


def _of_channels(query: EventQuery) -> Conditions:
    mask = _mask(query)
    return {"(t.step_types & :mask) <> 0": {"mask": mask}} if mask else {}


def _mask(query: EventQuery) -> int:
    return step_mask(kind for channel in query.channels for kind in step_types_of(channel))


def _of_transactions(query: EventQuery) -> Conditions:
    return {_OF_TRANSACTIONS: {"transaction_keys": list(query.transaction_id)}} if query.transaction_id else {}


def _of_templates(query: EventQuery) -> Conditions:
    return {"t.workflow_id {any:templates}": {"templates": _template_ids(query)}} if query.templates else {}


def _template_ids(query: EventQuery) -> list[bytes]:
    return [found for text in query.templates if (found := find_id(text)) is not None]


def _of_topic(dialect: Dialect, query: EventQuery) -> Conditions:
    key = query.topic_key
    if key is None:
        return {}
    return {_OF_TOPIC[dialect]: {"topic": key if dialect is Dialect.SQLITE else json_text([{"topicKey": key}])}}


def _of_contexts(dialect: Dialect, query: EventQuery) -> Conditions:
    keys = read_keys(query.context_keys)
    if keys is None:
        return {}
    if not keys:
        return {f"NOT ({_OF_TRIGGER.format('g.context IS NOT NULL')})": {}}
    return {_OF_TRIGGER.format(_HAS_CONTEXTS[dialect]): {"context_keys": list(keys), "context_count": len(keys)}}


def _of_window(query: EventQuery, horizon: Millis) -> Conditions:
    """Events created within the window; bounds on the id let the primary key skip the others."""
    after, before = query.after, query.before
    if after is not None and before is not None and after.moment > before.moment:
        raise Invalid.field("after", "must not be later than 'before'", str(after))
    since = horizon if after is None else after.moment
    conditions: Conditions = {
        "t.created_at >= :after AND t.id >= :after_id": {"after": since, "after_id": first_id(since)}
    }
    if before is not None:
        conditions["t.created_at <= :before AND t.id < :before_id"] = {
            "before": before.moment,
            "before_id": first_id(Millis(before.moment + _MAX_LEAD)),
        }
    return conditions


GET_NOTIFICATION = sql(f"""
    SELECT {COLUMNS} FROM notifications AS t WHERE t.environment_id = :environment_id AND t.id = :id
""")
LIST_ORIGINS = sql("""
    SELECT id, transaction_key, payload, overrides, warnings, context FROM triggers
    WHERE environment_id = :environment_id AND id {any:ids}
""")
LIST_JOBS = sql("""
    SELECT id, notification_id, step, type, status, provider_id, digest, details, updated_at FROM jobs
    WHERE environment_id = :environment_id AND notification_id {any:ids}
    ORDER BY notification_id, step
""")


async def get_notification(
    db: Connection, environment_id: EnvironmentId, notification_id: NotificationId
) -> Notification:
    row = await db.fetch_one(GET_NOTIFICATION, environment_id=environment_id, id=notification_id)
    if row is None:
        raise NotFound("Notification", id_text(notification_id))
    return _notification(row)


async def list_notifications(
    db: Connection, listing: Listing, *, page: int, limit: int
) -> tuple[list[Notification], bool]:
    """Return one page, newest first, and whether there are more; it counts nothing."""
    found = await list_newest_rows(db, listing, page=page, limit=limit)
    return [_notification(row) for row in found.rows], found.has_more


async def list_events(
    db: Connection, environment_id: EnvironmentId, notifications: Sequence[Notification]
) -> list[NotificationDetails]:
    """Load everything that belongs to the given runs, with one query for each kind of record."""
    if not notifications:
        return []
    origins = await _list_origins(db, environment_id, [one.trigger_id for one in notifications])
    recipients = await list_subscribers_by_id(db, environment_id, [one.subscriber_id for one in notifications])
    workflows = await list_workflows_by_id(db, environment_id, [one.workflow_id for one in notifications])
    versions = await list_versions_by_id(db, environment_id, [one.version_id for one in notifications])
    jobs = await _list_jobs(db, environment_id, [one.id for one in notifications])
    return [
        NotificationDetails(
            notification=notification,
            origin=origins[notification.trigger_id],
            subscriber=recipients[notification.subscriber_id],
            workflow=workflows[notification.workflow_id],
            version=versions[notification.version_id],
            jobs=jobs.get(notification.id, []),
        )
        for notification in notifications
    ]


async def _list_origins(
    db: Connection, environment_id: EnvironmentId, ids: Iterable[TriggerId]
) -> dict[TriggerId, EventOrigin]:
    rows = await db.fetch(LIST_ORIGINS, environment_id=environment_id, ids=list(dict.fromkeys(ids)))
    return {
        row["id"]: EventOrigin(
            transaction_key=row["transaction_key"],
            payload=json_value(row["payload"]),
            overrides=json_value(row["overrides"]),
            warnings=json_value(row["warnings"]) or [],
            context_keys=keys_of(json_value(row["context"]) or {}),
        )
        for row in rows
    }


async def _list_jobs(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[NotificationId]
) -> dict[NotificationId, list[EventJob]]:
    """List the jobs of each run, in step order."""
    jobs: dict[NotificationId, list[EventJob]] = {}
    events = []
    for row in await db.fetch(LIST_JOBS, environment_id=environment_id, ids=list(ids)):
        job = _job(row)
        jobs.setdefault(row["notification_id"], []).append(job)
        events += (job.digest or {}).get("events", ())
    if events:
        await add_payloads(db, environment_id, events)
        await _add_transactions(db, environment_id, events)
    return jobs


async def _add_transactions(db: Connection, environment_id: EnvironmentId, events: Sequence[dict[str, Any]]) -> None:
    """Add the transactions of the events of digests, by which their own runs are found."""
    ids = {TriggerId(found) for one in events if (found := find_id(one["id"])) is not None}
    keys = await list_transaction_keys(db, environment_id, ids)
    for event in events:
        key = keys.get(TriggerId(find_id(event["id"]) or b""))
        if key is not None:
            event["transactionId"] = key


def _notification(row: Row) -> Notification:
    values = dict(row)
    values["recipient"] = json_value(values["recipient"])
    values["topics"] = json_value(values["topics"]) or []
    return Notification(**values)


def _job(row: Row) -> EventJob:
    return EventJob(
        **{
            **dict(row),
            "type": StepType(row["type"]),
            "status": JobStatus(row["status"]),
            "digest": json_value(row["digest"]),
            "details": read_details(JobId(row["id"]), row["details"]),
        }
    )
