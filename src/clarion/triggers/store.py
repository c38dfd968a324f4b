"""SQL of triggers."""

from collections.abc import Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.environments.configuration import CONFIGURATION_VERSION
from clarion.ids import EnvironmentId, NotificationId, TransactionKey, TriggerId
from clarion.jobs.lanes import IN_LANES, LaneSet
from clarion.jobs.model import Priority
from clarion.jsontext import json_text, json_value
from clarion.triggers.model import (
    ExpansionPosition,
    RecipientBatch,
    Recipients,
    Trigger,
    TriggerState,
    decode_position,
    decode_recipients,
)

# Faster than a call of the enum, and read for every trigger.
_STATES = {one.value: one for one in TriggerState}
_PRIORITIES = {one.value: one for one in Priority}

COLUMNS = """
    environment_id, id, transaction_key, workflow_id, version_id, payload, overrides, created_at, state, priority,
    lane, recipients, position, context, expires_at
"""

_INSERTED = (
    *("environment_id", "id", "transaction_key", "workflow_id", "version_id", "payload", "overrides"),
    *("created_at", "state", "priority", "lane", "recipients", "context"),
)
_TYPES = (
    *("uuid", "uuid", "text", "uuid", "uuid", "text", "text"),
    *("bigint", "text", "smallint", "smallint", "text", "text"),
)
_ONCE = "ON CONFLICT (environment_id, transaction_key) DO NOTHING"
TRIGGERS = Insert("triggers", *_INSERTED, on_conflict=_ONCE, types=_TYPES)
# Few triggers have these.
ANNOTATED_TRIGGERS = Insert(
    "triggers",
    *(*_INSERTED, "trace_context", "warnings", "accepted_at", "expires_at", "caused_by"),
    on_conflict=_ONCE,
    types=(*_TYPES, "text", "text", "bigint", "bigint", "uuid"),
)
# In one statement, so that a trigger that is to be expanded is seen together with a later one for its people. Waiting
# for another worker that is expanding it keeps the order of each person's triggers; only the rest of a large fan-out
# is skipped while another worker expands it.
_NEXT_TRIGGERS = f"""
    WITH queued AS (
        SELECT {COLUMNS} FROM triggers
        WHERE environment_id = :environment_id AND state = 'queued' AND {IN_LANES}
        ORDER BY priority, id LIMIT :limit %(lock)s
    ), unexpanded AS (
        SELECT {COLUMNS} FROM triggers
        WHERE environment_id = :environment_id AND state = 'splitting' AND position IS NULL
        ORDER BY priority, id LIMIT :limit %(lock)s
    )
    SELECT * FROM queued UNION ALL SELECT * FROM unexpanded
"""
CLAIM_TRIGGERS = sql(_NEXT_TRIGGERS % {"lock": "{for_update}"})
BATCH_COLUMNS = "id, trigger_id, priority, lane, topic, subscriber_ids"
_NEXT_BATCHES = f"""
    SELECT environment_id, {BATCH_COLUMNS} FROM trigger_parts
    WHERE environment_id = :environment_id AND {IN_LANES}
    ORDER BY priority, trigger_id, id LIMIT :batch_limit
"""
# In one statement: a trigger that another worker expands at this moment is listed itself, or with all of its batches.
LIST_WAITING = sql(f"""
    SELECT next_trigger.*, NULL AS batch_id, NULL AS topic, NULL AS subscriber_ids
    FROM ({_NEXT_TRIGGERS % {"lock": ""}}) AS next_trigger
    UNION ALL
    SELECT environment_id, trigger_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, priority, lane, NULL, NULL, NULL,
        NULL, id, topic, subscriber_ids
    FROM ({_NEXT_BATCHES}) AS next_batch
""")
CLAIM_FAN_OUT = sql(f"""
    SELECT {COLUMNS} FROM triggers
    WHERE environment_id = :environment_id AND state = 'splitting' AND position IS NOT NULL
    ORDER BY priority, id LIMIT 1 {{skip_locked}}
""")
BATCHES = Insert(
    "trigger_parts", *("environment_id", "id", "trigger_id", "priority", "lane", "topic", "subscriber_ids")
)
# Returns a row without a batch if there is none.
LIST_BATCHES = sql(f"""
    SELECT version.configuration_version, batch.*
    FROM (SELECT {CONFIGURATION_VERSION} AS configuration_version) AS version
    LEFT JOIN (
        {_NEXT_BATCHES}
    ) AS batch ON TRUE
""")
LIST_BATCHES_BESIDE = sql(f"""
    SELECT version.configuration_version, version.has_others, batch.*
    FROM (
        SELECT {CONFIGURATION_VERSION} AS configuration_version, (
            EXISTS (
                SELECT 1 FROM triggers WHERE environment_id = :environment_id AND state = 'queued' AND {IN_LANES}
                AND NOT id {{any:known}}
            ) OR EXISTS (
                SELECT 1 FROM triggers
                WHERE environment_id = :environment_id AND state = 'splitting' AND position IS NULL
                AND NOT id {{any:known}}
            )
        ) AS has_others
    ) AS version
    LEFT JOIN (
        {_NEXT_BATCHES}
    ) AS batch ON TRUE
""")
LIST_UNFINISHED_IDS = sql(f"""
    SELECT id FROM triggers
    WHERE environment_id = :environment_id AND (state = 'queued' AND {IN_LANES} OR state = 'splitting')
    ORDER BY priority, id LIMIT :limit
""")
LIST_BATCH_IDS = sql(f"""
    SELECT id FROM trigger_parts WHERE environment_id = :environment_id AND {IN_LANES}
    ORDER BY priority, trigger_id, id LIMIT :limit
""")
FIND_BATCH = sql(f"""
    SELECT {BATCH_COLUMNS} FROM trigger_parts
    WHERE environment_id = :environment_id AND id = :id
""")
FIND_UNFINISHED_TRIGGER = sql(f"""
    SELECT {COLUMNS} FROM triggers
    WHERE environment_id = :environment_id AND id = :id AND state IN ('queued', 'splitting') {{for_update}}
""")
MARK_TRIGGER_FAILED = sql("UPDATE triggers SET state = 'failed' WHERE environment_id = :environment_id AND id = :id")
DELETE_BATCHES = sql("DELETE FROM trigger_parts WHERE environment_id = :environment_id AND id {any:ids}")
LIST_TRIGGERS_BY_ID = sql(f"""
    SELECT {COLUMNS} FROM triggers WHERE environment_id = :environment_id AND id {{any:ids}}
""")
MARK_TRIGGERS_DONE = sql("""
    UPDATE triggers SET state = 'done' WHERE environment_id = :environment_id AND id {any:ids}
""")
UPDATE_POSITION = sql("""
    UPDATE triggers SET priority = :priority, position = :position
    WHERE environment_id = :environment_id AND id = :id
""")
FIND_TRIGGER_BY_TRANSACTION = sql(f"""
    SELECT {COLUMNS} FROM triggers WHERE environment_id = :environment_id AND transaction_key = :transaction_key
""")
LOCK_TRIGGER = sql(f"""
    SELECT {COLUMNS} FROM triggers WHERE environment_id = :environment_id AND id = :id {{for_update}}
""")


