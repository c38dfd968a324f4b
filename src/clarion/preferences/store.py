"""SQL of what people switched."""

from collections.abc import Mapping
from typing import Any

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SubscriberId, WorkflowId
from clarion.vocabulary import Channel
from clarion.workflows.model import PreferenceLayer, Switch

GLOBAL = WorkflowId(bytes(16))
"""In place of a workflow: the person's global layer."""

LIST_PREFERENCES = sql("""
    SELECT workflow_id, channel, enabled FROM preferences
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id
""")
UPSERT_PREFERENCE = sql("""
    INSERT INTO preferences (environment_id, subscriber_id, workflow_id, channel, enabled, updated_at)
    VALUES (:environment_id, :subscriber_id, :workflow_id, :channel, :enabled, :now)
    ON CONFLICT (environment_id, subscriber_id, workflow_id, channel) DO UPDATE
    SET enabled = excluded.enabled, updated_at = excluded.updated_at
""")


async def list_preferences(
    db: Connection, environment_id: EnvironmentId, subscriber_id: SubscriberId
) -> dict[WorkflowId, PreferenceLayer]:
    """Everything that one person set, by workflow, GLOBAL among them."""
    rows = await db.fetch(LIST_PREFERENCES, environment_id=environment_id, subscriber_id=subscriber_id)
    switches: dict[WorkflowId, dict[Channel, Switch]] = {}
    for row in rows:
        switches.setdefault(row["workflow_id"], {})[Channel(row["channel"])] = Switch(bool(row["enabled"]))
    return {workflow_id: PreferenceLayer(channels=channels) for workflow_id, channels in switches.items()}


async def update_preferences(
    db: Connection,
    environment_id: EnvironmentId,
    subscriber_id: SubscriberId,
    *,
    workflow_id: WorkflowId,
    channels: Mapping[Channel, bool],
    now: Millis,
) -> None:
    """Set the given channels and leave the others; each is a row, so that concurrent changes do not meet."""
    rows: list[dict[str, Any]] = [
        {
            "environment_id": environment_id,
            "subscriber_id": subscriber_id,
            "workflow_id": workflow_id,
            "channel": channel,
            "enabled": enabled,
            "now": now,
        }
        for channel, enabled in sorted(channels.items())
    ]
    if rows:
        await db.execute_many(UPSERT_PREFERENCE, rows)
