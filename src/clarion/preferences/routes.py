"""Preferences: read and change what a person wants to receive."""

from msgspec import UnsetType

from clarion.errors import Invalid
from clarion.http.operation import Call, Transaction, operation
from clarion.ids import SubscriberKey
from clarion.jsontext import plain_value
from clarion.preferences import actions
from clarion.preferences.wire import (
    BulkPreferencesPatch,
    ChangedPreferenceOut,
    GlobalPreferenceOut,
    PreferencesOut,
    PreferencesPatch,
    PreferencesQuery,
    WorkflowPreferenceOut,
)
from clarion.subscribers.model import Subscriber
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
    return await _preferences(call, subscriber, query.criticality)


@operation("PATCH", "/v2/subscribers/{subscriberId}/preferences", scope=Scope.PREFERENCES_WRITE, body=PreferencesPatch)
async def update_preferences(call: Call, subscriber_key: SubscriberKey, body: PreferencesPatch) -> PreferencesOut:
    """Switch channels on or off, for one workflow or, without `workflowId`, for all of them."""
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key, for_update=True)
    workflow = None
    if not isinstance(body.workflow_id, UnsetType):
        workflow = await actions.get_changeable_workflow(
            call.db, call.environment_id, body.workflow_id, path="workflowId"
        )
    if not isinstance(body.channels, UnsetType):
        await actions.switch_channels(call.db, subscriber, workflow, body.channels.given(), call.now)
    if not isinstance(body.schedule, UnsetType):
        if workflow is not None:
            raise Invalid.field("schedule", "belongs to the global preference; leave out workflowId")
        subscriber = await actions.set_schedule(call.db, subscriber, plain_value(body.schedule), call.now)
    return await _preferences(call, subscriber, Criticality.NON_CRITICAL)


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
    for workflow, item in zip(workflows, body.preferences, strict=True):
        await actions.switch_channels(call.db, subscriber, workflow, item.channels.given(), call.now)
    decided = await actions.decide_workflows(call.db, subscriber, workflows)
    return [ChangedPreferenceOut.of(one.workflow, one.decision) for one in decided]


async def _preferences(call: Call, subscriber: Subscriber, criticality: Criticality) -> PreferencesOut:
    overview = await actions.get_overview(call.db, subscriber)
    return PreferencesOut(
        global_preference=GlobalPreferenceOut.of(subscriber, overview.global_decision),
        workflows=[
            WorkflowPreferenceOut.of(one.workflow, one.decision) for one in overview.of_criticality(criticality)
        ],
    )
