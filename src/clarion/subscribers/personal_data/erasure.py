"""Erasing a person from all tables.

A long history is erased first, in units of work that are short enough for others to run in between, while the person
still exists. One last unit erases the rest, and with it the person and what is queued for them. Whatever happens in
between, an erasure can be begun again; one whose process ended is continued by any other process.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from clarion.answers.erasure import forget_answers
from clarion.answers.store import delete_answers
from clarion.audit.model import Action, AuditTarget, Author, Change, TargetType
from clarion.audit.recording import record_change
from clarion.clock import MINUTE, Clock, Millis
from clarion.db.port import Connection, Database, Row
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SubscriberId, SubscriberKey
from clarion.jobs.lanes import LaneSet, lane_of, lock_lanes
from clarion.jsontext import json_text
from clarion.schedules.erasure import erase_from_schedules
from clarion.sending.suppressions.store import hide_addresses
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import find_subscriber, get_subscriber
from clarion.triggers.erasure import erase_from_run_triggers, erase_from_triggers
from clarion.vocabulary import Channel

BATCH = 100
"""How many rows of a table, and what belongs to them, are erased in one unit of work."""
CONTINUED_AFTER = Millis(5 * MINUTE)
"""An erasure that is not finished after this time is taken over from the process that began it."""
_CONTINUED_TOGETHER = 100

_AUTHOR = msgspec.json.Decoder(Author)

_OF_PERSON = "environment_id = :environment_id AND subscriber_id = :subscriber_id"
_WINDOWS = f"SELECT id FROM digest_windows WHERE {_OF_PERSON}"

# Tables that grow with what happens to a person: there may be any number of rows.
LIST_RUNS = sql(f"SELECT id, trigger_id FROM notifications WHERE {_OF_PERSON} ORDER BY id LIMIT :limit")
DELETE_REQUESTS_OF_RUNS = sql("""
    DELETE FROM http_requests WHERE environment_id = :environment_id AND job_id IN (
        SELECT id FROM jobs
        WHERE environment_id = :environment_id AND notification_id {any:ids} AND type = 'http_request'
    )
""")
DELETE_JOBS_OF_RUNS = sql("DELETE FROM jobs WHERE environment_id = :environment_id AND notification_id {any:ids}")
DELETE_RUNS = sql("DELETE FROM notifications WHERE environment_id = :environment_id AND id {any:ids}")
DELETE_MESSAGES = sql(f"""
    DELETE FROM messages WHERE environment_id = :environment_id AND id IN (
        SELECT id FROM messages WHERE {_OF_PERSON} LIMIT :limit
    )
    RETURNING id, channel, email, phone
""")
DELETE_EXPECTED_RECEIPTS = sql("""
    DELETE FROM awaited_receipts WHERE environment_id = :environment_id AND message_id {any:ids}
""")
LIST_WEBHOOK_EVENTS = sql(f"SELECT event_id FROM webhook_event_people WHERE {_OF_PERSON} LIMIT :limit")
DELETE_WEBHOOK_EVENTS = sql("DELETE FROM webhook_events WHERE environment_id = :environment_id AND id {any:ids}")
DELETE_WEBHOOK_EVENT_PEOPLE = sql("""
    DELETE FROM webhook_event_people
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND event_id {any:ids}
""")
DELETE_THROTTLE_PASSES = sql(f"""
    DELETE FROM throttle_passes WHERE (environment_id, throttle_id, passed_at, job_id) IN (
        SELECT environment_id, throttle_id, passed_at, job_id FROM throttle_passes WHERE {_OF_PERSON} LIMIT :limit
    )
""")
DELETE_DIGEST_EVENTS = sql(f"""
    DELETE FROM digest_events WHERE (environment_id, window_id, generation, job_id) IN (
        SELECT environment_id, window_id, generation, job_id FROM digest_events
        WHERE environment_id = :environment_id AND window_id IN ({_WINDOWS}) LIMIT :limit
    )
""")
COUNT_HISTORY = sql(f"""
    SELECT (SELECT count(*) FROM (SELECT 1 FROM notifications WHERE {_OF_PERSON} LIMIT :limit) AS r) AS runs,
        (SELECT count(*) FROM (SELECT 1 FROM messages WHERE {_OF_PERSON} LIMIT :limit) AS m) AS messages,
        (SELECT count(*) FROM (SELECT 1 FROM webhook_event_people WHERE {_OF_PERSON} LIMIT :limit) AS e) AS events,
        (SELECT count(*) FROM (SELECT 1 FROM throttle_passes WHERE {_OF_PERSON} LIMIT :limit) AS p) AS passes,
        (SELECT count(*) FROM (SELECT 1 FROM answers WHERE {_OF_PERSON} LIMIT :limit) AS a) AS answers,
        (
            SELECT count(*) FROM (
                SELECT 1 FROM digest_events
                WHERE environment_id = :environment_id AND window_id IN ({_WINDOWS}) LIMIT :limit
            ) AS d
        ) AS digested
