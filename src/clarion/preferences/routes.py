"""Preferences: read and change what a person wants to receive."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UnsetType

from clarion.errors import Invalid, NotFound
from clarion.http.operation import Call, Transaction, operation
from clarion.http.wire import parse_checked
from clarion.ids import SubscriberKey, WorkflowId, id_text
from clarion.jsontext import plain_value
from clarion.preferences import store
from clarion.preferences.model import Layer, PreferenceDecision, decide_preference, layers_of
from clarion.preferences.wire import (
    BulkPreferencesPatch,
    ChangedPreferenceOut,
    GlobalPreferenceOut,
    PreferencesOut,
    PreferencesPatch,
    PreferencesQuery,
    Schedule,
    WorkflowPreferenceOut,
    channels_out,
)
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import get_subscriber, update_subscriber
from clarion.vocabulary import Channel, Criticality, Scope
from clarion.webhooks.events import append_events
from clarion.webhooks.model import EventType
from clarion.workflows.model import PreferenceLayer, Workflow, WorkflowVersion
from clarion.workflows.store import find_workflow, list_active_workflows, list_versions_by_id


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
        workflow = await _get_changeable(call, body.workflow_id, "workflowId")
    if not isinstance(body.channels, UnsetType):
        await _switch(call, subscriber, workflow, body.channels.given())
    if not isinstance(body.schedule, UnsetType):
        if workflow is not None:
            raise Invalid.field("schedule", "belongs to the global preference; leave out workflowId")
        schedule = plain_value(body.schedule)
        subscriber = await update_subscriber(call.db, subscriber, {"schedule": schedule}, call.now)
        await _append_event(call, subscriber, None, {"schedule": schedule})
    return await _preferences(call, subscriber, Criticality.NON_CRITICAL)


@operation(
    "PATCH", "/v2/subscribers/{subscriberId}/preferences/bulk", scope=Scope.PREFERENCES_WRITE, body=BulkPreferencesPatch
)
async def update_preferences_in_bulk(
    call: Call, subscriber_key: SubscriberKey, body: BulkPreferencesPatch
) -> list[ChangedPreferenceOut]:
    """Switch channels of up to 100 workflows: all of them, or none when one cannot be changed."""
    subscriber = await get_subscriber(call.db, call.environment_id, subscriber_key, for_update=True)
    workflows = [
        await _get_changeable(call, item.workflow_id, f"preferences.{number}.workflowId")
        for number, item in enumerate(body.preferences)
    ]
    for workflow, item in zip(workflows, body.preferences, strict=True):
        await _switch(call, subscriber, workflow, item.channels.given())
    own = await store.list_preferences(call.db, call.environment_id, subscriber.id)
    versions = await _versions(call, workflows)
    return [ChangedPreferenceOut.of(one, _decide(one, versions[one.id], own)) for one in workflows]


async def _preferences(call: Call, subscriber: Subscriber, criticality: Criticality) -> PreferencesOut:
    own = await store.list_preferences(call.db, call.environment_id, subscriber.id)
    workflows = await list_active_workflows(call.db, call.environment_id)
    versions = await _versions(call, workflows)
    return PreferencesOut(
        global_preference=_global(subscriber, own.get(store.GLOBAL), versions),
        workflows=[
            WorkflowPreferenceOut.of(one, _decide(one, versions[one.id], own))
            for one in workflows
            if criticality is Criticality.ALL or one.is_critical is (criticality is Criticality.CRITICAL)
        ],
    )


def _global(
    subscriber: Subscriber, layer: PreferenceLayer | None, versions: Mapping[WorkflowId, WorkflowVersion]
) -> GlobalPreferenceOut:
    """Decide the global preference for the channels that active workflows use or the subscriber has set."""
    used = {channel for version in versions.values() for channel in version.channels}
    used |= set(layer.channels) if layer else set()
    decision = decide_preference(
        [(Layer.SUBSCRIBER_GLOBAL, layer)], [channel for channel in Channel if channel in used]
    )
    preference = GlobalPreferenceOut(enabled=decision.enabled, channels=channels_out(decision))
    if subscriber.schedule is None:
        return preference
    return msgspec.structs.replace(
        preference, schedule=msgspec.convert(subscriber.schedule, Schedule, dec_hook=parse_checked)
    )


def _decide(
    workflow: Workflow, version: WorkflowVersion, own: Mapping[WorkflowId, PreferenceLayer]
) -> PreferenceDecision:
    return decide_preference(layers_of(workflow, own.get(store.GLOBAL), own.get(workflow.id)), version.channels)


async def _versions(call: Call, workflows: list[Workflow]) -> dict[WorkflowId, WorkflowVersion]:
    found = await list_versions_by_id(call.db, call.environment_id, [one.version_id for one in workflows])
    return {one.id: found[one.version_id] for one in workflows}


async def _get_changeable(call: Call, reference: str, path: str) -> Workflow:
    workflow = await find_workflow(call.db, call.environment_id, reference)
    if workflow is None:
        raise NotFound("Workflow", reference)
    if workflow.is_critical:
        raise Invalid.field(path, "names a critical workflow; its preferences cannot be changed", reference)
    return workflow


async def _switch(
    call: Call, subscriber: Subscriber, workflow: Workflow | None, channels: Mapping[Channel, bool]
) -> None:
    """Set channels for one workflow or globally."""
    await store.update_preferences(
        call.db,
        call.environment_id,
        subscriber.id,
        workflow_id=store.GLOBAL if workflow is None else workflow.id,
        channels=channels,
        now=call.now,
    )
    if channels:
        await _append_event(call, subscriber, workflow, {"channels": dict(channels)})


async def _append_event(call: Call, subscriber: Subscriber, workflow: Workflow | None, changed: dict[str, Any]) -> None:
    data: dict[str, Any] = {
        "_subscriberId": id_text(subscriber.id),
        "subscriberId": subscriber.key,
        "level": "global" if workflow is None else "template",
    }
    if workflow is not None:
        data["workflow"] = {"_id": id_text(workflow.id), "identifier": workflow.key, "name": workflow.name}
    await append_events(call.db, call.environment_id, [(EventType.PREFERENCE_UPDATED, data | changed)], call.now)
