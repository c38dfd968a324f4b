"""SQL of events and of the waits for them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.db.queue_plans import distinct_environments
from clarion.ids import EmittedEventId, EnvironmentId, JobId, NotificationId, SubscriberId, TopicId
from clarion.jobs.lanes import IN_LANES, LaneSet
from clarion.jsontext import json_text, json_value
from clarion.waits.model import EmittedEvent, EventWait, WaitRule

MANY: Final = -1
"""The lane of events for a topic or for everyone."""

_EVENT = "id, name, subscriber_id, topic_id, data, created_at"
_WAIT = "job_id, subscriber_id, lane, event, rule, since, until, matched, missed, last_missed"

_EVENT_COLUMNS = (
    *("environment_id", "id", "name", "lane", "subscriber_id", "topic_id", "source_key", "data", "pending"),
    "created_at",
)
EVENTS = Insert("emitted_events", *_EVENT_COLUMNS, on_conflict="ON CONFLICT DO NOTHING")
WAITS = Insert(
    "event_waits",
    *("environment_id", "job_id", "subscriber_id", "lane", "event", "rule", "since", "until", "missed", "last_missed"),
)
AWAITED = Insert("awaited_events", "environment_id", "name", on_conflict="ON CONFLICT DO NOTHING")

LIST_AWAITED = sql("SELECT name FROM awaited_events WHERE environment_id = :environment_id")
LIST_AWAITED_OF = sql("SELECT name FROM awaited_events WHERE environment_id = :environment_id AND name {any:names}")

LIST_BUSY = sql(f"""
    WITH RECURSIVE {distinct_environments("busy", "emitted_events WHERE pending = 1")}
    SELECT busy.id AS environment_id FROM busy WHERE busy.id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM environments WHERE id = busy.id AND deleted_at IS NOT NULL)
""")
LIST_PENDING_LANES = sql("""
    SELECT lane, min(created_at) AS since FROM (
        SELECT lane, created_at FROM emitted_events
        WHERE environment_id = :environment_id AND pending = 1 ORDER BY created_at, id LIMIT :limit
    ) AS first GROUP BY lane
""")
LIST_PENDING = sql(f"""
    SELECT {_EVENT} FROM emitted_events
    WHERE environment_id = :environment_id AND pending = 1 AND {IN_LANES} ORDER BY created_at, id LIMIT :limit
""")
FIND_PENDING_FOR_MANY = sql(f"""
    SELECT {_EVENT}, position FROM emitted_events
    WHERE environment_id = :environment_id AND pending = 1 AND lane = -1
    ORDER BY created_at, id LIMIT 1 {{skip_locked}}
""")
MARK_OFFERED = sql("""
    UPDATE emitted_events SET pending = 0 WHERE environment_id = :environment_id AND id {any:ids}
""")
UPDATE_POSITION = sql("""
    UPDATE emitted_events SET position = :position WHERE environment_id = :environment_id AND id = :id
""")
LIST_EVENTS_OF_PEOPLE = sql(f"""
    SELECT {_EVENT} FROM emitted_events
    WHERE environment_id = :environment_id AND subscriber_id {{any:people}} AND name = :name AND created_at >= :since
    LIMIT :limit
""")
LIST_EVENTS_FOR_MANY = sql(f"""
    SELECT {_EVENT} FROM emitted_events
    WHERE environment_id = :environment_id AND lane = -1 AND name = :name AND created_at >= :since
    ORDER BY created_at LIMIT :limit
""")
LIST_MEMBERSHIPS = sql("""
    SELECT topic_id, subscriber_id FROM topic_subscriptions
    WHERE environment_id = :environment_id AND topic_id {any:topics} AND subscriber_id {any:people}
""")

LIST_WAITS_OF_PEOPLE = sql(f"""
    SELECT {_WAIT} FROM event_waits
    WHERE environment_id = :environment_id AND subscriber_id {{any:people}} AND matched IS NULL
