"""SQL of preferences."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.errors import Invalid
from clarion.ids import EnvironmentId, SubscriberId, WorkflowId
from clarion.jsontext import json_text
from clarion.preferences.model import GLOBAL, ChangeReason, PreferenceScope, SubscriberLayers
from clarion.subscribers.model import Subscriber
from clarion.vocabulary import Channel
from clarion.workflows.model import PreferenceLayer, Switch

_ON, _OFF = Switch(enabled=True), Switch(enabled=False)
_CHANNELS = {one.value: one for one in Channel}  # faster than a call of the enum, and read for every trigger

MAX_CONTEXTS = 200
"""In how many sets of contexts one person can have preferences."""

LIST_PREFERENCES = sql("""
    SELECT subscriber_id, '' AS context_keys, workflow_id, channel, enabled, reason FROM preferences
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id
""")
LIST_PREFERENCES_OF_PEOPLE = sql("""
    SELECT subscriber_id, '' AS context_keys, workflow_id, channel, enabled, reason FROM preferences
    WHERE environment_id = :environment_id AND subscriber_id {any:subscriber_ids} AND workflow_id {any:workflow_ids}
""")
LIST_IN_CONTEXTS = sql("""
    SELECT subscriber_id, context_keys, workflow_id, channel, enabled, reason FROM context_preferences
    WHERE environment_id = :environment_id AND subscriber_id {any:subscriber_ids} AND context_keys {any:contexts}
""")
UPSERT_PREFERENCE = sql("""
    INSERT INTO preferences (environment_id, subscriber_id, workflow_id, channel, enabled, updated_at, reason)
    VALUES (:environment_id, :subscriber_id, :workflow_id, :channel, :enabled, :now, :reason)
    ON CONFLICT (environment_id, subscriber_id, workflow_id, channel) DO UPDATE
    SET enabled = excluded.enabled, updated_at = excluded.updated_at, reason = excluded.reason
""")
UPSERT_IN_CONTEXT = sql("""
    INSERT INTO context_preferences (
        environment_id, subscriber_id, context_keys, workflow_id, channel, enabled, updated_at, reason
    ) VALUES (:environment_id, :subscriber_id, :contexts, :workflow_id, :channel, :enabled, :now, :reason)
    ON CONFLICT (environment_id, subscriber_id, context_keys, workflow_id, channel) DO UPDATE
    SET enabled = excluded.enabled, updated_at = excluded.updated_at, reason = excluded.reason
""")
# Sets in which nothing is switched off come first.
LIST_OTHER_CONTEXTS = sql("""
    SELECT context_keys FROM context_preferences
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND context_keys <> :contexts
    GROUP BY context_keys
    ORDER BY MIN(CASE WHEN enabled THEN 1 ELSE 0 END) DESC, MAX(updated_at), context_keys
""")
DELETE_CONTEXT_SET = sql("""
    DELETE FROM context_preferences
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND context_keys = :contexts
""")

DELETE_WORKFLOW_CHOICES = sql("""
    DELETE FROM preferences
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND workflow_id <> :global
    AND channel {any:channels}
""")
DELETE_WORKFLOW_CHOICES_IN_CONTEXT = sql("""
    DELETE FROM context_preferences
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND context_keys = :contexts
    AND workflow_id <> :global AND channel {any:channels}
""")
DELETE_OF_CONTEXT = sql("""
    DELETE FROM context_preferences
    WHERE environment_id = :environment_id AND {position}(context_keys, :name) > 0
""")
DELETE_IN_ALL_CONTEXTS = sql("""
    DELETE FROM context_preferences
    WHERE environment_id = :environment_id AND subscriber_id = :subscriber_id AND channel = :channel
