"""SQL of canceling triggers, whose runs are canceled in chunks."""

from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, NotificationId, TriggerId, find_id, id_text
from clarion.jsontext import json_text
from clarion.triggers.model import ExpansionPosition, Trigger, TriggerState
from clarion.triggers.store import COLUMNS, trigger_of

CLAIM_CANCELING = sql(f"""
    SELECT {COLUMNS} FROM triggers
    WHERE environment_id = :environment_id AND state = 'canceling' ORDER BY id LIMIT 1 {{skip_locked}}
""")
MARK_CANCELED = sql("""
    UPDATE triggers SET state = :state, position = :position WHERE environment_id = :environment_id AND id = :id
""")
DELETE_BATCHES_OF_TRIGGER = sql("""
    DELETE FROM trigger_parts WHERE environment_id = :environment_id AND trigger_id = :trigger_id
""")
LIST_RUN_IDS = sql("""
    SELECT id FROM notifications
    WHERE environment_id = :environment_id AND trigger_id = :trigger_id AND id > :after ORDER BY id LIMIT :limit
""")
HAS_UNFINISHED_RUNS = sql("""
    SELECT 1 FROM notifications AS n
    WHERE n.environment_id = :environment_id AND n.trigger_id = :trigger_id AND n.id > :after AND EXISTS (
        SELECT 1 FROM jobs AS j WHERE j.environment_id = n.environment_id AND j.notification_id = n.id
        AND j.status IN ('pending', 'queued', 'delayed', 'running')
    )
    LIMIT 1
""")


async def claim_canceling(db: Connection, environment_id: EnvironmentId) -> Trigger | None:
    """The next canceled trigger that has jobs left to be marked, unless another worker is at it."""
    row = await db.fetch_one(CLAIM_CANCELING, environment_id=environment_id)
    return None if row is None else trigger_of(row)


async def mark_canceled(
    db: Connection, environment_id: EnvironmentId, trigger_id: TriggerId, *, position: NotificationId | None
) -> None:
    """Mark a trigger as canceled; `position` is its last run that is canceled, where there are more."""
    state = TriggerState.CANCELED if position is None else TriggerState.CANCELING
    text = None if position is None else json_text(ExpansionPosition(after=id_text(position)))
    await db.execute(MARK_CANCELED, environment_id=environment_id, id=trigger_id, state=state, position=text)


async def delete_batches_of_trigger(db: Connection, environment_id: EnvironmentId, trigger_id: TriggerId) -> int:
    """Remove recipients who have no run yet; returns how many batches there were."""
    return await db.execute(DELETE_BATCHES_OF_TRIGGER, environment_id=environment_id, trigger_id=trigger_id)


async def list_run_ids(
    db: Connection, environment_id: EnvironmentId, trigger_id: TriggerId, *, after: str | None, limit: int
) -> list[NotificationId]:
    """The next runs of a trigger, in the order of their ids."""
    last = (find_id(after) if after else None) or bytes(16)
    scope = {"environment_id": environment_id, "trigger_id": trigger_id}
    return [row["id"] for row in await db.fetch(LIST_RUN_IDS, **scope, after=last, limit=limit)]


async def has_unfinished_runs(
    db: Connection, environment_id: EnvironmentId, trigger_id: TriggerId, *, after: NotificationId
) -> bool:
    """Whether a run of the trigger behind `after` has something left to do."""
    scope = {"environment_id": environment_id, "trigger_id": trigger_id}
    return await db.fetch_one(HAS_UNFINISHED_RUNS, **scope, after=after) is not None
