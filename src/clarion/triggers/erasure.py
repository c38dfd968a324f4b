"""SQL of erasing a person: their key, and what was said to them alone, leave the triggers."""

from collections.abc import Sequence

from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SubscriberId, SubscriberKey, TriggerId
from clarion.jobs.lanes import lane_of
from clarion.jsontext import json_text
from clarion.subscribers.model import Subscriber
from clarion.triggers.attachments import DELETE_OF_TRIGGERS
from clarion.triggers.model import AddressedPerson, Recipients, decode_recipients
from clarion.triggers.store import BATCH_COLUMNS, batch_of, delete_batches

_CHUNK = 500
_ONE_ERASED = json_text(Recipients(erased=1))

# The row stays: its transaction must not be run again.
_EMPTY = """
    UPDATE triggers SET payload = '{}', overrides = NULL, context = NULL, trace_context = NULL, warnings = NULL,
        recipients = :emptied, position = NULL,
        state = CASE WHEN state IN ('scheduled', 'queued', 'splitting') THEN 'canceled' ELSE state END
"""
# The recipients of most triggers are one person, so most are found by the whole text.
EMPTY_QUEUED_FOR_PERSON = sql(f"""
    {_EMPTY} WHERE environment_id = :environment_id AND state = 'queued' AND lane = :lane AND recipients = :alone
    RETURNING id
""")
EMPTY_FOR_PERSON = sql(f"""
    {_EMPTY} WHERE environment_id = :environment_id AND id {{any:ids}} AND recipients = :alone RETURNING id
""")
EMPTY = sql(f"{_EMPTY} WHERE environment_id = :environment_id AND id = :id")
UPDATE_RECIPIENTS = sql("""
    UPDATE triggers SET recipients = :recipients WHERE environment_id = :environment_id AND id = :id
""")
# In the order of their index: for that of ids, SQLite would read all triggers that there ever were.
LIST_QUEUED_NAMING = sql("""
    SELECT id, recipients FROM triggers
    WHERE environment_id = :environment_id AND state = 'queued' AND lane = :lane AND {position}(recipients, :name) > 0
    ORDER BY priority, id {for_update}
""")
# Those for people of several lanes have the lane 0.
LIST_SCHEDULED_NAMING = sql("""
    SELECT id, recipients FROM triggers
    WHERE environment_id = :environment_id AND state = 'scheduled' AND lane {any:lanes}
    AND {position}(recipients, :name) > 0
    ORDER BY id {for_update}
""")
LIST_EXPANDING_NAMING = sql("""
    SELECT id, recipients FROM triggers
    WHERE environment_id = :environment_id AND state = 'splitting' AND {position}(recipients, :name) > 0
    ORDER BY priority, id {for_update}
""")
LIST_NAMING = sql("""
    SELECT id, recipients FROM triggers
    WHERE environment_id = :environment_id AND id {any:ids} AND {position}(recipients, :name) > 0
    ORDER BY id {for_update}
""")
DELETE_ANSWERS = sql("""
    DELETE FROM http_answers WHERE environment_id = :environment_id AND trigger_id {any:ids}
""")
LIST_BATCHES_OF_LANE = sql(f"""
    SELECT {BATCH_COLUMNS} FROM trigger_parts
    WHERE environment_id = :environment_id AND lane = :lane
""")
UPDATE_BATCH = sql("""
    UPDATE trigger_parts SET subscriber_ids = :subscriber_ids WHERE environment_id = :environment_id AND id = :id
""")


async def erase_from_triggers(db: Connection, environment_id: EnvironmentId, person: Subscriber) -> None:
    """Take a person out of the triggers that have no runs for them yet, and empty those for them alone.

    The caller holds the person's lane.
    """
    scope = {"environment_id": environment_id}
    queued = {**scope, "lane": lane_of(person.key)}
    alone, name = json_text(Recipients(people=[AddressedPerson(key=person.key)])), json_text(person.key)
    # Before those that are queued, which they become at their moment.
    lanes = [0, lane_of(person.key)]
    await _leave(db, environment_id, person.key, await db.fetch(LIST_SCHEDULED_NAMING, **scope, lanes=lanes, name=name))
    emptied = await db.fetch(EMPTY_QUEUED_FOR_PERSON, **queued, alone=alone, emptied=_ONE_ERASED)
    await _drop_belongings(db, environment_id, [row["id"] for row in emptied])
    await _leave(db, environment_id, person.key, await db.fetch(LIST_QUEUED_NAMING, **queued, name=name))
    await _leave(db, environment_id, person.key, await db.fetch(LIST_EXPANDING_NAMING, **scope, name=name))
    # After the triggers that are being expanded: another worker may have been handing the person to their lane.
    await erase_from_run_triggers(db, person, await _leave_batches(db, environment_id, person))


async def erase_from_run_triggers(db: Connection, person: Subscriber, trigger_ids: Sequence[TriggerId]) -> None:
    """Take a person out of these triggers, and empty those for them alone, with what belongs to them."""
    scope = {"environment_id": person.environment_id}
    alone, name = json_text(Recipients(people=[AddressedPerson(key=person.key)])), json_text(person.key)
    for start in range(0, len(trigger_ids), _CHUNK):
        chunk = list(trigger_ids[start : start + _CHUNK])
        emptied = await db.fetch(EMPTY_FOR_PERSON, **scope, ids=chunk, alone=alone, emptied=_ONE_ERASED)
        await _leave(db, person.environment_id, person.key, await db.fetch(LIST_NAMING, **scope, ids=chunk, name=name))
        await _drop_belongings(db, person.environment_id, [row["id"] for row in emptied])


async def _leave(db: Connection, environment_id: EnvironmentId, key: SubscriberKey, rows: Sequence[Row]) -> None:
    for row in rows:
        before = decode_recipients(row["recipients"])
        after = before.without(key)
        if not after:
            await db.execute(EMPTY, environment_id=environment_id, id=row["id"], emptied=json_text(after.emptied))
            await _drop_belongings(db, environment_id, [row["id"]])
        elif after != before:
            await db.execute(
                UPDATE_RECIPIENTS, environment_id=environment_id, id=row["id"], recipients=json_text(after)
            )


async def _drop_belongings(db: Connection, environment_id: EnvironmentId, trigger_ids: Sequence[TriggerId]) -> None:
    """Drop the references to attached files, and the answers to HTTP steps that their runs share.

    Maintenance deletes files that nothing refers to.
    """
    for start in range(0, len(trigger_ids), _CHUNK):
        chunk = list(trigger_ids[start : start + _CHUNK])
        await db.execute(DELETE_OF_TRIGGERS, environment_id=environment_id, trigger_ids=chunk)
        await db.execute(DELETE_ANSWERS, environment_id=environment_id, ids=chunk)


async def _leave_batches(db: Connection, environment_id: EnvironmentId, person: Subscriber) -> list[TriggerId]:
    """Take the person out of their batches; returns the triggers of these."""
    rows = await db.fetch(LIST_BATCHES_OF_LANE, environment_id=environment_id, lane=lane_of(person.key))
    batches = [batch for batch in map(batch_of, rows) if person.id in batch.subscriber_ids]
    emptied = [batch.id for batch in batches if set(batch.subscriber_ids) == {person.id}]
    await delete_batches(db, environment_id, emptied)
    for batch in batches:
        if batch.id not in emptied:
            others: list[SubscriberId] = [one for one in batch.subscriber_ids if one != person.id]
            await db.execute(UPDATE_BATCH, environment_id=environment_id, id=batch.id, subscriber_ids=b"".join(others))
    return [batch.trigger_id for batch in batches]
