"""Explains why a trigger has no run for a person: whom it was for, and how far it has come."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from clarion.clock import Millis, iso_text
from clarion.db.port import Connection
from clarion.explain.model import ChannelResult, Decision, DecisionKind, DecisionSource, Explanation, Outcome, Verdict
from clarion.explain.trigger_store import is_in_part, list_memberships
from clarion.explain.words import day_text, list_text, moment_text, name_of
from clarion.ids import EnvironmentId, SubscriberKey, TopicId, find_id
from clarion.subscribers.model import Subscriber
from clarion.triggers.model import TopicTarget, Trigger, TriggerState
from clarion.workflows.model import Workflow, WorkflowVersion
from clarion.workflows.store import list_versions_by_id, list_workflows_by_id

_OUTCOMES = {
    Verdict.WAITING: Outcome.WAITING,
    Verdict.FAILED: Outcome.FAILED,
    Verdict.STOPPED: Outcome.SKIPPED,
    Verdict.PASSED: Outcome.SKIPPED,
}
# What counts where there are several reasons, and the outcome of a channel is that of one.
_WEIGHTS = [DecisionKind.CANCEL, DecisionKind.EXCLUSION]


class Asked(Struct, frozen=True, kw_only=True):
    """Who is asked about, and when."""

    environment_id: EnvironmentId
    key: SubscriberKey
    person: Subscriber | None
    """None: nobody has the key."""
    now: Millis
    horizon: Millis
    """Runs from before this moment are deleted."""

    @property
    def name(self) -> str:
        return name_of(self.person, self.key)


async def explain_absence(db: Connection, asked: Asked, trigger: Trigger) -> Explanation:
    """Why there is no run of the trigger for the person."""
    workflows = await list_workflows_by_id(db, asked.environment_id, [trigger.workflow_id])
    versions = await list_versions_by_id(db, asked.environment_id, [trigger.version_id])
    workflow, version = workflows.get(trigger.workflow_id), versions.get(trigger.version_id)
    reasons = await _list_reasons(db, asked, trigger)
    main = min(reasons, key=_weight)
    return Explanation(
        subscriber_key=asked.key,
        workflow_key=None if workflow is None else workflow.key,
        transaction_key=trigger.transaction_key,
        channels={} if version is None else dict.fromkeys(version.channels, _result(main)),
        decisions=[*_list_beginnings(trigger, workflow, version, asked.now), *reasons],
    )


def _weight(reason: Decision) -> tuple[bool, bool, bool]:
    return reason.verdict is Verdict.PASSED, reason.kind not in _WEIGHTS, reason.verdict is Verdict.STOPPED


def _result(main: Decision) -> ChannelResult:
    outcome = Outcome.CANCELED if main.kind is DecisionKind.CANCEL else _OUTCOMES[main.verdict]
    return ChannelResult(outcome, main.summary)


def _list_beginnings(
    trigger: Trigger, workflow: Workflow | None, version: WorkflowVersion | None, now: Millis
) -> Iterator[Decision]:
    if workflow is None or version is None:
        return
    yield Decision(
        at=trigger.created_at,
        kind=DecisionKind.WORKFLOW,
        verdict=Verdict.PASSED,
        summary=f"The workflow '{workflow.name}' was triggered on {moment_text(trigger.created_at, now)}.",
        values={"workflowId": workflow.key, "version": version.number, "critical": workflow.is_critical},
        source=DecisionSource.DERIVED,
    )


async def _list_reasons(db: Connection, asked: Asked, trigger: Trigger) -> list[Decision]:
    """Each way in which the trigger can reach people, and why it did not reach this one."""
    wanted, person = trigger.recipients, asked.person
    joined: Mapping[TopicId, Millis] = {}
    if person is not None and wanted.topics:
        topic_ids = [topic_id_of(one) for one in wanted.topics]
        joined = await list_memberships(db, asked.environment_id, topic_ids, person.id)
    ways = [_decide_topic(asked, trigger, one, joined.get(topic_id_of(one))) for one in wanted.topics]
    if wanted.everyone:
        ways.append(_decide_everyone(asked, trigger))
    if is_named(trigger, asked.key):
        text = f"The trigger names {asked.name} as a recipient."
        ways.append(derived(trigger, DecisionKind.RECIPIENT, Verdict.PASSED, text))
    if trigger.is_canceled:
        return [*ways, _canceled(trigger)]
    if any(one.verdict is Verdict.PASSED for one in ways):
        return [*ways, await _decide_progress(db, asked, trigger)]
    return ways or [_not_a_recipient(asked, trigger)]


def _decide_topic(asked: Asked, trigger: Trigger, topic: TopicTarget, joined_at: Millis | None) -> Decision:
    actor = trigger.recipients.actor
    values: dict[str, Any] = {"topicKey": topic.key}
    if asked.key in topic.exclude:
        text = f"The trigger leaves {asked.name} out of the topic '{topic.key}' (exclude)."
        remedy = "Take the person out of `exclude`, or name them as a recipient."
        return derived(trigger, DecisionKind.EXCLUSION, Verdict.STOPPED, text, values, remedy)
    if actor is not None and actor.key == asked.key:
        text = f"{asked.name} is the actor of the trigger, who gets no message about it through a topic."
        remedy = "Leave `actor` out of the trigger, or name the person as a recipient."
        return derived(trigger, DecisionKind.EXCLUSION, Verdict.STOPPED, text, values, remedy)
    remedy = "Subscribe the person to the topic before the trigger, or name them as a recipient."
    if joined_at is None:
        text = (
            f"{asked.name} is not a member of the topic '{topic.key}', which the trigger is for. "
            "Whether they left it since is not recorded."
        )
        return derived(trigger, DecisionKind.RECIPIENT, Verdict.STOPPED, text, values, remedy)
    values["joinedAt"] = iso_text(joined_at)
    if joined_at > trigger.created_at and trigger.state is not TriggerState.SPLITTING:
        text = f"{asked.name} joined the topic '{topic.key}' on {moment_text(joined_at, asked.now)}, after the trigger."
        return derived(trigger, DecisionKind.RECIPIENT, Verdict.STOPPED, text, values, remedy)
    text = f"{asked.name} is a member of the topic '{topic.key}' since {day_text(joined_at, asked.now)}."
    return derived(trigger, DecisionKind.RECIPIENT, Verdict.PASSED, text, values)


def _decide_everyone(asked: Asked, trigger: Trigger) -> Decision:
    if asked.person is None:
        return _unknown_person(asked, trigger)
    values = {"createdAt": iso_text(asked.person.created_at)}
    if asked.person.created_at > trigger.created_at:
        text = (
            f"The trigger is for everyone, but {asked.name} was created on "
            f"{moment_text(asked.person.created_at, asked.now)}, after it."
        )
        remedy = "Trigger the workflow again, for the person."
        return derived(trigger, DecisionKind.RECIPIENT, Verdict.STOPPED, text, values, remedy)
    text = f"The trigger is for everyone, and so for {asked.name}."
    return derived(trigger, DecisionKind.RECIPIENT, Verdict.PASSED, text, values)


async def _decide_progress(db: Connection, asked: Asked, trigger: Trigger) -> Decision:
    """What became of a person whom the trigger is for, although there is no run."""
    person, waiting = asked.person, (DecisionKind.RECIPIENT, Verdict.WAITING)
    if trigger.state is TriggerState.QUEUED:
        text = "The trigger is accepted, and waits for a worker."
        return derived(trigger, *waiting, text, {"state": trigger.state}, at=asked.now)
    if trigger.state is TriggerState.SPLITTING or (person is not None and await is_in_part(db, trigger, person)):
        text = f"The trigger is being handed to its recipients; {asked.name} has not come to their turn yet."
        return derived(trigger, *waiting, text, {"state": trigger.state}, at=asked.now)
    if trigger.state is TriggerState.FAILED:
        text = "The trigger could not be worked on; the log of the worker says why."
        return derived(trigger, DecisionKind.RECIPIENT, Verdict.FAILED, text, {"state": trigger.state}, at=None)
    return _lost(asked, trigger)


def _lost(asked: Asked, trigger: Trigger) -> Decision:
    """A run that there must have been: deleted, as far as that is known."""
    values = {"state": trigger.state, "keptSince": iso_text(asked.horizon)}
    remedy = "Keep runs for longer (see the retention of the environment); what is deleted stays so."
    if asked.person is None:
        text = f"{asked.name} was deleted, with everything that was stored of them."
    elif asked.person.created_at > trigger.created_at:
        text = (
            f"{asked.name} was created on {moment_text(asked.person.created_at, asked.now)}, after the trigger: a "
            "person with this key before them was deleted, with their runs."
        )
    elif trigger.created_at < asked.horizon:
        text = f"The run was deleted: runs from before {day_text(asked.horizon, asked.now)} are not kept."
    else:
        text = "There is no run for the person, and why was not recorded."
        remedy = "Trigger the workflow again, for the person."
    return derived(trigger, DecisionKind.RECIPIENT, Verdict.STOPPED, text, values, remedy, at=None)


def _not_a_recipient(asked: Asked, trigger: Trigger) -> Decision:
    people = [one.key for one in trigger.recipients.people]
    if not people:
        text = "The trigger has no recipients: its topics did not exist, or its recipients were erased since."
        return derived(trigger, DecisionKind.RECIPIENT, Verdict.STOPPED, text)
    if asked.person is None:
        return _unknown_person(asked, trigger)
    named = list_text(f"'{one}'" for one in people)
    text = f"The trigger is for {named}, and not for {asked.name}."
    remedy = "Name the person as a recipient of the trigger."
    return derived(trigger, DecisionKind.RECIPIENT, Verdict.STOPPED, text, {"recipients": len(people)}, remedy)


def _unknown_person(asked: Asked, trigger: Trigger | None) -> Decision:
    text = f"Nobody in this environment has the subscriberId '{asked.key}', and the trigger does not name it."
    remedy = "Create the person, or name them in `to`: who is named and does not exist is created."
    return derived(trigger, DecisionKind.RECIPIENT, Verdict.STOPPED, text, {"subscriberId": asked.key}, remedy)


def _canceled(trigger: Trigger) -> Decision:
    text = "The trigger was canceled before it had a run for the person; when was not recorded."
    remedy = "Trigger the workflow again, with another transactionId."
    return derived(trigger, DecisionKind.CANCEL, Verdict.STOPPED, text, {"state": trigger.state}, remedy, at=None)


_CREATED = Millis(-1)


def derived(  # noqa: PLR0913 - the parts of a decision
    trigger: Trigger | None,
    kind: DecisionKind,
    verdict: Verdict,
    summary: str,
    values: dict[str, Any] | None = None,
    remedy: str | None = None,
    *,
    at: Millis | None = _CREATED,
) -> Decision:
    """A decision that follows from what is stored, made when the trigger was accepted unless `at` says otherwise."""
    created_at = None if trigger is None else trigger.created_at
    return Decision(
        at=created_at if at == _CREATED else at,
        kind=kind,
        verdict=verdict,
        summary=summary,
        values=values or {},
        remedy=remedy,
        source=DecisionSource.DERIVED,
    )


def is_named(trigger: Trigger, key: SubscriberKey) -> bool:
    return any(one.key == key for one in trigger.recipients.people)


def topic_id_of(topic: TopicTarget) -> TopicId:
    return TopicId(find_id(topic.id) or bytes(16))