async def insert_triggers(db: Connection, triggers: Sequence[Trigger]) -> int:
    """Insert them, but those whose transaction was seen before in their environment; returns how many."""
    if any(any(_annotations(one)) for one in triggers):
        return await db.insert_many(ANNOTATED_TRIGGERS, [(*_row(one), *_annotations(one)) for one in triggers])
    return await db.insert_many(TRIGGERS, [_row(one) for one in triggers]) if triggers else 0


def _row(trigger: Trigger) -> tuple[Any, ...]:
    overrides = None if trigger.overrides is None else json_text(trigger.overrides)
    context = None if trigger.contexts is None else json_text(trigger.own_contexts)
    return (
        *(trigger.environment_id, trigger.id, trigger.transaction_key, trigger.workflow_id, trigger.version_id),
        *(json_text(trigger.payload), overrides, trigger.created_at, trigger.state, int(trigger.priority)),
        *(trigger.lane, json_text(trigger.recipients.stored), context),
    )


def _annotations(
    trigger: Trigger,
) -> tuple[str | None, str | None, Millis | None, Millis | None, NotificationId | None]:
    trace = None if trigger.trace is None else trigger.trace.stored
    warnings = json_text(trigger.warnings) if trigger.warnings else None
    return trace, warnings, trigger.accepted_at, trigger.expires_at, trigger.caused_by


