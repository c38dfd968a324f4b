"""The fixture of a simulation: rows of the store that the engine needs are copied, and overrides are written.

Only the shown people and what is under way for them are copied, so the cost does not depend on the size of the store.
All recipients are counted.
"""

from collections.abc import Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from clarion.contexts.model import keys_of, stored_contexts
from clarion.db.port import Sandbox
from clarion.errors import Invalid
from clarion.ids import EnvironmentId, SubscriberId, TopicId, TopicKey, WorkflowVersionId, find_id
from clarion.jsontext import json_value
from clarion.preferences.actions import set_schedule, switch_channels
from clarion.preferences.model import PreferenceScope
from clarion.segments.condition import SegmentCondition
from clarion.segments.store import list_segments_by_key
from clarion.simulate import store
from clarion.simulate.model import Scenario
from clarion.simulate.segments import copy_segment_people
from clarion.subscribers.store import ensure_subscribers
from clarion.topics.store import list_topics_by_key
from clarion.triggers.model import AddressedPerson
from clarion.triggers.recipients import excluded_of, people_of, topics_of
from clarion.triggers.requests import TriggerRequest
from clarion.vocabulary import StepType
from clarion.waits.store import insert_awaited
from clarion.workflows.actions import make_next_version
from clarion.workflows.circles import list_triggered
from clarion.workflows.model import Workflow, WorkflowVersion, find_workflow_id
from clarion.workflows.steps import build_steps
from clarion.workflows.store import find_workflow, get_version, insert_version, update_workflow

_SHARING = frozenset({StepType.DIGEST, StepType.THROTTLE})
"""Steps in which the runs of a person depend on each other."""


_MAX_TRIGGERED = 50
"""Workflows that are copied because steps trigger them."""


class Fixture(Struct, frozen=True, kw_only=True):
    request: TriggerRequest
    """Naming only people who are shown."""
    people: Sequence[SubscriberId]
    """Those who are copied."""
    topics: Sequence[TopicId]
    total: int
    """How many people the trigger is for."""
    is_counted: bool
    """Whether these are all."""
    reads_topics: bool
    """Whether all topics of the people are asked for."""


class _Topic(Struct, frozen=True):
    id: TopicId
    excluded: Collection[SubscriberId]


async def copy_fixture(db: Sandbox, scenario: Scenario) -> Fixture | None:
    """Copy what takes part in the simulation; None if there is no such workflow."""
    environment_id = scenario.request.environment_id
    workflow = await _set_workflow(db, scenario)
    if workflow is None:
        return None
    fixture = await _copy_people(db, scenario)
    version = await get_version(db, workflow)
    versions = [version, *await _copy_triggered(db, environment_id, version)]
    await insert_awaited(db, environment_id, {name for one in versions for name in one.awaited_events})
    reads_topics = fixture.reads_topics or await _read_topics(db, environment_id, versions)
    await store.copy_settings(db, environment_id, fixture.people, None if reads_topics else fixture.topics)
    if fixture.people and not version.step_types.isdisjoint(_SHARING):
        await _copy_open_runs(db, workflow, fixture.people)
    if scenario.overrides:
        await _write_overrides(db, scenario, workflow, fixture)
    return fixture


async def _set_workflow(db: Sandbox, scenario: Scenario) -> Workflow | None:
    """Copy the workflow, and let it have the steps that are wanted."""
    environment_id, name = scenario.request.environment_id, scenario.request.name
    await store.copy_workflow(db, environment_id, name, find_workflow_id(name))
    workflow = await find_workflow(db, environment_id, name)
    if workflow is None:
        return None
    await store.copy_versions(db, environment_id, workflow.id, scenario.version or 0)
    if scenario.steps is not None:
        return await _save_steps(db, scenario, workflow, await get_version(db, workflow))
    return workflow if scenario.version is None else await _choose_version(db, workflow, scenario.version)


async def _save_steps(db: Sandbox, scenario: Scenario, workflow: Workflow, version: WorkflowVersion) -> Workflow:
    steps = build_steps(scenario.steps or (), version.steps, scenario.at)
    changed = make_next_version(version, {"steps": steps}, scenario.at)
    if changed is version:
        return workflow
    await insert_version(db, changed)
    return await _use_version(db, workflow, changed.id)


async def _read_topics(db: Sandbox, environment_id: EnvironmentId, versions: Sequence[WorkflowVersion]) -> bool:
    """Whether segments that steps refer to ask for topics of people."""
    keys = {key for version in versions for key in version.segment_keys}
    segments = await list_segments_by_key(db, environment_id, list(keys))
    return any(SegmentCondition(one.condition).reads_topics for one in segments.values())


async def _copy_triggered(
    db: Sandbox, environment_id: EnvironmentId, version: WorkflowVersion
) -> list[WorkflowVersion]:
    """Copy the workflows that steps trigger, also those that these trigger; returns their versions."""
    copied: set[str] = set()
    versions = []
    wanted = list_triggered(version.steps)
    while wanted and len(copied) < _MAX_TRIGGERED:
        name = wanted.pop()
        if name in copied:
            continue
        copied.add(name)
        await store.copy_workflow(db, environment_id, name, find_workflow_id(name))
        workflow = await find_workflow(db, environment_id, name)
        if workflow is not None:
            await store.copy_versions(db, environment_id, workflow.id, 0)
            versions.append(await get_version(db, workflow))
            wanted += list_triggered(versions[-1].steps)
    return versions