""")


async def list_preferences(db: Connection, scope: PreferenceScope) -> SubscriberLayers:
    """Return every layer of one subscriber: what holds everywhere and, in contexts, what holds there."""
    person = {"environment_id": scope.subscriber.environment_id, "subscriber_id": scope.subscriber.id}
    layers = _layers(await db.fetch_values(LIST_PREFERENCES, **person))
    if not scope.context_keys:
        return layers
    return layers | await _list_in_contexts(db, scope.subscriber.environment_id, [scope.subscriber.id], scope.contexts)


async def list_preferences_of_people(
    db: Connection,
    environment_id: EnvironmentId,
    subscriber_ids: list[SubscriberId],
    workflow_ids: list[WorkflowId],
    contexts: Collection[str] = (),
) -> SubscriberLayers:
    """Return the layers of several subscribers for the given workflows and GLOBAL, and all that they have in contexts.

    `contexts` are sets as they are stored.
    """
    rows = await db.fetch_values(
        LIST_PREFERENCES_OF_PEOPLE,
        environment_id=environment_id,
        subscriber_ids=subscriber_ids,
        workflow_ids=[GLOBAL, *workflow_ids],
    )
    layers = _layers(rows)
    if not contexts:
        return layers
    return layers | await _list_in_contexts(db, environment_id, subscriber_ids, *sorted(contexts))


async def update_preferences(
    db: Connection,
    scope: PreferenceScope,
    *,
    workflow_id: WorkflowId,
    channels: Mapping[Channel, bool],
    now: Millis,
    reason: ChangeReason | None = None,
) -> None:
    """Set the given channels and leave the others; each channel is a row, so concurrent changes do not conflict.

    In contexts, the caller has locked the person.
    """
    person = {"environment_id": scope.subscriber.environment_id, "subscriber_id": scope.subscriber.id}
    place = person | ({"contexts": scope.contexts} if scope.context_keys else {})
    common = place | {"workflow_id": workflow_id, "now": now, "reason": reason}
    rows: list[dict[str, Any]] = [
        common | {"channel": channel, "enabled": enabled} for channel, enabled in sorted(channels.items())
    ]
    if rows and scope.context_keys:
        await _make_room(db, scope, is_refusable=reason is None and all(channels.values()))
    if rows:
        await db.execute_many(UPSERT_IN_CONTEXT if scope.context_keys else UPSERT_PREFERENCE, rows)


async def delete_workflow_choices(db: Connection, scope: PreferenceScope, *, channels: Sequence[Channel]) -> None:
    """Delete what the subscriber has set for the channels in single workflows."""
    person = {"environment_id": scope.subscriber.environment_id, "subscriber_id": scope.subscriber.id}
    place: dict[str, Any] = person | {"global": GLOBAL}
    if scope.context_keys:
        statement, place = DELETE_WORKFLOW_CHOICES_IN_CONTEXT, place | {"contexts": scope.contexts}
    else:
        statement = DELETE_WORKFLOW_CHOICES
    await db.execute(statement, **place, channels=list(channels))


async def delete_in_all_contexts(db: Connection, subscriber: Subscriber, channel: Channel) -> None:
    """Delete what the subscriber has set for a channel in contexts, so that what holds everywhere holds there."""
    place = {"environment_id": subscriber.environment_id, "subscriber_id": subscriber.id}
    await db.execute(DELETE_IN_ALL_CONTEXTS, **place, channel=channel)


async def list_context_sets(db: Connection, subscriber: Subscriber) -> list[str]:
    """The sets of contexts in which a person has preferences, as they are stored."""
    person = {"environment_id": subscriber.environment_id, "subscriber_id": subscriber.id}
    return [row["context_keys"] for row in await db.fetch(LIST_OTHER_CONTEXTS, **person, contexts="")]


async def delete_of_context(db: Connection, environment_id: EnvironmentId, kind: str, key: str) -> None:
    """Delete what anybody has set in sets with this context."""
    await db.execute(DELETE_OF_CONTEXT, environment_id=environment_id, name=json_text(f"{kind}:{key}"))


async def _make_room(db: Connection, scope: PreferenceScope, *, is_refusable: bool) -> None:
    """Delete the oldest set of contexts where there are too many; who switches off is never refused for them."""
    person = {"environment_id": scope.subscriber.environment_id, "subscriber_id": scope.subscriber.id}
    others = await db.fetch(LIST_OTHER_CONTEXTS, **person, contexts=scope.contexts)
    if len(others) < MAX_CONTEXTS:
        return
    if is_refusable:
        raise Invalid.field("context", f"would be the {MAX_CONTEXTS + 1}st in which this person has preferences")
    await db.execute(DELETE_CONTEXT_SET, **person, contexts=others[0]["context_keys"])


async def _list_in_contexts(
    db: Connection, environment_id: EnvironmentId, subscriber_ids: Sequence[SubscriberId], *contexts: str
) -> SubscriberLayers:
    scope = {"environment_id": environment_id, "subscriber_ids": list(subscriber_ids), "contexts": list(contexts)}
    return _layers(await db.fetch_values(LIST_IN_CONTEXTS, **scope))


def _layers(rows: Iterable[Sequence[Any]]) -> SubscriberLayers:
    switches: dict[tuple[SubscriberId, str, WorkflowId], dict[Channel, Switch]] = {}
    for subscriber_id, contexts, workflow_id, channel, enabled, reason in rows:
        switch = _ON if enabled else _OFF
        own = switches.setdefault((subscriber_id, contexts, workflow_id), {})
        own[_CHANNELS[channel]] = switch if reason is None else replace(switch, reason=reason)
    return {place: PreferenceLayer(channels=channels) for place, channels in switches.items()}