async def claim_triggers(db: Connection, environment_id: EnvironmentId, lanes: LaneSet, *, limit: int) -> list[Trigger]:
    """The next triggers of the lanes and the next ones to be expanded, in order; the caller holds the lanes."""
    rows = await db.fetch_values(CLAIM_TRIGGERS, environment_id=environment_id, limit=limit, **lanes.parameters)
    return _in_order([read_trigger(row) for row in rows], limit)


async def list_waiting(
    db: Connection, environment_id: EnvironmentId, lanes: LaneSet, *, limit: int, batch_limit: int
) -> tuple[list[Trigger], list[RecipientBatch]]:
    """What `claim_triggers` and `list_batches` would find at one moment, without waiting for other workers."""
    scope = {"environment_id": environment_id, "limit": limit, "batch_limit": batch_limit, **lanes.parameters}
    rows = await db.fetch(LIST_WAITING, **scope)
    batches = [batch_of({**row, "id": row["batch_id"], "trigger_id": row["id"]}) for row in rows if row["batch_id"]]
    batches.sort(key=lambda one: (one.priority, one.trigger_id, one.id))
    return _in_order([trigger_of(row) for row in rows if not row["batch_id"]], limit), batches


def _in_order(triggers: Sequence[Trigger], limit: int) -> list[Trigger]:
    return sorted(triggers, key=lambda one: (one.priority, one.id))[:limit]


async def claim_fan_out(db: Connection, environment_id: EnvironmentId) -> Trigger | None:
    """The next trigger that is partly expanded, unless another worker is at it."""
    row = await db.fetch_one(CLAIM_FAN_OUT, environment_id=environment_id)
    return None if row is None else trigger_of(row)


async def insert_batches(db: Connection, environment_id: EnvironmentId, batches: Sequence[RecipientBatch]) -> None:
    rows = [
        (environment_id, one.id, one.trigger_id, int(one.priority), one.lane, one.topic, one.packed_ids)
        for one in batches
    ]
    if rows:
        await db.insert_many(BATCHES, rows)


async def list_batches(
    db: Connection, environment_id: EnvironmentId, lanes: LaneSet, *, limit: int
) -> tuple[list[RecipientBatch], int]:
    """The next batches of the lanes in the order of their triggers, and the version of the environment's configuration.

    The caller holds the lanes.
    """
    rows = await db.fetch(LIST_BATCHES, environment_id=environment_id, batch_limit=limit, **lanes.parameters)
    return [batch_of(row) for row in rows if row["id"] is not None], rows[0]["configuration_version"]


async def list_batches_beside(
    db: Connection, environment_id: EnvironmentId, lanes: LaneSet, known: Sequence[Trigger], *, limit: int
) -> tuple[list[RecipientBatch], int, bool]:
    """The same, and whether there are triggers at that moment which `claim_triggers` would find and are not known."""
    # An empty list is NULL on SQLite, and nothing is outside of that.
    known_ids = [one.id for one in known] or [TriggerId(bytes(16))]
    scope = {"environment_id": environment_id, "batch_limit": limit, "known": known_ids}
    rows = await db.fetch(LIST_BATCHES_BESIDE, **scope, **lanes.parameters)
    batches = [batch_of(row) for row in rows if row["id"] is not None]
    return batches, rows[0]["configuration_version"], bool(rows[0]["has_others"])


async def list_unfinished_ids(
    db: Connection, environment_id: EnvironmentId, lanes: LaneSet, *, limit: int
) -> tuple[list[TriggerId], list[bytes]]:
    """The ids of the next triggers and of the next batches of the lanes, whatever the rows hold otherwise."""
    scope = {"environment_id": environment_id, "limit": limit, **lanes.parameters}
    triggers = await db.fetch(LIST_UNFINISHED_IDS, **scope)
    batches = await db.fetch(LIST_BATCH_IDS, **scope)
    return [row["id"] for row in triggers], [row["id"] for row in batches]


