"""Explains why a trigger has no run for a person: whom it was for, and how far it has come."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from clarion.clock import Millis, iso_text
from clarion.db.port import Connection
from clarion.explain.model import ChannelResult, Decision, DecisionKind, DecisionSource, Explanation, Outcome, Verdict
from clarion.explain.trigger_store import (
    TriggerFacts,
    find_facts,
    is_in_part,
    list_existing_topics,
    list_memberships,
    topic_id_of,
)
from clarion.explain.words import day_text, list_text, moment_text, name_of
from clarion.ids import EnvironmentId, SubscriberKey, TopicId
from clarion.subscribers.model import Subscriber
from clarion.triggers.model import TopicTarget, Trigger, TriggerState
from clarion.wording import count_text
from clarion.workflows.model import Workflow, WorkflowVersion
from clarion.workflows.store import list_versions_by_id, list_workflows_by_id

_OUTCOMES = {
    Verdict.WAITING: Outcome.WAITING,
    Verdict.FAILED: Outcome.FAILED,
    Verdict.STOPPED: Outcome.SKIPPED,
    Verdict.PASSED: Outcome.SKIPPED,
    Verdict.UNKNOWN: Outcome.UNKNOWN,
}
# What counts where there are several reasons, and the outcome of a channel is that of one.
_WEIGHTS = [DecisionKind.CANCEL, DecisionKind.EXCLUSION, DecisionKind.DUPLICATE]


class Asked(Struct, frozen=True, kw_only=True):
    """Who is asked about, and when."""

    environment_id: EnvironmentId
    key: SubscriberKey
    person: Subscriber | None
    """None: nobody has the key."""
    now: Millis
    horizon: Millis
    """Runs from before this moment are deleted."""
    erased_at: Millis | None = None
    """When a person with the key was erased last, as long as the audit log tells."""
    near_key: str | None = None
    """Where nobody has the key: one that it may be a misspelling of."""

    @property
    def name(self) -> str:
        return name_of(self.person, self.key)

    def was_created_after(self, moment: Millis) -> bool:
        """Whether there is nobody who had the key at a moment, as far as today's people tell."""
        return self.person is None or self.person.created_at > moment

    def was_erased_since(self, moment: Millis) -> bool:
        return self.erased_at is not None and self.erased_at >= moment and self.was_created_after(moment)


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
        values={"workflowId": workflow.key, "version": version.number, "critical": trigger.priority.is_critical},
        source=DecisionSource.DERIVED,
    )


async def _list_reasons(db: Connection, asked: Asked, trigger: Trigger) -> list[Decision]:
    """Each way in which the trigger can reach people, and why it did not reach this one."""
    facts = await find_facts(db, trigger)
    if asked.was_erased_since(trigger.created_at):
        return [_erased(asked), *list_repeats(facts, asked.now, has_run=False)]
    ways = [*await _list_ways(db, asked, trigger), *_list_missing_topics(trigger)]
    is_meant = any(one.verdict is Verdict.PASSED for one in ways)
    # One whose recipients were all erased before they had runs is not canceled by its caller.
    if trigger.is_canceled and trigger.recipients:
        ways.append(_canceled(trigger))
    elif is_meant:
        ways.append(await _decide_progress(db, asked, trigger, facts))
    elif ways and _has_lost_runs(asked, trigger, facts):
        ways.append(_lost(asked, trigger, facts))
    reasons = ways or [_not_a_recipient(asked, trigger)]
    return [*reasons, *([] if is_meant else list_repeats(facts, asked.now, has_run=False))]


async def _list_ways(db: Connection, asked: Asked, trigger: Trigger) -> list[Decision]:
    wanted, person = trigger.recipients, asked.person
    joined: Mapping[TopicId, Millis] = {}
    if person is not None and wanted.topics:
        topic_ids = [topic_id_of(one) for one in wanted.topics]
        joined = await list_memberships(db, asked.environment_id, topic_ids, person.id)
    existing = await list_existing_topics(db, trigger)
    ways = []
    for one in wanted.topics:
        topic_id = topic_id_of(one)
        ways.append(_decide_topic(asked, trigger, one, joined.get(topic_id), exists=topic_id in existing))
    if wanted.everyone:
        ways.append(_decide_everyone(asked, trigger))
    if is_named(trigger, asked.key):
        text = f"The trigger names {asked.name} as a recipient."
        ways.append(derived(trigger, DecisionKind.RECIPIENT, Verdict.PASSED, text))
    return ways


def _list_missing_topics(trigger: Trigger) -> Iterator[Decision]:
    for key in trigger.recipients.missing_topics:
        text = f"The trigger is for the topic '{key}', which did not exist when it was accepted."
        remedy = "Create the topic and subscribe people to it, then trigger the workflow again."
        yield derived(trigger, DecisionKind.RECIPIENT, Verdict.STOPPED, text, {"topicKey": key}, remedy)


