"""Reading and changing what a subscriber wants to receive, for the customer's API and for the inbox."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.errors import Invalid, NotFound
from clarion.ids import EnvironmentId, WorkflowId, id_text
from clarion.preferences import store
from clarion.preferences.model import (
    GLOBAL,
    ChangeReason,
    Layers,
    PreferenceDecision,
    PreferenceScope,
    SubscriberLayers,
    decide_preference,
    layers_of,
    subscriber_layers,
)
from clarion.sending.suppressions.store import delete_unsubscription
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import update_subscriber
from clarion.vocabulary import Channel, Criticality
from clarion.webhooks.events import append_events
from clarion.webhooks.model import EventType
from clarion.workflows.model import Workflow, WorkflowVersion
from clarion.workflows.store import find_workflow, list_active_workflows, list_versions_by_id


class WorkflowDecision(Struct, frozen=True):
    workflow: Workflow
    decision: PreferenceDecision


class PreferenceOverview(Struct, frozen=True, kw_only=True):
    """What a subscriber wants: globally, and for each active workflow."""

    global_decision: PreferenceDecision
    workflows: list[WorkflowDecision]

    def of_criticality(self, criticality: Criticality) -> list[WorkflowDecision]:
        if criticality is Criticality.ALL:
            return self.workflows
        is_critical = criticality is Criticality.CRITICAL
        return [one for one in self.workflows if one.workflow.is_critical is is_critical]


async def get_overview(db: Connection, scope: PreferenceScope) -> PreferenceOverview:
    """Decide the preferences of a subscriber for everything that is active."""
    environment_id = scope.subscriber.environment_id
    own = await store.list_preferences(db, scope)
    workflows = await list_active_workflows(db, environment_id)
    versions = await _list_versions(db, environment_id, workflows)
    return PreferenceOverview(
        global_decision=_decide_global(list_layers(own, scope, None), versions.values()),
        workflows=_decide_workflows(scope, workflows, versions, own),
    )


async def decide_workflows(
    db: Connection, scope: PreferenceScope, workflows: Sequence[Workflow]
) -> list[WorkflowDecision]:
    """Decide the preferences of a subscriber for the given workflows, active or not."""
    own = await store.list_preferences(db, scope)
    versions = await _list_versions(db, scope.subscriber.environment_id, workflows)
    return _decide_workflows(scope, workflows, versions, own)


def list_layers(own: SubscriberLayers, scope: PreferenceScope, workflow_id: WorkflowId | None) -> Layers:
    """The layers of a subscriber for a workflow, or for all of them."""
    return subscriber_layers(own, scope.subscriber.id, scope.contexts, workflow_id)


async def get_changeable_workflow(db: Connection, environment_id: EnvironmentId, reference: str, path: str) -> Workflow:
    """Find a workflow by id, identifier or slug; raises Invalid for `path` if the workflow is critical."""
    workflow = await find_workflow(db, environment_id, reference)
    if workflow is None:
        raise NotFound("Workflow", reference)
    if workflow.is_critical:
        raise Invalid.field(path, "names a critical workflow; its preferences cannot be changed", reference)
    return workflow


async def switch_channels(
    db: Connection,
    scope: PreferenceScope,
    workflow: Workflow | None,
    channels: Mapping[Channel, bool],
    now: Millis,
    *,
    reason: ChangeReason | None = None,
) -> None:
    """Set channels for one workflow or globally; the reason is for what the person did not do in their settings."""
    await store.update_preferences(
        db,
        scope,
        workflow_id=GLOBAL if workflow is None else workflow.id,
        channels=channels,
        now=now,
        reason=reason,
    )
    if channels:
        changed: dict[str, Any] = {"channels": dict(channels)}
        changed |= {"contextKeys": list(scope.context_keys)} if scope.context_keys else {}
        changed |= {} if reason is None else {"reason": reason}
        await _append_event(db, scope.subscriber, workflow, changed, now)


async def switch_channels_everywhere(
    db: Connection,
    scope: PreferenceScope,
    channels: Mapping[Channel, bool],
    now: Millis,
    *,
    reason: ChangeReason | None = None,
) -> None:
    """Set channels globally, and remove the subscriber's choices for these channels from all workflows.

    The inbox draws a global switch on all workflows at once, and it stays so: a choice for a workflow would win.
    """
    if channels:
        await store.delete_workflow_choices(db, scope, channels=list(channels))
    await switch_channels(db, scope, None, channels, now, reason=reason)


async def let_texts_through(db: Connection, subscriber: Subscriber, channels: Mapping[Channel, bool]) -> None:
    """Clear what STOP left of the number when the person switches SMS on themselves; else that would do nothing."""
    if channels.get(Channel.SMS) and subscriber.phone:
        await delete_unsubscription(db, subscriber.environment_id, Channel.SMS, subscriber.phone)


async def set_schedule(db: Connection, subscriber: Subscriber, schedule: dict[str, Any], now: Millis) -> Subscriber:
    """Replace the schedule of a subscriber; it proves nothing about who they are."""
    changed = await update_subscriber(db, subscriber, {"schedule": schedule}, now, is_proven=False)
    await _append_event(db, changed, None, {"schedule": schedule}, now)
    return changed


def _decide_global(layers: Layers, versions: Iterable[WorkflowVersion]) -> PreferenceDecision:
    """Decide the global preference for the channels that active workflows use or the subscriber has set."""
    used = {channel for version in versions for channel in version.channels}
    used |= {channel for _, layer in layers if layer is not None for channel in layer.channels}
    return decide_preference(layers, [channel for channel in Channel if channel in used])


def _decide_workflows(
    scope: PreferenceScope,
    workflows: Sequence[Workflow],
    versions: Mapping[WorkflowId, WorkflowVersion],
    own: SubscriberLayers,
) -> list[WorkflowDecision]:
    decided = []
    for workflow in workflows:
        layers = layers_of(workflow, list_layers(own, scope, workflow.id))
        decided.append(WorkflowDecision(workflow, decide_preference(layers, versions[workflow.id].channels)))
    return decided


async def _list_versions(
    db: Connection, environment_id: EnvironmentId, workflows: Sequence[Workflow]
) -> dict[WorkflowId, WorkflowVersion]:
    found = await list_versions_by_id(db, environment_id, [one.version_id for one in workflows])
    return {one.id: found[one.version_id] for one in workflows}


async def _append_event(
    db: Connection, subscriber: Subscriber, workflow: Workflow | None, changed: dict[str, Any], now: Millis
) -> None:
    data: dict[str, Any] = {
        "_subscriberId": id_text(subscriber.id),
        "subscriberId": subscriber.key,
        "level": "global" if workflow is None else "template",
    }
    if workflow is not None:
        data["workflow"] = {"_id": id_text(workflow.id), "identifier": workflow.key, "name": workflow.name}
    events = [(EventType.PREFERENCE_UPDATED, data | changed)]
    await append_events(db, subscriber.environment_id, events, now, about=subscriber.id)