async def find_batch(db: Connection, environment_id: EnvironmentId, batch_id: bytes) -> RecipientBatch | None:
    row = await db.fetch_one(FIND_BATCH, environment_id=environment_id, id=batch_id)
    return None if row is None else batch_of(row)


async def find_unfinished_trigger(
    db: Connection, environment_id: EnvironmentId, trigger_id: TriggerId
) -> Trigger | None:
    """The trigger, unless each recipient has a run or is in a batch."""
    row = await db.fetch_one(FIND_UNFINISHED_TRIGGER, environment_id=environment_id, id=trigger_id)
    return None if row is None else trigger_of(row)


async def mark_trigger_failed(db: Connection, environment_id: EnvironmentId, trigger_id: bytes) -> None:
    await db.execute(MARK_TRIGGER_FAILED, environment_id=environment_id, id=trigger_id)


async def delete_batches(db: Connection, environment_id: EnvironmentId, ids: Sequence[bytes]) -> None:
    if ids:
        await db.execute(DELETE_BATCHES, environment_id=environment_id, ids=list(ids))


async def list_triggers_by_id(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[TriggerId]
) -> dict[TriggerId, Trigger]:
    rows = await db.fetch(LIST_TRIGGERS_BY_ID, environment_id=environment_id, ids=list(dict.fromkeys(ids)))
    return {row["id"]: trigger_of(row) for row in rows}


async def mark_triggers_done(db: Connection, environment_id: EnvironmentId, trigger_ids: Sequence[TriggerId]) -> None:
    """Every recipient of these has a run, or is in a batch."""
    await db.execute(MARK_TRIGGERS_DONE, environment_id=environment_id, ids=trigger_ids)


async def update_position(
    db: Connection,
    environment_id: EnvironmentId,
    trigger_id: TriggerId,
    *,
    priority: Priority,
    position: ExpansionPosition,
) -> None:
    """Write how far expanding has come."""
    await db.execute(
        UPDATE_POSITION,
        environment_id=environment_id,
        id=trigger_id,
        priority=int(priority),
        position=json_text(position),
    )


async def find_trigger_by_transaction(
    db: Connection, environment_id: EnvironmentId, transaction_key: TransactionKey
) -> Trigger | None:
    scope = {"environment_id": environment_id, "transaction_key": transaction_key}
    row = await db.fetch_one(FIND_TRIGGER_BY_TRANSACTION, **scope)
    return None if row is None else trigger_of(row)


async def lock_trigger(db: Connection, environment_id: EnvironmentId, trigger_id: TriggerId) -> Trigger | None:
    row = await db.fetch_one(LOCK_TRIGGER, environment_id=environment_id, id=trigger_id)
    return None if row is None else trigger_of(row)


def batch_of(row: Row) -> RecipientBatch:
    return RecipientBatch(
        id=row["id"],
        trigger_id=row["trigger_id"],
        priority=Priority(row["priority"]),
        lane=row["lane"],
        topic=row["topic"],
        packed_ids=bytes(row["subscriber_ids"]),
    )


def trigger_of(row: Row) -> Trigger:
    """The trigger of a row that begins with the columns above."""
    return read_trigger(tuple(row.values()))


def read_trigger(values: Sequence[Any]) -> Trigger:
    environment_id, trigger_id, transaction_key, workflow_id, version_id = values[:5]
    payload, overrides, created_at, state, priority, lane, recipients, position, context, expires_at = values[5:15]
    return Trigger(
        environment_id=environment_id,
        id=trigger_id,
        transaction_key=transaction_key,
        workflow_id=workflow_id,
        version_id=version_id,
        payload=json_value(payload),
        overrides=json_value(overrides),
        contexts=json_value(context),
        created_at=created_at,
        state=_STATES[state],
        priority=_PRIORITIES[priority],
        lane=lane,
        recipients=Recipients() if recipients is None else decode_recipients(recipients),
        position=None if position is None else decode_position(position),
        expires_at=expires_at,
    )
