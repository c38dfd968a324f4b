"""Preferences in the inbox: what subscribers themselves want to receive, and when."""

from collections.abc import Sequence

from msgspec import UnsetType

from clarion.contexts.store import list_existing
from clarion.errors import Invalid
from clarion.http.operation import Call, Transaction, operation
from clarion.http.wire import changes_of
from clarion.inbox.preference_wire import (
    BulkPreferenceIn,
    BulkPreferenceOut,
    InboxBulkPreferencesPatch,
    InboxPreferenceOut,
    InboxPreferencePatch,
    InboxPreferencesQuery,
)
from clarion.inbox.sessions.quota import check_schedule, limited_subscriptions
from clarion.inbox.sessions.tokens import get_session_subscriber
from clarion.inbox.wire import Reply
from clarion.jsontext import plain_value
from clarion.preferences import actions
from clarion.preferences.model import PreferenceScope
from clarion.preferences.topic_rules import update_subscription_preference
from clarion.preferences.wire import ChangedPreferenceOut, SubscriptionPreferenceOut
from clarion.subscribers.model import Subscriber
from clarion.workflows.model import Workflow


@operation("GET", "/v1/inbox/preferences", session=True, query=InboxPreferencesQuery, transaction=Transaction.SCAN)
async def list_inbox_preferences(call: Call, query: InboxPreferencesQuery) -> Reply[list[InboxPreferenceOut]]:
    """List the subscriber's preferences: the global one first, then one for each active workflow."""
    subscriber = await get_session_subscriber(call)
    overview = await actions.get_overview(call.db, _scope(call, subscriber))
    wanted = [decided for decided in overview.of_criticality(query.criticality) if _is_wanted(decided.workflow, query)]
    return Reply(
        data=[
            InboxPreferenceOut.of_all(subscriber, overview.global_decision),
            *(InboxPreferenceOut.of_workflow(decided) for decided in wanted),
        ]
    )


@operation("GET", "/v1/inbox/preferences/global", session=True, transaction=Transaction.SCAN)
async def get_inbox_global_preference(call: Call) -> Reply[InboxPreferenceOut]:
    """Retrieve the subscriber's preference for all workflows, with their schedule."""
    return await _global(call, await get_session_subscriber(call))


@operation("PATCH", "/v1/inbox/preferences", session=True, body=InboxPreferencePatch, body_optional=True)
async def update_inbox_global_preference(call: Call, body: InboxPreferencePatch) -> Reply[InboxPreferenceOut]:
    """Switch channels on or off for all workflows, which removes choices for single workflows, or set the schedule."""
    subscriber = await get_session_subscriber(call, for_update=True)
    await actions.switch_channels_everywhere(
        call.db, await _changed_scope(call, subscriber, body), body.given(), call.now
    )
    await actions.let_texts_through(call.db, subscriber, body.given())
    if not isinstance(body.schedule, UnsetType):
        schedule = plain_value(body.schedule)
        check_schedule(schedule, "schedule", is_proven=call.session.is_proven)
        subscriber = await actions.set_schedule(call.db, subscriber, schedule, call.now)
    return await _global(call, subscriber)


@operation(
    "PATCH",
    "/v1/inbox/preferences/bulk",
    session=True,
    body=InboxBulkPreferencesPatch,
    items=lambda body: len(body.preferences),
)
async def update_inbox_preferences_in_bulk(
    call: Call, body: InboxBulkPreferencesPatch
) -> Reply[list[BulkPreferenceOut]]:
    """Switch up to 100 workflows, also in subscriptions to topics: all of them, or none when one cannot be changed."""
    subscriber = await get_session_subscriber(call, for_update=True)
    async with limited_subscriptions(call, "preferences"):
        return Reply(data=await _switch_workflows(call, subscriber, body.preferences))


