"""SQL of triggers."""

from collections.abc import Sequence

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
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

INSERT_TRIGGER = sql("""
    INSERT INTO triggers (
        environment_id, id, transaction_key, workflow_id, version_id, payload, overrides, created_at, state, priority,
        recipients
    ) VALUES (
        :environment_id, :id, :transaction_key, :workflow_id, :version_id, :payload, :overrides, :created_at, :state,
        :priority, :recipients
    )
    ON CONFLICT (environment_id, transaction_key) DO NOTHING
    RETURNING id
""")
CLAIM_TRIGGERS = sql(f"""
    SELECT {_COLUMNS} FROM triggers
    WHERE environment_id = :environment_id AND state = 'queued'
    ORDER BY priority, id LIMIT :most {{for_update}}
""")
LIST_TRIGGERS_BY_ID = sql(f"""
    SELECT {_COLUMNS} FROM triggers WHERE environment_id = :environment_id AND id {{any:ids}}
""")
UPDATE_TRIGGER = sql("""
    UPDATE triggers SET state = :state, priority = :priority, position = :position
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


async def insert_trigger(db: Connection, trigger: Trigger) -> bool:
    """Insert it, unless its transaction was seen before in the environment."""
    row = await db.fetch_one(
        INSERT_TRIGGER,
        environment_id=trigger.environment_id,
        id=trigger.id,
        transaction_key=trigger.transaction_key,
        workflow_id=trigger.workflow_id,
        version_id=trigger.version_id,
        payload=json_text(trigger.payload),
        overrides=None if trigger.overrides is None else json_text(trigger.overrides),
        created_at=trigger.created_at,
        state=trigger.state,
        priority=trigger.priority,
        recipients=json_text(trigger.recipients),
    )
    return row is not None


async def claim_triggers(db: Connection, environment_id: EnvironmentId, *, most: int) -> list[Trigger]:
    """The next triggers of the environment, critical ones first; the caller holds the environment's lane."""
    rows = await db.fetch(CLAIM_TRIGGERS, environment_id=environment_id, most=most)
    return [trigger_of(row) for row in rows]


async def list_triggers_by_id(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[TriggerId]
) -> dict[TriggerId, Trigger]:
    rows = await db.fetch(LIST_TRIGGERS_BY_ID, environment_id=environment_id, ids=list(dict.fromkeys(ids)))
    return {row["id"]: trigger_of(row) for row in rows}


async def update_triggers(
    db: Connection,
    environment_id: EnvironmentId,
    changes: Sequence[tuple[TriggerId, TriggerState, Priority, Position | None]],
) -> None:
    """Write how far the given triggers have come."""
    rows = [
        {
            "environment_id": environment_id,
            "id": trigger_id,
            "state": state,
            "priority": int(priority),
            "position": None if position is None else json_text(position),
        }
        for trigger_id, state, priority, position in changes
    ]
    await db.execute_many(UPDATE_TRIGGER, rows)


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
