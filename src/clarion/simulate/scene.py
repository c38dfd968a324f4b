"""Setting the scene: what the engine needs of the store is copied into the sandbox, and pretended things are written.

Only the shown people and what is under way for them are copied, so the cost does not depend on the size of the store.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from clarion.db.port import Sandbox
from clarion.errors import Invalid
from clarion.ids import EnvironmentId, SubscriberId, WorkflowVersionId, find_id
from clarion.jsontext import json_value
from clarion.preferences.actions import set_schedule, switch_channels
from clarion.simulate import store
from clarion.simulate.model import Scenario
from clarion.simulate.people import Gathered, gather_people
from clarion.subscribers.store import ensure_subscribers
from clarion.triggers.recipients import people_of
from clarion.vocabulary import StepType
from clarion.workflows.actions import make_next_version
from clarion.workflows.model import Workflow, WorkflowVersion, find_workflow_id
from clarion.workflows.steps import build_steps
from clarion.workflows.store import find_workflow, get_version, insert_version, update_workflow

_SHARING = frozenset({StepType.DIGEST, StepType.THROTTLE})
"""Steps in which the runs of a person depend on each other."""


async def set_scene(db: Sandbox, scenario: Scenario) -> Gathered | None:
    """Copy what takes part in the simulation; None if there is no such workflow."""
    environment_id = scenario.request.environment_id
    workflow = await _set_workflow(db, scenario)
    if workflow is None:
        return None
    gathered = await gather_people(db, scenario.request, scenario.limit)
    await store.copy_belongings(db, environment_id, gathered.people, gathered.topics)
    version = await get_version(db, workflow)
    if gathered.people and not version.step_types.isdisjoint(_SHARING):
        await _copy_open_runs(db, workflow, gathered.people)
    if scenario.pretended:
        await _pretend(db, scenario, workflow, gathered)
    return gathered


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


async def _choose_version(db: Sandbox, workflow: Workflow, number: int) -> Workflow:
    version_id = await store.find_version_id(db, workflow.environment_id, workflow.id, number)
    if version_id is None:
        raise Invalid.field("version", f"is not the number of a version of workflow '{workflow.key}'", number)
    return await _use_version(db, workflow, version_id)


async def _use_version(db: Sandbox, workflow: Workflow, version_id: WorkflowVersionId) -> Workflow:
    changed = replace(workflow, version_id=version_id)
    await update_workflow(db, changed)
    return changed


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


async def _pretend(db: Sandbox, scenario: Scenario, workflow: Workflow, gathered: Gathered) -> None:
    """Write the preferences that the recipients are taken to have."""
    environment_id, pretended, now = workflow.environment_id, scenario.pretended, scenario.at
    if pretended.workflow_channels and workflow.is_critical:
        raise Invalid.field("preferences.workflow", "cannot be switched: the workflow is critical", None)
    keys = {one.key for one in people_of(gathered.request.wanted or [])}
    keys |= (await store.list_people(db, environment_id)).keys()
    for subscriber in (await ensure_subscribers(db, environment_id, keys, now)).values():
        await switch_channels(db, subscriber, None, pretended.channels, now)
        await switch_channels(db, subscriber, workflow, pretended.workflow_channels, now)
        if pretended.schedule is not None:
            await set_schedule(db, subscriber, pretended.schedule, now)