""")
LIST_WAITS_FOR = sql(f"""
    SELECT {_WAIT} FROM event_waits
    WHERE environment_id = :environment_id AND event = :event AND job_id > :after ORDER BY job_id LIMIT :limit
""")
LIST_WAITS_OF_JOBS = sql(f"""
    SELECT {_WAIT} FROM event_waits WHERE environment_id = :environment_id AND job_id {{any:jobs}}
""")
COUNT_WAITS = sql("""
    SELECT subscriber_id, count(*) AS found FROM event_waits
    WHERE environment_id = :environment_id AND subscriber_id {any:people} GROUP BY subscriber_id
""")
UPDATE_WAITS = sql("""
    UPDATE event_waits SET matched = :matched, missed = :missed, last_missed = :last_missed
    {each: environment_id uuid, job_id uuid, matched text, missed integer, last_missed text}
    WHERE environment_id = :environment_id AND job_id = :job_id
""")
WAKE_JOBS = sql("""
    UPDATE jobs SET due_at = :now
    WHERE environment_id = :environment_id AND id {any:jobs} AND queue = 1 AND status = 'delayed' AND due_at > :now
""")
DELETE_WAITS = sql("DELETE FROM event_waits WHERE environment_id = :environment_id AND job_id {any:jobs}")
DELETE_WAITS_OF_RUNS = sql("""
    DELETE FROM event_waits WHERE environment_id = :environment_id AND job_id IN (
        SELECT id FROM jobs
        WHERE environment_id = :environment_id AND notification_id {any:run_ids} AND type IN ('wait_for', 'ask')
    )
""")

DELETE_OLD_EVENTS = sql("""
    DELETE FROM emitted_events WHERE (environment_id, id) IN (
        SELECT environment_id, id FROM emitted_events
        WHERE created_at < :before AND pending = 0 ORDER BY created_at LIMIT :limit
    )
""")
DELETE_OLD_WAITS = sql("""
    DELETE FROM event_waits WHERE (environment_id, job_id) IN (
        SELECT environment_id, job_id FROM event_waits WHERE until < :before ORDER BY until LIMIT :limit
    )
""")

_read_rule = msgspec.json.Decoder(WaitRule).decode


def event_row(event: EmittedEvent, *, lane: int = MANY, source_key: bytes | None = None) -> tuple[Any, ...]:
    """The row of an event that is not offered to anyone yet."""
    return (
        *(event.environment_id, event.id, event.name, lane, event.subscriber_id, event.topic_id, source_key),
        *(json_text(event.data), 1, event.created_at),
    )


async def insert_events(db: Connection, rows: Sequence[tuple[Any, ...]]) -> int:
    """Insert events, but those that were emitted before; returns how many are new."""
    return await db.insert_many(EVENTS, rows) if rows else 0


async def insert_awaited(db: Connection, environment_id: EnvironmentId, names: Collection[str]) -> None:
    """Remember that steps wait for events of these names."""
    if names:
        await db.insert_many(AWAITED, [(environment_id, name) for name in sorted(names)])


async def list_awaited(db: Connection, environment_id: EnvironmentId) -> frozenset[str]:
    """The names of all events that steps wait for, or did."""
    return frozenset(row["name"] for row in await db.fetch(LIST_AWAITED, environment_id=environment_id))


async def list_awaited_of(db: Connection, environment_id: EnvironmentId, names: Collection[str]) -> frozenset[str]:
    """Those of the names that steps wait for, or did."""
    rows = await db.fetch(LIST_AWAITED_OF, environment_id=environment_id, names=sorted(names))
    return frozenset(row["name"] for row in rows)


async def list_busy(db: Connection) -> list[EnvironmentId]:
    """The environments with events that are not offered to all waits yet."""
    return [EnvironmentId(row["environment_id"]) for row in await db.fetch(LIST_BUSY)]


async def list_pending_lanes(
    db: Connection, environment_id: EnvironmentId, own: LaneSet, *, late: Millis, limit: int
) -> tuple[LaneSet, bool]:
    """The lanes of the next events that are this worker's or that are late; and whether some events are for many."""
    rows = await db.fetch(LIST_PENDING_LANES, environment_id=environment_id, limit=limit)
    lanes = [row["lane"] for row in rows if row["lane"] in own or row["since"] <= late]
    return LaneSet.of(lane for lane in lanes if lane != MANY), any(row["lane"] == MANY for row in rows)


