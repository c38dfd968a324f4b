"""SQL of preferences."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, SubscriberId, WorkflowId
from clarion.preferences.model import ChangeReason
from clarion.subscribers.model import Subscriber
from clarion.vocabulary import Channel
from clarion.workflows.model import PreferenceLayer, Switch

GLOBAL = WorkflowId(bytes(16))
"""Stands in the place of a workflow id for the subscriber's global layer."""
_ON, _OFF = Switch(enabled=True), Switch(enabled=False)
_CHANNELS = {one.value: one for one in Channel}  # faster than a call of the enum, and read for every trigger

SubscriberLayers = dict[tuple[SubscriberId, WorkflowId], PreferenceLayer]

LIST_PREFERENCES = sql("""
    SELECT subscriber_id, workflow_id, channel, enabled, reason FROM preferences
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id
""")
LIST_PREFERENCES_OF_PEOPLE = sql("""
    SELECT subscriber_id, workflow_id, channel, enabled, reason FROM preferences
    WHERE environment_id = :environment_id AND subscriber_id {any:subscriber_ids} AND workflow_id {any:workflow_ids}
""")
UPSERT_PREFERENCE = sql("""
    INSERT INTO preferences (environment_id, subscriber_id, workflow_id, channel, enabled, updated_at, reason)
    VALUES (:environment_id, :subscriber_id, :workflow_id, :channel, :enabled, :now, :reason)
    ON CONFLICT (environment_id, subscriber_id, workflow_id, channel) DO UPDATE
    SET enabled = excluded.enabled, updated_at = excluded.updated_at, reason = excluded.reason
""")

DELETE_WORKFLOW_CHOICES = sql("""
    DELETE FROM preferences
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND workflow_id <> :global
    AND channel {any:channels}
""")


async def list_preferences(
    db: Connection, environment_id: EnvironmentId, subscriber_id: SubscriberId
) -> dict[WorkflowId, PreferenceLayer]:
    """Return every layer of one subscriber, by workflow or GLOBAL."""
    rows = await db.fetch_values(LIST_PREFERENCES, environment_id=environment_id, subscriber_id=subscriber_id)
    return {workflow_id: layer for (_, workflow_id), layer in _layers(rows).items()}


async def list_preferences_of_people(
    db: Connection, environment_id: EnvironmentId, subscriber_ids: list[SubscriberId], workflow_ids: list[WorkflowId]
) -> SubscriberLayers:
    """Return the layers of several subscribers for the given workflows and GLOBAL."""
    rows = await db.fetch_values(
        LIST_PREFERENCES_OF_PEOPLE,
        environment_id=environment_id,
        subscriber_ids=subscriber_ids,
        workflow_ids=[GLOBAL, *workflow_ids],
    )
    return _layers(rows)


async def update_preferences(
    db: Connection,
    subscriber: Subscriber,
    *,
    workflow_id: WorkflowId,
    channels: Mapping[Channel, bool],
    now: Millis,
    reason: ChangeReason | None = None,
) -> None:
    """Set the given channels and leave the others; each channel is a row, so concurrent changes do not conflict."""
    rows: list[dict[str, Any]] = [
        {
            "environment_id": subscriber.environment_id,
            "subscriber_id": subscriber.id,
            "workflow_id": workflow_id,
            "channel": channel,
            "enabled": enabled,
            "now": now,
            "reason": reason,
        }
        for channel, enabled in sorted(channels.items())
    ]
    if rows:
        await db.execute_many(UPSERT_PREFERENCE, rows)


async def delete_workflow_choices(
    db: Connection, environment_id: EnvironmentId, subscriber_id: SubscriberId, *, channels: Sequence[Channel]
) -> None:
    """Delete what the subscriber has set for the channels in single workflows."""
    scope = {"environment_id": environment_id, "subscriber_id": subscriber_id, "global": GLOBAL}
    await db.execute(DELETE_WORKFLOW_CHOICES, **scope, channels=list(channels))


def _layers(rows: Iterable[Sequence[Any]]) -> SubscriberLayers:
    switches: dict[tuple[SubscriberId, WorkflowId], dict[Channel, Switch]] = {}
    for subscriber_id, workflow_id, channel, enabled, reason in rows:
        switch = _ON if enabled else _OFF
        own = switches.setdefault((subscriber_id, workflow_id), {})
        own[_CHANNELS[channel]] = switch if reason is None else replace(switch, reason=reason)
    return {scope: PreferenceLayer(channels=channels) for scope, channels in switches.items()}