@operation("PATCH", "/v1/inbox/preferences/{workflowId}", session=True, body=InboxPreferencePatch, body_optional=True)
async def update_inbox_workflow_preference(
    call: Call, reference: str, body: InboxPreferencePatch
) -> Reply[InboxPreferenceOut]:
    """Switch channels of one workflow, named by its id or identifier."""
    subscriber = await get_session_subscriber(call, for_update=True)
    if not isinstance(body.schedule, UnsetType):
        raise Invalid.field("schedule", "belongs to the global preference; send it to PATCH /v1/inbox/preferences")
    workflow = await actions.get_changeable_workflow(call.db, call.environment_id, reference, path="workflowId")
    await actions.switch_channels(
        call.db, await _changed_scope(call, subscriber, body), workflow, body.given(), call.now
    )
    await actions.let_texts_through(call.db, subscriber, body.given())
    (decided,) = await actions.decide_workflows(call.db, _scope(call, subscriber), [workflow])
    return Reply(data=InboxPreferenceOut.of_workflow(decided))


def _scope(call: Call, subscriber: Subscriber) -> PreferenceScope:
    return PreferenceScope(subscriber, call.session.context_keys)


async def _changed_scope(
    call: Call, subscriber: Subscriber, body: InboxPreferencePatch | BulkPreferenceIn
) -> PreferenceScope:
    """What is switched; anybody can begin a session without proof, which makes no preferences in made-up contexts."""
    keys = call.session.context_keys
    if keys and body.given() and not call.session.is_proven:
        named = [(kind, key) for kind, _, key in (one.partition(":") for one in keys)]
        existing = await list_existing(call.db, call.environment_id, named)
        missing = [f"{kind}:{key}" for kind, key in named if (kind, key) not in existing]
        if missing:
            message = f"of this session is not proven, and does not exist; create it first: {', '.join(missing)}"
            raise Invalid.field("context", message)
    return _scope(call, subscriber)


async def _global(call: Call, subscriber: Subscriber) -> Reply[InboxPreferenceOut]:
    overview = await actions.get_overview(call.db, _scope(call, subscriber))
    return Reply(data=InboxPreferenceOut.of_all(subscriber, overview.global_decision))


async def _switch_workflows(
    call: Call, subscriber: Subscriber, items: Sequence[BulkPreferenceIn]
) -> list[BulkPreferenceOut]:
    """Change preferences of workflows; those in subscriptions to topics are named by `subscriptionIdentifier`."""
    workflows: dict[int, Workflow] = {}
    changed: dict[int, BulkPreferenceOut] = {}
    for number, item in enumerate(items):
        path = f"preferences.{number}"
        if isinstance(item.subscription_identifier, UnsetType):
            workflows[number] = await _switch_workflow(call, subscriber, item, path)
            continue
        subscription, workflow = await update_subscription_preference(
            call.db,
            subscriber,
            item.subscription_identifier,
            item.workflow_id,
            item,
            call.now,
            context_keys=call.session.context_keys,
            path=f"{path}.",
        )
        changed[number] = BulkPreferenceOut.of(SubscriptionPreferenceOut.of(subscription, workflow))
    decided = await actions.decide_workflows(call.db, _scope(call, subscriber), list(workflows.values()))
    for number, one in zip(workflows, decided, strict=True):
        changed[number] = BulkPreferenceOut.of(ChangedPreferenceOut.of(one.workflow, one.decision))
    return [changed[number] for number in range(len(items))]


async def _switch_workflow(call: Call, subscriber: Subscriber, item: BulkPreferenceIn, path: str) -> Workflow:
    for name in changes_of(item, "enabled", "condition"):
        raise Invalid.field(f"{path}.{name}", "is for a subscription to a topic; give its subscriptionIdentifier")
    workflow = await actions.get_changeable_workflow(
        call.db, call.environment_id, item.workflow_id, path=f"{path}.workflowId"
    )
    await actions.switch_channels(
        call.db, await _changed_scope(call, subscriber, item), workflow, item.given(), call.now
    )
    await actions.let_texts_through(call.db, subscriber, item.given())
    return workflow


def _is_wanted(workflow: Workflow, query: InboxPreferencesQuery) -> bool:
    has_tag = not query.tags or not set(query.tags).isdisjoint(workflow.tags)
    return has_tag and (not query.severity or workflow.severity in query.severity)
