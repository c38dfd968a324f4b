"""Erasing a person from all tables.

A long history is erased first, in units of work that are short enough for others to run in between, while the person
still exists. One last unit erases the rest, and with it the person and what is queued for them. Whatever happens in
between, an erasure can be begun again; one whose process ended is continued by any other process.
"""

from functools import partial

from clarion.audit.model import Action, AuditTarget, Author, Change, TargetType
from clarion.audit.recording import record_change
from clarion.clock import MINUTE, Clock, Millis
from clarion.db.port import Connection, Database
from clarion.ids import EnvironmentId, SubscriberKey
from clarion.jobs.lane_locks import lock_lanes
from clarion.jobs.lanes import LaneSet, lane_of
from clarion.sending.suppressions.store import hide_addresses
from clarion.subscribers.model import Subscriber
from clarion.subscribers.personal_data import store
from clarion.subscribers.store import find_subscriber, get_subscriber
from clarion.triggers.erasure import erase_from_run_triggers, erase_from_triggers
from clarion.vocabulary import Channel

BATCH = 100
"""How many rows of a table, and what belongs to them, are erased in one unit of work."""
CONTINUED_AFTER = Millis(5 * MINUTE)
"""An erasure that is not finished after this time is taken over from the process that began it."""
_CONTINUED_TOGETHER = 100


async def has_long_history(database: Database, environment_id: EnvironmentId, key: SubscriberKey) -> bool:
    """Return whether a person has more than one unit of work should erase."""

    async def count(db: Connection) -> int:
        person = await find_subscriber(db, environment_id, key)
        return 0 if person is None else await store.count_history(db, environment_id, person.id, BATCH + 1)

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
    await erase_from_triggers(db, environment_id, person)
    while await _erase_some(db, person):
        pass
    contacts = ((Channel.EMAIL, person.email), (Channel.SMS, person.phone))
    await hide_addresses(db, environment_id, [(channel, text) for channel, text in contacts if text])
    await store.delete_rest(db, environment_id, person.id)
    change = Change(action=Action.SUBSCRIBER_ERASE, target=AuditTarget(type=TargetType.SUBSCRIBER, id=key))
    await record_change(db, environment_id, change, author, now)


async def continue_erasures(database: Database, clock: Clock) -> None:
    """Finish erasures whose process ended before they were done."""
    before = Millis(clock.now() - CONTINUED_AFTER)
    for one in await database.read(partial(store.list_erasures, before=before, limit=_CONTINUED_TOGETHER)):
        await erase_history(database, one.environment_id, one.key, one.author, clock)
        await database.transaction(partial(_finish, erasure=one, now=clock.now()))


async def _begin(
    db: Connection, *, environment_id: EnvironmentId, key: SubscriberKey, author: Author, now: Millis
) -> None:
    person = await find_subscriber(db, environment_id, key)
    if person is not None:
        await store.insert_erasure(db, environment_id, person.id, author, now)


async def _finish(db: Connection, *, erasure: store.Erasure, now: Millis) -> None:
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
    messages = await store.delete_messages(db, person.environment_id, person.id, BATCH)
    sent = {(Channel(row["channel"]), row["email"] or row["phone"]) for row in messages}
    await hide_addresses(db, person.environment_id, [one for one in sent if one[1]])
    if len(messages) == BATCH:
        return True
    if await store.delete_webhook_events(db, person.environment_id, person.id, BATCH) == BATCH:
        return True
    if await db.execute(store.DELETE_DIGEST_EVENTS, **scope, limit=BATCH) == BATCH:
        return True
    return await db.execute(store.DELETE_THROTTLE_PASSES, **scope, limit=BATCH) == BATCH


async def _erase_runs(db: Connection, person: Subscriber) -> bool:
    scope = {"environment_id": person.environment_id}
    rows = await db.fetch(store.LIST_RUNS, **scope, subscriber_id=person.id, limit=BATCH)
    if rows:
        ids = [row["id"] for row in rows]
        await erase_from_run_triggers(db, person, [row["trigger_id"] for row in rows])
        await db.execute(store.DELETE_JOBS_OF_RUNS, **scope, ids=ids)
        await db.execute(store.DELETE_RUNS, **scope, ids=ids)
    return len(rows) == BATCH