""")

# What is left when the history is gone; the subscriber comes last.
DELETE_REST = tuple(
    sql(f"DELETE FROM {table} WHERE environment_id = :environment_id AND {condition}")
    for table, condition in (
        ("subscriber_channels", "subscriber_id = :subscriber_id"),
        ("topic_subscriptions", "subscriber_id = :subscriber_id"),
        ("preferences", "subscriber_id = :subscriber_id"),
        ("context_preferences", "subscriber_id = :subscriber_id"),
        ("channel_endpoints", "subscriber_id = :subscriber_id"),
        ("channel_connections", "subscriber_id = :subscriber_id"),
        ("chat_links", "subscriber_id = :subscriber_id"),
        ("online_people", "subscriber_id = :subscriber_id"),
        ("digest_windows", "subscriber_id = :subscriber_id"),
        ("emitted_events", "subscriber_id = :subscriber_id"),
        ("event_waits", "subscriber_id = :subscriber_id"),
        ("erasures", "subscriber_id = :subscriber_id"),
        ("subscribers", "id = :subscriber_id"),
    )
)

# What a person made stays for the others who are subscribed to it.
FORGET_CREATOR = sql("""
    UPDATE topics SET creator_id = NULL WHERE environment_id = :environment_id AND creator_id = :subscriber_id
""")
# Others may have been linked by a connection of the person.
DETACH_ENDPOINTS = sql("""
    UPDATE channel_endpoints SET connection_id = NULL
    WHERE environment_id = :environment_id AND connection_id IN (
        SELECT id FROM channel_connections WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id
    )
""")

INSERT_ERASURE = sql("""
    INSERT INTO erasures (environment_id, subscriber_id, author, requested_at)
    VALUES (:environment_id, :subscriber_id, :author, :now)
    ON CONFLICT (environment_id, subscriber_id) DO NOTHING
""")
LIST_ERASURES = sql("""
    SELECT e.environment_id, s.key, e.author
    FROM erasures AS e JOIN subscribers AS s ON s.environment_id = e.environment_id AND s.id = e.subscriber_id
    WHERE e.requested_at <= :before ORDER BY e.requested_at LIMIT :limit
""")


class Erasure(Struct, frozen=True):
    """An erasure that was begun and is not finished."""

    environment_id: EnvironmentId
    key: SubscriberKey
    author: Author


async def has_long_history(database: Database, environment_id: EnvironmentId, key: SubscriberKey) -> bool:
    """Return whether a person has more than one unit of work should erase."""

    async def count(db: Connection) -> int:
        person = await find_subscriber(db, environment_id, key)
        return 0 if person is None else await count_history(db, environment_id, person.id, BATCH + 1)

    return await database.read(count) > BATCH


async def erase_history(
    database: Database, environment_id: EnvironmentId, key: SubscriberKey, author: Author, clock: Clock
) -> None:
    """Erase what happened to a person until little is left, in many units of work."""
    await database.transaction(partial(_begin, environment_id=environment_id, key=key, author=author, now=clock.now()))
    while await database.transaction(partial(_erase_batch, environment_id=environment_id, key=key)):
        pass


async def erase_rest(
    db: Connection, environment_id: EnvironmentId, key: SubscriberKey, author: Author, now: Millis
) -> None:
    """Erase a person in this unit of work, with all that is left of their history; raises NotFound if there is none."""
    # A run that is decided at the same time would leave messages of a person who is gone.
    await lock_lanes(db, environment_id, LaneSet.of([lane_of(key)]))
    person = await get_subscriber(db, environment_id, key, for_update=True)
    # Schedules first: one that triggers at this moment is waited for, and its trigger is found then.
    await erase_from_schedules(db, environment_id, person.key)
    await erase_from_triggers(db, environment_id, person)
    while await _erase_some(db, person):
        pass
    contacts = ((Channel.EMAIL, person.email), (Channel.SMS, person.phone))
    await hide_addresses(db, environment_id, [(channel, text) for channel, text in contacts if text])
    await delete_rest(db, environment_id, person.id)
    change = Change(action=Action.SUBSCRIBER_ERASE, target=AuditTarget(type=TargetType.SUBSCRIBER, id=key))
    await record_change(db, environment_id, change, author, now)


async def continue_erasures(database: Database, clock: Clock) -> None:
    """Finish erasures whose process ended before they were done."""
    before = Millis(clock.now() - CONTINUED_AFTER)
    for erasure in await database.read(partial(list_erasures, before=before, limit=_CONTINUED_TOGETHER)):
        await erase_history(database, erasure.environment_id, erasure.key, erasure.author, clock)
        await database.transaction(partial(_finish, erasure=erasure, now=clock.now()))


async def _begin(
    db: Connection, *, environment_id: EnvironmentId, key: SubscriberKey, author: Author, now: Millis
) -> None:
    person = await find_subscriber(db, environment_id, key)
    if person is not None:
        await insert_erasure(db, environment_id, person.id, author, now)


async def _finish(db: Connection, *, erasure: Erasure, now: Millis) -> None:
    if await find_subscriber(db, erasure.environment_id, erasure.key) is not None:
        await erase_rest(db, erasure.environment_id, erasure.key, erasure.author, now)


async def _erase_batch(db: Connection, *, environment_id: EnvironmentId, key: SubscriberKey) -> bool:
    """Erase some of the history of a person, if they still exist; returns whether there is more."""
    await lock_lanes(db, environment_id, LaneSet.of([lane_of(key)]))
    person = await find_subscriber(db, environment_id, key)
    return person is not None and await _erase_some(db, person)


async def _erase_some(db: Connection, person: Subscriber) -> bool:
    """Erase up to BATCH rows of one table of the history; returns whether there may be more.

    Runs come first: a job without its message would fail, a message without its job does no harm.
    """
    scope = {"environment_id": person.environment_id, "subscriber_id": person.id}
    if await _erase_runs(db, person):
        return True
    messages = await delete_messages(db, person.environment_id, person.id, BATCH)
    sent = {(Channel(row["channel"]), row["email"] or row["phone"]) for row in messages}
    await hide_addresses(db, person.environment_id, [one for one in sent if one[1]])
    if len(messages) == BATCH:
        return True
    if await delete_webhook_events(db, person.environment_id, person.id, BATCH) == BATCH:
        return True
    if await db.execute(DELETE_DIGEST_EVENTS, **scope, limit=BATCH) == BATCH:
        return True
    if await forget_answers(db, person, BATCH) == BATCH:
        return True
    return await db.execute(DELETE_THROTTLE_PASSES, **scope, limit=BATCH) == BATCH


async def _erase_runs(db: Connection, person: Subscriber) -> bool:
    scope = {"environment_id": person.environment_id}
    rows = await db.fetch(LIST_RUNS, **scope, subscriber_id=person.id, limit=BATCH)
    if rows:
        ids = [row["id"] for row in rows]
        await erase_from_run_triggers(db, person, [row["trigger_id"] for row in rows])
        await db.execute(DELETE_REQUESTS_OF_RUNS, **scope, ids=ids)
        await db.execute(DELETE_JOBS_OF_RUNS, **scope, ids=ids)
        await delete_answers(db, person.environment_id, ids)
        await db.execute(DELETE_RUNS, **scope, ids=ids)
    return len(rows) == BATCH


async def count_history(db: Connection, environment_id: EnvironmentId, subscriber_id: SubscriberId, limit: int) -> int:
    """Return the number of rows in the largest table of the person's history, counted up to `limit`."""
    row = await db.fetch_one(COUNT_HISTORY, environment_id=environment_id, subscriber_id=subscriber_id, limit=limit)
    return max(int(count) for count in dict(row or {}).values())


