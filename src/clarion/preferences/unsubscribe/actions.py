"""Finds who follows a link, and changes what they want."""

from collections.abc import Collection, Mapping

from msgspec import Struct

from clarion.clock import Millis
from clarion.content.environment import get_environment_content
from clarion.content.links import read_environment_id
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, id_text
from clarion.jsontext import json_value
from clarion.preferences import store
from clarion.preferences.actions import (
    PreferenceOverview,
    get_overview,
    let_texts_through,
    list_layers,
    switch_channels,
)
from clarion.preferences.model import ChangeReason, DecidingLayer, PreferenceScope, decide_channel, layers_of
from clarion.preferences.unsubscribe.page import Choice
from clarion.preferences.unsubscribe.targets import read_target
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import get_subscriber, list_subscribers_by_id
from clarion.vault import Vault
from clarion.vocabulary import Channel
from clarion.workflows.model import Workflow
from clarion.workflows.store import list_workflows_by_id

# Of a deleted environment, and of one that somebody made up, nothing is loaded into caches.
FIND_VERSION = sql("""
    SELECT configuration_version FROM environments AS e
    WHERE e.id = :environment_id AND e.deleted_at IS NULL
""")

Switches = Mapping[tuple[str, Channel], bool]
"""What is wanted, by the text of a workflow's id and the channel."""


class Visitor(Struct, frozen=True, kw_only=True):
    """Who follows a link, and what it is about."""

    environment_id: EnvironmentId
    subscriber: Subscriber
    workflow: Workflow | None
    """None: it is deleted."""
    channel: Channel
    context_keys: tuple[str, ...]
    is_for_all_contexts: bool
    """Whether what they switch holds in all contexts in which they have switched anything, too."""
    default_locale: str

    def scope_of(self, subscriber: Subscriber) -> PreferenceScope:
        """What they see and switch: in the contexts of the message alone."""
        return PreferenceScope(subscriber, self.context_keys)


async def find_visitor(db: Connection, token: str, vault: Vault) -> Visitor | None:
    """Find who a token was made for; None if it is no token of ours, or the person does not exist any more."""
    environment_id = read_environment_id(token)
    row = None if environment_id is None else await db.fetch_one(FIND_VERSION, environment_id=environment_id)
    if environment_id is None or row is None:
        return None
    content = await get_environment_content(db, environment_id, row["configuration_version"], vault)
    target = None if content.link_secret is None else read_target(content.link_secret, token)
    if target is None:
        return None
    people = await list_subscribers_by_id(db, environment_id, [target.subscriber_id])
    if target.subscriber_id not in people:
        return None
    workflow = (await list_workflows_by_id(db, environment_id, [target.workflow_id])).get(target.workflow_id)
    return Visitor(
        environment_id=environment_id,
        subscriber=people[target.subscriber_id],
        workflow=None if workflow is None or workflow.deleted_at is not None else workflow,
        channel=target.channel,
        context_keys=target.context_keys,
        is_for_all_contexts=target.is_for_all_contexts,
        default_locale=content.default_locale,
    )


async def is_subscribed(db: Connection, visitor: Visitor, workflow: Workflow) -> bool:
    """Return whether the visitor gets the messages of the workflow in the channel of the link, in any of its places."""
    for scope in await _list_scopes(db, visitor, visitor.subscriber):
        layers = layers_of(workflow, list_layers(await store.list_preferences(db, scope), scope, workflow.id))
        if decide_channel(layers, visitor.channel).enabled:
            return True
    return False


async def change_subscription(
    db: Connection, visitor: Visitor, workflow: Workflow, *, is_on: bool, reason: ChangeReason, now: Millis
) -> None:
    """Switch the channel of the link for its workflow, unless the person has done so already."""
    subscriber = await get_subscriber(db, visitor.environment_id, visitor.subscriber.key, for_update=True)
    for scope in await _list_scopes(db, visitor, subscriber):
        choice = (await store.list_preferences(db, scope)).get((subscriber.id, scope.contexts, workflow.id))
        decision = decide_channel([(DecidingLayer.SUBSCRIBER_WORKFLOW, choice)], visitor.channel)
        if decision.layer is None or decision.enabled is not is_on:
            await switch_channels(db, scope, workflow, {visitor.channel: is_on}, now, reason=reason)
    await let_texts_through(db, subscriber, {visitor.channel: is_on})


async def list_choices(db: Connection, visitor: Visitor) -> tuple[list[Choice], list[str]]:
    """List what the visitor can choose from, and the names of the workflows that they always get."""
    overview = await get_overview(db, visitor.scope_of(visitor.subscriber))
    choices = [
        Choice(
            id_text(item.workflow.id),
            item.workflow.name,
            {channel: decided.enabled for channel, decided in item.decision.channels.items()},
        )
        for item in overview.workflows
        if not item.workflow.is_critical and item.decision.channels
    ]
    return choices, [item.workflow.name for item in overview.workflows if item.workflow.is_critical]


async def save_choices(
    db: Connection, visitor: Visitor, *, shown: Collection[str], on: Collection[str], now: Millis
) -> None:
    """Change what differs from what the person sees: `shown` and `on` are texts `<workflow id>.<channel>`."""
    subscriber = await get_subscriber(db, visitor.environment_id, visitor.subscriber.key, for_update=True)
    scope = visitor.scope_of(subscriber)
    places = await _list_scopes(db, visitor, subscriber)
    for workflow, changes in _list_changes(await get_overview(db, scope), shown, on):
        for place in places:
            await switch_channels(db, place, workflow, changes, now, reason=ChangeReason.LINK)
        await let_texts_through(db, subscriber, changes)


async def _list_scopes(db: Connection, visitor: Visitor, subscriber: Subscriber) -> list[PreferenceScope]:
    """Where the link switches: in its contexts, or everywhere."""
    own = visitor.scope_of(subscriber)
    if not visitor.is_for_all_contexts:
        return [own]
    sets = await store.list_context_sets(db, subscriber)
    return [own, *(PreferenceScope(subscriber, tuple(json_value(one))) for one in sets)]


def _list_changes(
    overview: PreferenceOverview, shown: Collection[str], on: Collection[str]
) -> list[tuple[Workflow, dict[Channel, bool]]]:
    changed: list[tuple[Workflow, dict[Channel, bool]]] = []
    for item in overview.workflows:
        names = {channel: f"{id_text(item.workflow.id)}.{channel}" for channel in item.decision.channels}
        changes = {
            channel: names[channel] in on
            for channel, decided in item.decision.channels.items()
            if names[channel] in shown and decided.enabled is not (names[channel] in on)
        }
        if changes and not item.workflow.is_critical:
            changed.append((item.workflow, changes))
    return changed
