"""What a change of a workflow would mean: for the runs that wait, for its variables, and for its last triggers."""

import asyncio
import time
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.conditions.values import MISSING, follow
from clarion.content.environment import ContentSource
from clarion.content.translations.known import KnownTexts
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.errors import RequestError
from clarion.ids import EnvironmentId, SubscriberKey, TriggerId
from clarion.runs.waiting import RunsAtStep, WaitingCounts, count_waiting
from clarion.simulate.actions import simulate
from clarion.simulate.model import DEFAULT_SPAN, Scenario, SimulatedMessage
from clarion.triggers.model import AddressedPerson, Trigger
from clarion.triggers.requests import TriggerRequest
from clarion.triggers.store import list_triggers_by_id
from clarion.vocabulary import StepType
from clarion.workflows.controls import ControlsProblem, DigestControls, VersionChoice, read_as
from clarion.workflows.current import find_known
from clarion.workflows.issues import Issue, find_issues
from clarion.workflows.model import Step, VersionedWorkflow, Workflow
from clarion.workflows.moving import find_same
from clarion.workflows.step_wire import StepIn
from clarion.workflows.steps import build_steps, check_definition
from clarion.workflows.store import get_version, get_workflow
from clarion.workflows.variables import find_unknown_variables, list_payload_uses

MAX_TRIGGERS = 10
MAX_LOOKED_AT = 5_000
"""Triggers of the environment among which the last ones of the workflow are looked for."""
MAX_SECONDS = 8.0
"""How long the simulations may take together; each has a limit of its own."""

LIST_LAST = sql("""
    SELECT t.id, (
        SELECT s.key FROM notifications AS n
        JOIN subscribers AS s ON s.environment_id = n.environment_id AND s.id = n.subscriber_id
        WHERE n.environment_id = :environment_id AND n.trigger_id = t.id ORDER BY n.id LIMIT 1
    ) AS subscriber_key
    FROM (
        SELECT id, workflow_id FROM triggers
        WHERE environment_id = :environment_id ORDER BY id DESC LIMIT :looked_at
    ) AS t
    WHERE t.workflow_id = :workflow_id ORDER BY t.id DESC LIMIT :limit
""")


class WaitingRuns(Struct, frozen=True, kw_only=True):
    """Runs of one version that are at one step."""

    step: Step
    version: int
    count: int
    follows: bool
    """Whether they go on with the changed steps."""
    is_gone: bool
    """Whether the changed steps have the step no more."""


class EmptyVariable(Struct, frozen=True, kw_only=True):
    step_id: str
    path: str
    variable: str
    missing: int
    """In how many of the last triggers it has no value."""


class TriedTrigger(Struct, frozen=True, kw_only=True):
    """One of the last triggers, for one of its people, now and after the change."""

    transaction_id: str
    subscriber_key: SubscriberKey
    before: Sequence[SimulatedMessage]
    after: Sequence[SimulatedMessage]
    problem: str | None = None
    """Why it could not be tried."""

    @property
    def differs(self) -> bool:
        return [_told(one) for one in self.before] != [_told(one) for one in self.after]


class Impact(Struct, frozen=True, kw_only=True):
    current: VersionedWorkflow
    steps: Sequence[Step]
    waiting: Sequence[WaitingRuns]
    is_counted: bool
    """Whether all runs were counted."""
    problems: Sequence[tuple[str, Issue]]
    """Each with its step."""
    empty: Sequence[EmptyVariable]
    tried: Sequence[TriedTrigger]
    triggers: int
    """How many of the last triggers were looked at."""
    is_complete: bool
    """Whether all of them were tried."""


class _Facts(Struct, frozen=True, kw_only=True):
    current: VersionedWorkflow
    waiting: WaitingCounts
    triggers: Sequence[tuple[Trigger, SubscriberKey | None]]
    texts: KnownTexts
    env_keys: Collection[str]


class _Trial(Struct, frozen=True, kw_only=True):
    """What all trials of a change share."""

    database: Database
    source: ContentSource
    workflow: Workflow
    inputs: Sequence[StepIn]
    now: Millis


async def weigh_change(
    database: Database,
    environment_id: EnvironmentId,
    reference: str,
    inputs: Sequence[StepIn],
    source: ContentSource,
    now: Millis,
) -> Impact:
    """What saving these steps would mean; raises what saving them would be refused with."""
    # Parsing takes long for large texts.
    await asyncio.to_thread(check_definition, inputs, None)
    facts = await database.scan(lambda db: _read_facts(db, environment_id, reference))
    current = facts.current
    steps = build_steps(inputs, current.version.steps, now)
    trial = _Trial(database=database, source=source, workflow=current.workflow, inputs=inputs, now=now)
    deadline = time.monotonic() + MAX_SECONDS
    tried: list[TriedTrigger] = []
    known = [(trigger, key) for trigger, key in facts.triggers if key is not None]
    for trigger, key in known:
        if time.monotonic() > deadline:
            break
        tried.append(await _try(trial, trigger, key))
    return Impact(
        current=current,
        steps=steps,
        waiting=[_weigh_waiting(one, steps) for one in facts.waiting.steps],
        is_counted=facts.waiting.is_complete,
        problems=list(_list_problems(facts, steps)),
        empty=list(_list_empty(steps, [trigger.payload for trigger, _ in facts.triggers])),
        tried=tried,
        triggers=len(facts.triggers),
        is_complete=len(tried) == len(known),
    )