async def list_pending(
    db: Connection, environment_id: EnvironmentId, lanes: LaneSet, *, limit: int
) -> list[EmittedEvent]:
    """The next events about people of these lanes."""
    rows = await db.fetch(LIST_PENDING, environment_id=environment_id, limit=limit, **lanes.parameters)
    return [_event(environment_id, row) for row in rows]


async def find_pending_for_many(
    db: Connection, environment_id: EnvironmentId
) -> tuple[EmittedEvent, JobId | None] | None:
    """Lock the next event for a topic or for everyone that no other worker has; returns it with its position."""
    row = await db.fetch_one(FIND_PENDING_FOR_MANY, environment_id=environment_id)
    return None if row is None else (_event(environment_id, row), row["position"])


async def mark_offered(db: Connection, environment_id: EnvironmentId, ids: Sequence[EmittedEventId]) -> None:
    await db.execute(MARK_OFFERED, environment_id=environment_id, ids=list(ids))


async def update_position(
    db: Connection, environment_id: EnvironmentId, event_id: EmittedEventId, position: JobId
) -> None:
    await db.execute(UPDATE_POSITION, environment_id=environment_id, id=event_id, position=position)


async def list_events_of_people(
    db: Connection,
    environment_id: EnvironmentId,
    people: Collection[SubscriberId],
    name: str,
    since: Millis,
    *,
    limit: int,
) -> list[EmittedEvent]:
    """Events of a name about these people that are kept, since a moment; of one person, the first ones."""
    scope = {"environment_id": environment_id, "name": name, "since": since, "limit": limit}
    rows = await db.fetch(LIST_EVENTS_OF_PEOPLE, **scope, people=list(people))
    return [_event(environment_id, row) for row in rows]


async def list_events_for_many(
    db: Connection, environment_id: EnvironmentId, name: str, since: Millis, *, limit: int
) -> list[EmittedEvent]:
    """The first events of a name for topics and for everyone that are kept, since a moment."""
    scope = {"environment_id": environment_id, "name": name, "since": since, "limit": limit}
    return [_event(environment_id, row) for row in await db.fetch(LIST_EVENTS_FOR_MANY, **scope)]


async def list_memberships(
    db: Connection, environment_id: EnvironmentId, topics: Collection[TopicId], people: Collection[SubscriberId]
) -> set[tuple[TopicId, SubscriberId]]:
    """Which of the people are members of which of the topics."""
    if not topics or not people:
        return set()
    scope = {"environment_id": environment_id, "topics": list(topics), "people": list(people)}
    return {(row["topic_id"], row["subscriber_id"]) for row in await db.fetch(LIST_MEMBERSHIPS, **scope)}


async def insert_waits(db: Connection, waits: Sequence[EventWait]) -> None:
    rows = [
        (
            *(wait.environment_id, wait.job_id, wait.subscriber_id, wait.lane, wait.event, json_text(wait.rule)),
            *(wait.since, wait.until, wait.missed, _json(wait.last_missed)),
        )
        for wait in waits
    ]
    if rows:
        await db.insert_many(WAITS, rows)


async def list_waits_of_people(
    db: Connection, environment_id: EnvironmentId, people: Collection[SubscriberId]
) -> list[EventWait]:
    """What steps wait for of these people; the caller holds their lanes."""
    rows = await db.fetch(LIST_WAITS_OF_PEOPLE, environment_id=environment_id, people=list(people))
    return [_wait(environment_id, row) for row in rows]