async def delete_rest(db: Connection, environment_id: EnvironmentId, subscriber_id: SubscriberId) -> None:
    for query in (FORGET_CREATOR, DETACH_ENDPOINTS, *DELETE_REST):
        await db.execute(query, environment_id=environment_id, subscriber_id=subscriber_id)


async def delete_messages(
    db: Connection, environment_id: EnvironmentId, subscriber_id: SubscriberId, limit: int
) -> Sequence[Row]:
    """Delete up to `limit` messages and the tickets of their receipts; returns where they were sent."""
    scope: dict[str, Any] = {"environment_id": environment_id}
    rows = await db.fetch(DELETE_MESSAGES, **scope, subscriber_id=subscriber_id, limit=limit)
    pushed = [row["id"] for row in rows if row["channel"] == "push"]
    if pushed:
        await db.execute(DELETE_EXPECTED_RECEIPTS, **scope, ids=pushed)
    return rows


async def delete_webhook_events(
    db: Connection, environment_id: EnvironmentId, subscriber_id: SubscriberId, limit: int
) -> int:
    """Delete up to `limit` events about the person; deliveries of them that are queued fail."""
    person = {"environment_id": environment_id, "subscriber_id": subscriber_id}
    ids = [row["event_id"] for row in await db.fetch(LIST_WEBHOOK_EVENTS, **person, limit=limit)]
    if ids:
        await db.execute(DELETE_WEBHOOK_EVENTS, environment_id=environment_id, ids=ids)
        await db.execute(DELETE_WEBHOOK_EVENT_PEOPLE, **person, ids=ids)
    return len(ids)


async def insert_erasure(
    db: Connection, environment_id: EnvironmentId, subscriber_id: SubscriberId, author: Author, now: Millis
) -> None:
    """Note that an erasure began, so that it goes on if this process ends."""
    await db.execute(
        INSERT_ERASURE, environment_id=environment_id, subscriber_id=subscriber_id, author=json_text(author), now=now
    )


async def list_erasures(db: Connection, *, before: Millis, limit: int) -> list[Erasure]:
    """List erasures of all environments that began before a moment and are not finished."""
    rows = await db.fetch(LIST_ERASURES, before=before, limit=limit)
    return [Erasure(row["environment_id"], row["key"], _AUTHOR.decode(row["author"])) for row in rows]