async def _read_facts(db: Connection, environment_id: EnvironmentId, reference: str) -> _Facts:
    workflow = await get_workflow(db, environment_id, reference)
    version = await get_version(db, workflow)
    texts, env_keys = await find_known(db, workflow, version)
    return _Facts(
        current=VersionedWorkflow(workflow, version),
        waiting=await count_waiting(db, workflow),
        triggers=await _list_last(db, workflow),
        texts=texts,
        env_keys=env_keys,
    )


async def _list_last(db: Connection, workflow: Workflow) -> list[tuple[Trigger, SubscriberKey | None]]:
    """The last triggers of a workflow, each with one of its people, the newest first."""
    scope = {"environment_id": workflow.environment_id, "workflow_id": workflow.id}
    rows = await db.fetch(LIST_LAST, **scope, looked_at=MAX_LOOKED_AT, limit=MAX_TRIGGERS)
    triggers = await list_triggers_by_id(db, workflow.environment_id, [TriggerId(row["id"]) for row in rows])
    return [(triggers[row["id"]], row["subscriber_key"]) for row in rows]


def _weigh_waiting(waiting: RunsAtStep, steps: Sequence[Step]) -> WaitingRuns:
    """Runs that wait for a digest that says so go on with the newest version, if that has the step; others do not."""
    step = waiting.version.steps[waiting.position]
    is_gone = find_same(steps, step) is None
    follows = step.type is StepType.DIGEST and not is_gone and _follows_newest(step)
    version = waiting.version.shown_number
    return WaitingRuns(step=step, version=version, count=waiting.count, follows=follows, is_gone=is_gone)


def _follows_newest(step: Step) -> bool:
    try:
        return read_as(DigestControls, step.controls).version is VersionChoice.LATEST
    except ControlsProblem:
        return False


def _list_problems(facts: _Facts, steps: Sequence[Step]) -> Iterator[tuple[str, Issue]]:
    """Yield what the changed steps lack, and the variables that can never have a value."""
    workflow, version = facts.current
    changed = replace(version, steps=list(steps))
    unknown = find_unknown_variables(changed, facts.texts, facts.env_keys, is_critical=workflow.is_critical)
    for step in steps:
        yield from ((step.step_id, issue) for issue in [*find_issues(step), *unknown.get(step.id, ())])


def _list_empty(steps: Sequence[Step], payloads: Sequence[object]) -> Iterator[EmptyVariable]:
    """Yield the values of the payload that steps ask for, and that some of the last triggers have not."""
    for step in steps:
        for path, names in dict.fromkeys((path, tuple(names)) for path, names in list_payload_uses(step)):
            missing = sum(follow(payload, list(names)) in (MISSING, None, "") for payload in payloads)
            if missing:
                variable = ".".join(("payload", *names))
                yield EmptyVariable(step_id=step.step_id, path=path, variable=variable, missing=missing)


async def _try(trial: _Trial, trigger: Trigger, subscriber_key: SubscriberKey) -> TriedTrigger:
    """Simulate a trigger once more for one of its people, as the workflow is and as it would be."""
    request = TriggerRequest(
        environment_id=trigger.environment_id,
        name=trial.workflow.key,
        wanted=[AddressedPerson(key=subscriber_key)],
        payload=trigger.payload,
        overrides=trigger.overrides,
        transaction=None,
        actor=trigger.recipients.actor,
        contexts=trigger.contexts,
        keeps_contexts=True,
    )
    now = trial.now
    until = Millis(now + DEFAULT_SPAN)
    before = Scenario(request=request, now=now, at=now, begins_at=now, until=until, limit=1)
    problem: str | None = None
    messages: list[Sequence[SimulatedMessage]] = []
    for scenario in (before, replace(before, steps=trial.inputs)):
        try:
            simulation = await simulate(trial.database, trial.source, scenario)
        except RequestError as error:
            problem, messages = str(error), [(), ()]
            break
        messages.append([message for recipient in simulation.recipients for message in recipient.messages])
    return TriedTrigger(
        transaction_id=trigger.transaction_key,
        subscriber_key=subscriber_key,
        before=messages[0],
        after=messages[1],
        problem=problem,
    )


def _told(message: SimulatedMessage) -> tuple[object, ...]:
    """What a person notices of a message."""
    return message.at, message.channel, message.to, message.subject, message.content
