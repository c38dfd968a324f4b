"""SQL of triggers."""

from collections.abc import Sequence
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId, TransactionKey, TriggerId
from clarion.jsontext import json_text, json_value
from clarion.triggers.model import (
    Position,
    Priority,
    Recipients,
    Trigger,
    TriggerState,
    decode_position,
    decode_recipients,
)

_COLUMNS = """
    environment_id, id, transaction_key, workflow_id, version_id, payload, overrides, created_at, state, priority,
    recipients, position
"""

TRIGGERS = Insert(
    "triggers",
    *("environment_id", "id", "transaction_key", "workflow_id", "version_id", "payload", "overrides"),
    *("created_at", "state", "priority", "recipients"),
    on_conflict="ON CONFLICT (environment_id, transaction_key) DO NOTHING",
)
CLAIM_TRIGGERS = sql(f"""
    SELECT {_COLUMNS} FROM triggers
    WHERE environment_id = :environment_id AND state = 'queued'
    ORDER BY priority, id LIMIT :limit {{for_update}}
""")
LIST_TRIGGERS_BY_ID = sql(f"""
    SELECT {_COLUMNS} FROM triggers WHERE environment_id = :environment_id AND id {{any:ids}}
""")
MARK_TRIGGERS_DONE = sql("""
    UPDATE triggers SET state = 'done' WHERE environment_id = :environment_id AND id {any:ids}
""")
UPDATE_POSITION = sql("""
    UPDATE triggers SET priority = :priority, position = :position
    WHERE environment_id = :environment_id AND id = :id
""")
FIND_TRIGGER_FOR_UPDATE = sql(f"""
    SELECT {_COLUMNS} FROM triggers
    WHERE environment_id = :environment_id AND transaction_key = :transaction_key {{for_update}}
""")
CANCEL_TRIGGER = sql("""
    UPDATE triggers SET state = 'canceled'
    WHERE environment_id = :environment_id AND id = :id AND state = 'queued'
""")


async def insert_triggers(db: Connection, triggers: Sequence[Trigger]) -> None:
    """Insert them, but those whose transaction was seen before in their environment."""
    if triggers:
        await db.insert_many(TRIGGERS, [_row(one) for one in triggers])


def _row(one: Trigger) -> tuple[Any, ...]:
    overrides = None if one.overrides is None else json_text(one.overrides)
    return (
        *(one.environment_id, one.id, one.transaction_key, one.workflow_id, one.version_id, json_text(one.payload)),
        *(overrides, one.created_at, one.state, int(one.priority), json_text(one.recipients)),
    )


async def claim_triggers(db: Connection, environment_id: EnvironmentId, *, limit: int) -> list[Trigger]:
    """The next triggers of the environment, critical ones first; the caller holds the environment's lane."""
    rows = await db.fetch(CLAIM_TRIGGERS, environment_id=environment_id, limit=limit)
    return [trigger_of(row) for row in rows]


async def list_triggers_by_id(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[TriggerId]
) -> dict[TriggerId, Trigger]:
    rows = await db.fetch(LIST_TRIGGERS_BY_ID, environment_id=environment_id, ids=list(dict.fromkeys(ids)))
    return {row["id"]: trigger_of(row) for row in rows}


async def mark_triggers_done(db: Connection, environment_id: EnvironmentId, trigger_ids: Sequence[TriggerId]) -> None:
    """Every recipient of these has a run."""
    await db.execute(MARK_TRIGGERS_DONE, environment_id=environment_id, ids=trigger_ids)


async def update_position(
    db: Connection, environment_id: EnvironmentId, trigger_id: TriggerId, *, priority: Priority, position: Position
) -> None:
    """Write how far the expansion of a trigger has come."""
    await db.execute(
        UPDATE_POSITION,
        environment_id=environment_id,
        id=trigger_id,
        priority=int(priority),
        position=json_text(position),
    )


async def find_trigger_for_update(
    db: Connection, environment_id: EnvironmentId, transaction_key: TransactionKey
) -> Trigger | None:
    row = await db.fetch_one(FIND_TRIGGER_FOR_UPDATE, environment_id=environment_id, transaction_key=transaction_key)
    return None if row is None else trigger_of(row)


async def cancel_trigger(db: Connection, environment_id: EnvironmentId, trigger_id: TriggerId) -> bool:
    """Stop the expansion; tells whether it was under way."""
    return await db.execute(CANCEL_TRIGGER, environment_id=environment_id, id=trigger_id) > 0


def trigger_of(row: Row) -> Trigger:
    recipients, position = row["recipients"], row["position"]
    return Trigger(
        environment_id=row["environment_id"],
        id=row["id"],
        transaction_key=row["transaction_key"],
        workflow_id=row["workflow_id"],
        version_id=row["version_id"],
        payload=json_value(row["payload"]),
        overrides=json_value(row["overrides"]),
        created_at=Millis(row["created_at"]),
        state=TriggerState(row["state"]),
        priority=Priority(row["priority"]),
        recipients=Recipients() if recipients is None else decode_recipients(recipients),
        position=None if position is None else decode_position(position),
    )
