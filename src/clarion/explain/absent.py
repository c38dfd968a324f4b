"""Explains why a trigger has no run for a person: whom it was for, and how far it has come."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from clarion.clock import Millis, iso_text
from clarion.contexts.model import keys_of
from clarion.db.port import Connection
from clarion.explain.model import (
    ChannelResult,
    Decision,
    DecisionKind,
    Explanation,
    Outcome,
    Verdict,
    day_text,
    derived,
    list_text,
    moment_text,
    name_of,
)
from clarion.explain.segment_store import list_segment_ways
from clarion.explain.segments import decide_way
from clarion.explain.trigger_store import (
    TopicMembership,
    TriggerFacts,
    find_facts,
    is_in_recipient_batch,
    list_existing_topics,
    list_memberships,
    topic_id_of,
)
from clarion.ids import EnvironmentId, SubscriberKey, TopicId
from clarion.subscribers.model import Subscriber
from clarion.triggers.model import TopicTarget, Trigger, TriggerState, ZoneTarget
from clarion.vocabulary import Channel, count_text
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


class ExplainRequest(Struct, frozen=True, kw_only=True):
    """Who is asked about, and when."""

    environment_id: EnvironmentId
    key: SubscriberKey
    person: Subscriber | None
    """None: nobody has the key."""
    channel: Channel | None
    """None: all of them."""
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


async def explain_absence(db: Connection, request: ExplainRequest, trigger: Trigger) -> Explanation:
    """Why there is no run of the trigger for the person."""
    workflows = await list_workflows_by_id(db, request.environment_id, [trigger.workflow_id])
    versions = await list_versions_by_id(db, request.environment_id, [trigger.version_id])
    workflow, version = workflows.get(trigger.workflow_id), versions.get(trigger.version_id)
    facts = await find_facts(db, trigger)
    reasons = await _list_reasons(db, request, trigger, facts)
    main = min(reasons, key=_weight)
    return Explanation(
        subscriber_key=request.key,
        workflow_key=None if workflow is None else workflow.key,
        transaction_key=trigger.transaction_key,
        channels={} if version is None else dict.fromkeys(version.channels, _result(main)),
        decisions=[*_list_beginnings(trigger, workflow, version, request.now, facts.accepted_at), *reasons],
        warnings=facts.warnings,
    )


def _weight(reason: Decision) -> tuple[bool, bool, bool]:
    return reason.verdict is Verdict.PASSED, reason.kind not in _WEIGHTS, reason.verdict is Verdict.STOPPED


def _result(main: Decision) -> ChannelResult:
    outcome = Outcome.CANCELED if main.kind is DecisionKind.CANCEL else _OUTCOMES[main.verdict]
    return ChannelResult(outcome, main.summary)


def _list_beginnings(
    trigger: Trigger,
    workflow: Workflow | None,
    version: WorkflowVersion | None,
    now: Millis,
    accepted_at: Millis | None,
) -> Iterator[Decision]:
    if workflow is None or version is None:
        return
    at = trigger.created_at
    summary = f"{triggered_text(workflow.name, at, accepted_at, now)}."
    values = {"workflowId": workflow.key, "version": version.number, "critical": trigger.priority.is_critical}
    yield derived(at, DecisionKind.WORKFLOW, Verdict.PASSED, summary, values)


def triggered_text(name: str, at: Millis, accepted_at: Millis | None, now: Millis) -> str:
    """When a workflow was triggered, and for when if that was later."""
    if accepted_at is None:
        return f"The workflow '{name}' was triggered on {moment_text(at, now)}"
    return (
        f"The workflow '{name}' was triggered on {moment_text(accepted_at, now)}, for {moment_text(at, now)} (sendAt)"
    )


async def _list_reasons(
    db: Connection, request: ExplainRequest, trigger: Trigger, facts: TriggerFacts
) -> list[Decision]:
    """Each way in which the trigger can reach people, and why it did not reach this one."""
    if request.was_erased_since(trigger.created_at):
        return [_erased(request), *list_repeats(facts, request.now, has_run=False)]
    ways = [*await _list_ways(db, request, trigger), *_list_missing_topics(trigger)]
    is_meant = any(one.verdict is Verdict.PASSED for one in ways)
    # One whose recipients were all erased before they had runs is not canceled by its caller.
    if trigger.is_canceled and trigger.recipients:
        ways.append(_canceled(trigger))
    elif is_meant:
        ways.append(await _decide_progress(db, request, trigger, facts))
    elif ways and _has_lost_runs(request, trigger, facts):
        ways.append(_lost(request, trigger, facts))
    reasons = ways or [_not_a_recipient(request, trigger)]
    return [*reasons, *([] if is_meant else list_repeats(facts, request.now, has_run=False))]


async def _list_ways(db: Connection, request: ExplainRequest, trigger: Trigger) -> list[Decision]:
    wanted, person = trigger.recipients, request.person
    if wanted.zone is not None and person is not None and not wanted.zone.includes(person):
        return [_decide_zone(request, trigger, wanted.zone, person)]
    joined: Mapping[TopicId, TopicMembership] = {}
    if person is not None and wanted.topics:
        topic_ids = [topic_id_of(one) for one in wanted.topics]
        joined = await list_memberships(db, request.environment_id, topic_ids, person.id)
    existing = await list_existing_topics(db, trigger)
    ways = []
    for topic in wanted.topics:
        topic_id = topic_id_of(topic)
        ways.append(_decide_topic(request, trigger, topic, joined.get(topic_id), exists=topic_id in existing))
    if person is not None:
        in_segments = await list_segment_ways(db, trigger, person)
        ways += [decide_way(one, trigger, person, name=request.name, now=request.now) for one in in_segments]
    elif wanted.segments:
        ways.append(_unknown_person(request, trigger))
    if wanted.everyone:
        ways.append(_decide_everyone(request, trigger))
    if is_named(trigger, request.key):
        text = f"The trigger names {request.name} as a recipient."
        ways.append(derived(trigger.created_at, DecisionKind.RECIPIENT, Verdict.PASSED, text))
    return ways


def _decide_zone(request: ExplainRequest, trigger: Trigger, zone: ZoneTarget, person: Subscriber) -> Decision:
    """Of a schedule in the time zones of people, which triggers once for each zone."""
    meant = "without a time zone" if zone.name is None else f"in the time zone {zone.name}"
    theirs = "has none" if person.timezone is None else f"has {person.timezone}"
    text = f"The trigger is for people {meant}, and {request.name} {theirs}."
    remedy = "Look at the run of the schedule for the time zone of the person."
    values = {"timezone": zone.name}
    return derived(trigger.created_at, DecisionKind.RECIPIENT, Verdict.STOPPED, text, values, remedy)


def _list_missing_topics(trigger: Trigger) -> Iterator[Decision]:
    for key in trigger.recipients.missing_topics:
        text = f"The trigger is for the topic '{key}', which did not exist when it was accepted."
        remedy = "Create the topic and subscribe people to it, then trigger the workflow again."
        yield derived(trigger.created_at, DecisionKind.RECIPIENT, Verdict.STOPPED, text, {"topicKey": key}, remedy)


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


def _has_lost_runs(request: ExplainRequest, trigger: Trigger, facts: TriggerFacts) -> bool:
    """Whether there may have been a run for the person that is deleted."""
    is_over = trigger.state in (TriggerState.DONE, TriggerState.FAILED)
    return is_over and (facts.runs_deleted_at is not None or trigger.created_at < request.horizon)


def _erased(request: ExplainRequest) -> Decision:
    moment = request.erased_at or request.now
    text = (
        f"'{request.key}' was erased on {moment_text(moment, request.now)}, with everything that was stored of them: "
        "what came of the trigger for them is not known any more."
    )
    values = {"subscriberId": request.key, "erasedAt": iso_text(moment)}
    return derived(moment, DecisionKind.RECIPIENT, Verdict.UNKNOWN, text, values)


def _decide_topic(
    request: ExplainRequest, trigger: Trigger, topic: TopicTarget, membership: TopicMembership | None, *, exists: bool
) -> Decision:
    actor = trigger.recipients.actor
    values: dict[str, Any] = {"topicKey": topic.key}
    if request.key in topic.exclude:
        text = f"The trigger leaves {request.name} out of the topic '{topic.key}' (exclude)."
        remedy = "Take the person out of `exclude`, or name them as a recipient."
        return derived(trigger.created_at, DecisionKind.EXCLUSION, Verdict.STOPPED, text, values, remedy)
    if actor is not None and actor.key == request.key:
        text = f"{request.name} is the actor of the trigger, who gets no message about it through a topic."
        remedy = "Leave `actor` out of the trigger, or name the person as a recipient."
        return derived(trigger.created_at, DecisionKind.EXCLUSION, Verdict.STOPPED, text, values, remedy)
    remedy = "Subscribe the person to the topic before the trigger, or name them as a recipient."
    if not exists:
        text = f"The topic '{topic.key}', which the trigger is for, was deleted since: who was a member is not known."
        return derived(trigger.created_at, DecisionKind.RECIPIENT, Verdict.UNKNOWN, text, values, remedy)
    if membership is None:
        text = (
            f"{request.name} is not a member of the topic '{topic.key}', which the trigger is for. "
            "Whether they left it since is not recorded."
        )
        return derived(trigger.created_at, DecisionKind.RECIPIENT, Verdict.STOPPED, text, values, remedy)
    joined_at = membership.joined_at(trigger)
    if joined_at is None:
        return _in_other_context(request, trigger, topic, membership)
    values["joinedAt"] = iso_text(joined_at)
    if joined_at > trigger.created_at and trigger.state is not TriggerState.EXPANDING:
        moment = moment_text(joined_at, request.now)
        text = f"{request.name} joined the topic '{topic.key}' on {moment}, after the trigger."
        return derived(trigger.created_at, DecisionKind.RECIPIENT, Verdict.STOPPED, text, values, remedy)
    text = f"{request.name} is a member of the topic '{topic.key}' since {day_text(joined_at, request.now)}."
    return derived(trigger.created_at, DecisionKind.RECIPIENT, Verdict.PASSED, text, values)


def _in_other_context(
    request: ExplainRequest, trigger: Trigger, topic: TopicTarget, membership: TopicMembership
) -> Decision:
    own, of_trigger = membership.list_contexts(), keys_of(trigger.contexts or {})
    text = (
        f"{request.name} is subscribed to the topic '{topic.key}' for messages of {' or of '.join(own)}, "
        f"and the trigger is of {' and '.join(of_trigger) or 'no context'}."
    )
    values = {"topicKey": topic.key, "subscribedContexts": own, "contextKeys": list(of_trigger)}
    remedy = "Trigger with exactly the context of the subscription, or subscribe the person for this context too."
    return derived(trigger.created_at, DecisionKind.RECIPIENT, Verdict.STOPPED, text, values, remedy)


def _decide_everyone(request: ExplainRequest, trigger: Trigger) -> Decision:
    if request.person is None:
        return _unknown_person(request, trigger)
    values = {"createdAt": iso_text(request.person.created_at)}
    if request.person.created_at > trigger.created_at:
        text = (
            f"The trigger is for everyone, but {request.name} was created on "
            f"{moment_text(request.person.created_at, request.now)}, after it."
        )
        remedy = "Trigger the workflow again, for the person."
        return derived(trigger.created_at, DecisionKind.RECIPIENT, Verdict.STOPPED, text, values, remedy)
    text = f"The trigger is for everyone, and so for {request.name}."
    return derived(trigger.created_at, DecisionKind.RECIPIENT, Verdict.PASSED, text, values)


async def _decide_progress(db: Connection, request: ExplainRequest, trigger: Trigger, facts: TriggerFacts) -> Decision:
    """What became of a person whom the trigger is for, although there is no run."""
    person, waiting = request.person, (DecisionKind.RECIPIENT, Verdict.WAITING)
    if trigger.state is TriggerState.SCHEDULED:
        text = f"The trigger waits for its moment, {moment_text(trigger.created_at, request.now)} (sendAt)."
        remedy = "Without `sendAt`, a trigger begins at once; DELETE /v1/events/trigger/{transactionId} cancels it."
        return derived(request.now, *waiting, text, {"sendAt": iso_text(trigger.created_at)}, remedy)
    if trigger.state is TriggerState.REFUSED:
        text = "At the moment of the trigger (sendAt), the workflow was deleted, inactive or without active steps."
        remedy = "Activate the workflow, then trigger it again with another transactionId."
        return derived(
            trigger.created_at, DecisionKind.WORKFLOW, Verdict.STOPPED, text, {"state": trigger.state}, remedy
        )
    if trigger.state is TriggerState.QUEUED:
        text = "The trigger is accepted, and waits for a worker."
        return derived(request.now, *waiting, text, {"state": trigger.state})
    if trigger.state is TriggerState.EXPANDING or (
        person is not None and await is_in_recipient_batch(db, trigger, person)
    ):
        text = f"The trigger is being handed to its recipients; {request.name} has not come to their turn yet."
        return derived(request.now, *waiting, text, {"state": trigger.state})
    if trigger.state is TriggerState.FAILED:
        text = "The trigger could not be worked on; the log of the worker says why."
        return derived(None, DecisionKind.RECIPIENT, Verdict.FAILED, text, {"state": trigger.state})
    return _lost(request, trigger, facts)


def _lost(request: ExplainRequest, trigger: Trigger, facts: TriggerFacts) -> Decision:
    """A run that there was or may have been: deleted, as far as that is known."""
    values = {"state": trigger.state, "keptSince": iso_text(request.horizon)}
    remedy: str | None = "Keep runs for longer (see the retention of the environment); what is deleted stays so."
    kept = f"Runs are kept since {day_text(request.horizon, request.now)}."
    if facts.runs_deleted_at is not None:
        text = (
            f"Retention deleted runs of this trigger, from {moment_text(facts.runs_deleted_at, request.now)} on. {kept}"
        )
    elif trigger.created_at < request.horizon:
        text = f"A run from before {day_text(request.horizon, request.now)} is deleted. {kept}"
    elif request.was_created_after(trigger.created_at):
        text = f"A person with the subscriberId '{request.key}' was deleted after the trigger, with their runs."
    else:
        text, remedy = "There is no run for the person, and why was not recorded.", None
        if trigger.recipients.segments:
            text += " If they are in its segment now, their data may have changed after the trigger came to them."
    text += " What came of it for the person is not known any more."
    return derived(facts.runs_deleted_at, DecisionKind.RECIPIENT, Verdict.UNKNOWN, text, values, remedy)


def _not_a_recipient(request: ExplainRequest, trigger: Trigger) -> Decision:
    people, erased = [one.key for one in trigger.recipients.people], trigger.recipients.erased
    if erased and request.was_created_after(trigger.created_at):
        text = (
            f"{count_text(erased, 'person', 'people')} whom the trigger named were erased since; whether "
            f"'{request.key}' was among them is not stored."
        )
        return derived(trigger.created_at, DecisionKind.RECIPIENT, Verdict.UNKNOWN, text, {"erased": erased})
    if not people and not erased:
        text = "The trigger has no recipients; why was not recorded."
        return derived(trigger.created_at, DecisionKind.RECIPIENT, Verdict.UNKNOWN, text)
    if request.person is None:
        return _unknown_person(request, trigger)
    named = list_text(f"'{one}'" for one in people) or "people who were erased since"
    text = f"The trigger is for {named}, and not for {request.name}."
    remedy = "Name the person as a recipient of the trigger."
    return derived(
        trigger.created_at, DecisionKind.RECIPIENT, Verdict.STOPPED, text, {"recipients": len(people)}, remedy
    )


def _unknown_person(request: ExplainRequest, trigger: Trigger) -> Decision:
    text = f"{unknown_text(request)} The trigger does not name it."
    return derived(
        trigger.created_at, DecisionKind.RECIPIENT, Verdict.STOPPED, text, {"subscriberId": request.key}, CREATE_PERSON
    )


CREATE_PERSON = "Create the person, or name them in `to`: who is named and does not exist is created."


def unknown_text(request: ExplainRequest) -> str:
    """That there is nobody, with the key that may be meant."""
    near = "" if request.near_key is None else f" Is '{request.near_key}' meant?"
    return f"Nobody in this environment has the subscriberId '{request.key}'.{near}"


def _canceled(trigger: Trigger) -> Decision:
    text = "The trigger was canceled before it had a run for the person; when was not recorded."
    remedy = "Trigger the workflow again, with another transactionId."
    return derived(None, DecisionKind.CANCEL, Verdict.STOPPED, text, {"state": trigger.state}, remedy)


def is_named(trigger: Trigger, key: SubscriberKey) -> bool:
    return any(one.key == key for one in trigger.recipients.people)
