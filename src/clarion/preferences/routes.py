"""Preferences: read and change what a person wants to receive."""

from msgspec import UnsetType

from clarion.contexts.requested import store_contexts
from clarion.contexts.wire import ContextsIn, read_keys
from clarion.errors import Invalid
from clarion.http.operation import Call, Transaction, operation
from clarion.ids import SubscriberKey
from clarion.jsontext import plain_value
from clarion.preferences import actions
from clarion.preferences.model import PreferenceScope
from clarion.preferences.wire import (
    BulkPreferencesPatch,
    ChangedPreferenceOut,
    GlobalPreferenceOut,
    PreferencesOut,
    PreferencesPatch,
    PreferencesQuery,
    WorkflowPreferenceOut,
)
from clarion.subscribers.store import get_subscriber
from clarion.vocabulary import Criticality, Scope


@operation(
    "GET",
    "/v2/subscribers/{subscriberId}/preferences",
    scope=Scope.PREFERENCES_READ,
    query=PreferencesQuery,
    transaction=Transaction.SCAN,
)
async def get_preferences(call: Call, subscriber_key: SubscriberKey, query: PreferencesQuery) -> PreferencesOut:
    """Retrieve what a subscriber wants to receive: globally, and for each active workflow."""
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key)
    scope = PreferenceScope(subscriber, read_keys(query.context_keys) or ())
    return await _preferences(call, scope, query.criticality)


@operation("PATCH", "/v2/subscribers/{subscriberId}/preferences", scope=Scope.PREFERENCES_WRITE, body=PreferencesPatch)
async def update_preferences(call: Call, subscriber_key: SubscriberKey, body: PreferencesPatch) -> PreferencesOut:
    """Switch channels on or off, for one workflow or, without `workflowId`, for all of them."""
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key, for_update=True)
    workflow = None
    if not isinstance(body.workflow_id, UnsetType):
        workflow = await actions.get_changeable_workflow(
            call.db, call.environment_id, body.workflow_id, path="workflowId"
        )
    scope = PreferenceScope(subscriber, await _read_context(call, body.context))
    if not isinstance(body.channels, UnsetType):
        await actions.switch_channels(call.db, scope, workflow, body.channels.given(), call.now)
    if not isinstance(body.schedule, UnsetType):
        if workflow is not None:
            raise Invalid.field("schedule", "belongs to the global preference; leave out workflowId")
        if scope.context_keys:
            raise Invalid.field("schedule", "holds in all contexts; leave out context")
        subscriber = await actions.set_schedule(call.db, subscriber, plain_value(body.schedule), call.now)
    return await _preferences(call, PreferenceScope(subscriber, scope.context_keys), Criticality.NON_CRITICAL)


@operation(
    "PATCH",
    "/v2/subscribers/{subscriberId}/preferences/bulk",
    scope=Scope.PREFERENCES_WRITE,
    body=BulkPreferencesPatch,
    items=lambda body: len(body.preferences),
)
async def update_preferences_in_bulk(
    call: Call, subscriber_key: SubscriberKey, body: BulkPreferencesPatch
) -> list[ChangedPreferenceOut]:
    """Switch channels of up to 100 workflows: all of them, or none when one cannot be changed."""
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key, for_update=True)
    workflows = [
        await actions.get_changeable_workflow(
            call.db, call.environment_id, item.workflow_id, path=f"preferences.{number}.workflowId"
        )
        for number, item in enumerate(body.preferences)
    ]
    scope = PreferenceScope(subscriber, await _read_context(call, body.context))
    for workflow, item in zip(workflows, body.preferences, strict=True):
        await actions.switch_channels(call.db, scope, workflow, item.channels.given(), call.now)
    decided = await actions.decide_workflows(call.db, scope, workflows)
    return [ChangedPreferenceOut.of(one.workflow, one.decision) for one in decided]


async def _read_context(call: Call, given: ContextsIn | UnsetType | None) -> tuple[str, ...]:
    return await store_contexts(call, None if isinstance(given, UnsetType) else given)


async def _preferences(call: Call, scope: PreferenceScope, criticality: Criticality) -> PreferencesOut:
    overview = await actions.get_overview(call.db, scope)
    return PreferencesOut(
        global_preference=GlobalPreferenceOut.of(scope.subscriber, overview.global_decision),
        workflows=[
            WorkflowPreferenceOut.of(one.workflow, one.decision) for one in overview.of_criticality(criticality)
        ],
    )