async def _choose_version(db: Sandbox, workflow: Workflow, number: int) -> Workflow:
    version_id = await store.find_version_id(db, workflow.environment_id, workflow.id, number)
    if version_id is None:
        raise Invalid.field("version", f"is not the number of a version of workflow '{workflow.key}'", number)
    return await _use_version(db, workflow, version_id)


async def _use_version(db: Sandbox, workflow: Workflow, version_id: WorkflowVersionId) -> Workflow:
    changed = replace(workflow, version_id=version_id)
    await update_workflow(db, changed)
    return changed


async def _copy_people(db: Sandbox, scenario: Scenario) -> Fixture:
    """Copy up to `limit` recipients, in the order in which they get runs, and the actor."""
    request, limit = scenario.request, scenario.limit
    environment_id, wanted = request.environment_id, request.wanted or []
    named = people_of(wanted)
    shown = {one.key for one in named[:limit]}
    actor = set() if request.actor is None else {request.actor.key}
    await store.copy_people(db, environment_id, shown | actor)
    topics = await _list_topics(db, request)
    named_ids = await store.list_ids(db, environment_id, {one.key for one in named})
    of = store.TopicScope(environment_id, stored_contexts(request.contexts))
    members = await _copy_members(db, of, topics, set(named_ids.values()), limit=limit - len(named))
    reached = [(one.id, {*one.excluded, *named_ids.values()}) for one in topics]
    others = await store.count_members(db, of, reached)
    in_segments = await copy_segment_people(
        db, request, (of, reached), set(named_ids.values()), limit=limit - len(named) - members, now=scenario.begins_at
    )
    return Fixture(
        request=replace(
            request, wanted=[one for one in wanted if not isinstance(one, AddressedPerson) or one.key in shown]
        ),
        people=list((await store.list_people(db, environment_id)).values()),
        topics=[one.id for one in topics],
        total=len(named) + others + in_segments.total,
        is_counted=in_segments.is_whole,
        reads_topics=in_segments.reads_topics,
    )


async def _list_topics(db: Sandbox, request: TriggerRequest) -> list[_Topic]:
    """The topics that exist, with those who get nothing through them: the excluded ones and the actor."""
    wanted = topics_of(request.wanted or [])
    keys = [TopicKey(one.topic_key) for one in wanted]
    known = await list_topics_by_key(db, request.environment_id, keys) if keys else {}
    actor = [] if request.actor is None else [request.actor.key]
    excluded = [[*actor, *excluded_of(one)] for one in wanted]
    ids = await store.list_ids(db, request.environment_id, {key for some in excluded for key in some})
    return [
        _Topic(known[key].id, {ids[one] for one in without if one in ids})
        for key, without in zip(keys, excluded, strict=True)
        if key in known
    ]


async def _copy_members(
    db: Sandbox, of: store.TopicScope, topics: Sequence[_Topic], named: set[SubscriberId], *, limit: int
) -> int:
    """Returns how many were copied."""
    room, here = limit, set(named)
    for topic in topics:
        if room <= 0:
            break
        copied = await store.copy_members(db, of, topic.id, excluded={*topic.excluded, *here}, limit=room)
        room -= copied
        here |= set((await store.list_people(db, of.environment_id)).values())
    return limit - room


async def _copy_open_runs(db: Sandbox, workflow: Workflow, people: Sequence[SubscriberId]) -> None:
    """Copy what is under way for the people in this workflow: simulated runs meet it in digests and throttles."""
    environment_id = workflow.environment_id
    await store.copy_windows(db, environment_id, people)
    run_ids = await store.list_open_runs(db, environment_id, workflow.id, people)
    if not run_ids:
        return
    await store.copy_runs(db, environment_id, run_ids)
    await store.copy_triggers(db, environment_id, await _list_digested(db, environment_id))
    await store.settle_triggers(db, environment_id)


async def _list_digested(db: Sandbox, environment_id: EnvironmentId) -> set[bytes]:
    """The triggers whose events are in digests that have ended."""
    digests = [json_value(row["digest"]) for row in await store.list_digests(db, environment_id)]
    events = (event for one in digests for event in one.get("events", ()))
    return {found for event in events if (found := find_id(str(event.get("id")))) is not None}


async def _write_overrides(db: Sandbox, scenario: Scenario, workflow: Workflow, fixture: Fixture) -> None:
    """Write the preferences that the recipients are to have."""
    environment_id, overrides, now = workflow.environment_id, scenario.overrides, scenario.at
    if overrides.workflow_channels and workflow.is_critical:
        raise Invalid.field("preferences.workflow", "cannot be switched: the workflow is critical", None)
    keys = {one.key for one in people_of(fixture.request.wanted or [])}
    keys |= (await store.list_people(db, environment_id)).keys()
    for subscriber in (await ensure_subscribers(db, environment_id, keys, now)).values():
        scope = PreferenceScope(subscriber, keys_of(fixture.request.contexts or {}))
        await switch_channels(db, scope, None, overrides.channels, now)
        await switch_channels(db, scope, workflow, overrides.workflow_channels, now)
        if overrides.schedule is not None:
            await set_schedule(db, subscriber, overrides.schedule, now)