def list_repeats(facts: TriggerFacts, now: Millis, *, has_run: bool) -> Iterator[Decision]:
    """That the transaction was sent again, which did nothing."""
    if not facts.repeats:
        return
    times = "once" if facts.repeats == 1 else f"{facts.repeats} times"
    last = "" if facts.repeated_at is None else f", last on {moment_text(facts.repeated_at, now)}"
    yield Decision(
        at=facts.repeated_at,
        kind=DecisionKind.DUPLICATE,
        verdict=Verdict.PASSED if has_run else Verdict.STOPPED,
        summary=f"The same transactionId was sent again {times}{last}: that was answered alike and not run. "
        "Whom it was for is not stored.",
        values={"repeats": facts.repeats},
        remedy="Another transactionId for each trigger.",
    )


def _has_lost_runs(asked: Asked, trigger: Trigger, facts: TriggerFacts) -> bool:
    """Whether there may have been a run for the person that is deleted."""
    is_over = trigger.state in (TriggerState.DONE, TriggerState.FAILED)
    return is_over and (facts.runs_deleted_at is not None or trigger.created_at < asked.horizon)


def _erased(asked: Asked) -> Decision:
    moment = asked.erased_at or asked.now
    text = (
        f"'{asked.key}' was erased on {moment_text(moment, asked.now)}, with everything that was stored of them: what "
        "came of the trigger for them is not known any more."
    )
    values = {"subscriberId": asked.key, "erasedAt": iso_text(moment)}
    return derived(None, DecisionKind.RECIPIENT, Verdict.UNKNOWN, text, values, at=moment)


def _decide_topic(
    asked: Asked, trigger: Trigger, topic: TopicTarget, joined_at: Millis | None, *, exists: bool
) -> Decision:
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
    if not exists:
        text = f"The topic '{topic.key}', which the trigger is for, was deleted since: who was a member is not known."
        return derived(trigger, DecisionKind.RECIPIENT, Verdict.UNKNOWN, text, values, remedy)
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


async def _decide_progress(db: Connection, asked: Asked, trigger: Trigger, facts: TriggerFacts) -> Decision:
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
    return _lost(asked, trigger, facts)


def _lost(asked: Asked, trigger: Trigger, facts: TriggerFacts) -> Decision:
    """A run that there was or may have been: deleted, as far as that is known."""
    values = {"state": trigger.state, "keptSince": iso_text(asked.horizon)}
    remedy: str | None = "Keep runs for longer (see the retention of the environment); what is deleted stays so."
    kept = f"Runs are kept since {day_text(asked.horizon, asked.now)}."
    if facts.runs_deleted_at is not None:
        text = (
            f"Retention deleted runs of this trigger, from {moment_text(facts.runs_deleted_at, asked.now)} on. {kept}"
        )
    elif trigger.created_at < asked.horizon:
        text = f"A run from before {day_text(asked.horizon, asked.now)} is deleted. {kept}"
    elif asked.was_created_after(trigger.created_at):
        text = f"A person with the subscriberId '{asked.key}' was deleted after the trigger, with their runs."
    else:
        text, remedy = "There is no run for the person, and why was not recorded.", None
    text += " What came of it for the person is not known any more."
    return derived(trigger, DecisionKind.RECIPIENT, Verdict.UNKNOWN, text, values, remedy, at=facts.runs_deleted_at)


def _not_a_recipient(asked: Asked, trigger: Trigger) -> Decision:
    people, erased = [one.key for one in trigger.recipients.people], trigger.recipients.erased
    if erased and asked.was_created_after(trigger.created_at):
        text = (
            f"{count_text(erased, 'person', 'people')} whom the trigger named were erased since; whether '{asked.key}' "
            "was among them is not stored."
        )
        return derived(trigger, DecisionKind.RECIPIENT, Verdict.UNKNOWN, text, {"erased": erased})
    if not people and not erased:
        text = "The trigger has no recipients; why was not recorded."
        return derived(trigger, DecisionKind.RECIPIENT, Verdict.UNKNOWN, text)
    if asked.person is None:
        return _unknown_person(asked, trigger)
    named = list_text(f"'{one}'" for one in people) or "people who were erased since"
    text = f"The trigger is for {named}, and not for {asked.name}."
    remedy = "Name the person as a recipient of the trigger."
    return derived(trigger, DecisionKind.RECIPIENT, Verdict.STOPPED, text, {"recipients": len(people)}, remedy)


def _unknown_person(asked: Asked, trigger: Trigger | None) -> Decision:
    text = f"{unknown_text(asked)} The trigger does not name it."
    return derived(trigger, DecisionKind.RECIPIENT, Verdict.STOPPED, text, {"subscriberId": asked.key}, CREATE_PERSON)


CREATE_PERSON = "Create the person, or name them in `to`: who is named and does not exist is created."


def unknown_text(asked: Asked) -> str:
    """That there is nobody, with the key that may be meant."""
    near = "" if asked.near_key is None else f" Is '{asked.near_key}' meant?"
    return f"Nobody in this environment has the subscriberId '{asked.key}'.{near}"


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