async def list_waits_for(
    db: Connection, environment_id: EnvironmentId, event: str, *, after: JobId, limit: int
) -> list[EventWait]:
    """The next waits for events of a name, also those that are over."""
    scope = {"environment_id": environment_id, "event": event, "after": after, "limit": limit}
    return [_wait(environment_id, row) for row in await db.fetch(LIST_WAITS_FOR, **scope)]


async def list_waits_of_jobs(
    db: Connection, environment_id: EnvironmentId, jobs: Collection[JobId]
) -> dict[JobId, EventWait]:
    rows = await db.fetch(LIST_WAITS_OF_JOBS, environment_id=environment_id, jobs=list(jobs)) if jobs else ()
    return {row["job_id"]: _wait(environment_id, row) for row in rows}


async def count_waits(
    db: Connection, environment_id: EnvironmentId, people: Collection[SubscriberId]
) -> dict[SubscriberId, int]:
    """How many steps wait for each of the people; those without any are absent."""
    rows = await db.fetch(COUNT_WAITS, environment_id=environment_id, people=list(people))
    return {row["subscriber_id"]: int(row["found"]) for row in rows}


async def update_waits(db: Connection, environment_id: EnvironmentId, waits: Iterable[EventWait]) -> None:
    """Write what waits took and missed."""
    rows = [
        {
            "environment_id": environment_id,
            "job_id": wait.job_id,
            "matched": _json(wait.matched),
            "missed": wait.missed,
            "last_missed": _json(wait.last_missed),
        }
        for wait in waits
    ]
    if rows:
        await db.execute_many(UPDATE_WAITS, rows)


async def wake_jobs(db: Connection, environment_id: EnvironmentId, jobs: Collection[JobId], now: Millis) -> None:
    """Let steps whose event came go on now; those that do not wait any more are left alone."""
    if jobs:
        await db.execute(WAKE_JOBS, environment_id=environment_id, jobs=sorted(jobs), now=now)


async def delete_waits(db: Connection, environment_id: EnvironmentId, jobs: Collection[JobId]) -> None:
    if jobs:
        await db.execute(DELETE_WAITS, environment_id=environment_id, jobs=sorted(jobs))


async def delete_waits_of_runs(
    db: Connection, environment_id: EnvironmentId, run_ids: Sequence[NotificationId]
) -> None:
    """Let runs that are canceled wait for nothing any more."""
    if run_ids:
        await db.execute(DELETE_WAITS_OF_RUNS, environment_id=environment_id, run_ids=sorted(run_ids))


async def delete_old(db: Connection, *, events_before: Millis, waits_before: Millis, limit: int) -> int:
    """Delete events that nobody looks back at, and what is left of waits that ended long ago; returns how many."""
    events = await db.execute(DELETE_OLD_EVENTS, before=events_before, limit=limit)
    return events + await db.execute(DELETE_OLD_WAITS, before=waits_before, limit=limit)


def _event(environment_id: EnvironmentId, row: Row) -> EmittedEvent:
    return EmittedEvent(
        environment_id=environment_id,
        id=row["id"],
        name=row["name"],
        created_at=row["created_at"],
        data=json_value(row["data"]),
        subscriber_id=row["subscriber_id"],
        topic_id=row["topic_id"],
    )


def _wait(environment_id: EnvironmentId, row: Row) -> EventWait:
    return EventWait(
        environment_id=environment_id,
        job_id=row["job_id"],
        subscriber_id=row["subscriber_id"],
        lane=row["lane"],
        event=row["event"],
        rule=_read_rule(row["rule"]),
        since=row["since"],
        until=row["until"],
        matched=json_value(row["matched"]),
        missed=row["missed"],
        last_missed=json_value(row["last_missed"]),
    )


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else json_text(value)
