"""Explains one run: every decision of it in order, and what came of each channel."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.errors import NotFound
from clarion.explain.absent import list_repeats, triggered_text
from clarion.explain.branching import list_not_taken
from clarion.explain.model import (
    CHANNEL_WORDS,
    ChannelResult,
    Decision,
    DecisionKind,
    Explanation,
    Outcome,
    Verdict,
    derived,
    find_channel,
)
from clarion.explain.observed import Observed, ObservedJob, find_gap, list_marks
from clarion.explain.rules import list_decisions
from clarion.explain.segments import tell_segments
from clarion.explain.store import StoredJob, StoredRun, get_run
from clarion.ids import EnvironmentId, NotificationId, id_text
from clarion.vocabulary import Channel, JobStatus, MessageStatus, StepType

_MAX_MERGES = 20
"""A workflow has no more digests than steps, so that no chain of merged runs is longer."""
_OUTCOMES = {
    JobStatus.SKIPPED: Outcome.SKIPPED,
    JobStatus.FAILED: Outcome.FAILED,
    JobStatus.CANCELED: Outcome.CANCELED,
    JobStatus.MERGED: Outcome.MERGED,
}
_ARRIVED = frozenset({"delivered", "opened", "clicked"})
_TELLING = {
    Outcome.DELIVERED: frozenset({Verdict.PASSED}),
    Outcome.SENT: frozenset({Verdict.PASSED}),
    Outcome.WAITING: frozenset({Verdict.WAITING}),
    Outcome.FAILED: frozenset({Verdict.FAILED, Verdict.STOPPED}),
    Outcome.SKIPPED: frozenset({Verdict.STOPPED}),
    Outcome.MERGED: frozenset({Verdict.STOPPED}),
    Outcome.CANCELED: frozenset({Verdict.STOPPED, Verdict.FAILED}),
    Outcome.DELETED: frozenset({Verdict.STOPPED}),
}
_IN_APP_OUTCOMES = {
    Verdict.PASSED: Outcome.DELIVERED,
    Verdict.WAITING: Outcome.WAITING,
    Verdict.STOPPED: Outcome.DELETED,
}
"""What the last thing that happened to an in-app message makes of it: it was marked, snoozed or deleted."""
_SENDING = frozenset({DecisionKind.ATTEMPT, DecisionKind.RECEIPT})


async def explain_run(
    db: Connection,
    environment_id: EnvironmentId,
    notification_id: NotificationId,
    now: Millis,
    *,
    channel: Channel | None = None,
) -> Explanation:
    """Explain a run from what is stored of it, for one channel or for all; raises NotFound."""
    chain = [await get_run(db, environment_id, notification_id)]
    while chain[-1].notification.digested_into is not None and len(chain) <= _MAX_MERGES:
        try:
            chain.append(await get_run(db, environment_id, chain[-1].notification.digested_into))
        except NotFound:
            break
    explanation = _explain(chain.pop(), None, now)
    for run in reversed(chain):
        explanation = _explain(run, explanation, now)
    return explanation if channel is None else for_channel(explanation, channel, now)


def for_channel(explanation: Explanation, channel: Channel, now: Millis) -> Explanation:
    """What concerns one channel: its own decisions, and those about the whole run."""
    results = {one: result for one, result in explanation.channels.items() if one is channel}
    decisions = [one for one in explanation.decisions if one.channel in (None, channel)]
    if not results:
        word, values = CHANNEL_WORDS[channel], {"channels": sorted(explanation.channels)}
        summary = f"The version of the workflow that ran has no {word} step."
        remedy = f"Add a step for {word} to the workflow; later triggers run it."
        missing = derived(now, DecisionKind.WORKFLOW, Verdict.STOPPED, summary, values, remedy)
        decisions.append(replace(missing, channel=channel))
    return replace(explanation, channels=results, decisions=decisions)


def _explain(run: StoredRun, leader: Explanation | None, now: Millis) -> Explanation:
    decisions = [*_list_beginnings(run, now), _recipient(run)]
    by_job: dict[int, list[Decision]] = {}
    for job in run.jobs:
        details = (Observed(run=run, job=job, now=now, detail=one) for one in job.details)
        told = [decision for one in details for decision in list_decisions(one)]
        observed = ObservedJob(run=run, job=job, now=now)
        told += list_marks(observed)
        gap = find_gap(observed, told)
        told += [] if gap is None else [gap]
        by_job[job.step] = told
        decisions += told
    decisions += _tell_leader(run, leader)
    decisions += list_repeats(run.facts, now, has_run=True)
    return Explanation(
        subscriber_key=run.subscriber_key,
        workflow_key=None if run.workflow is None else run.workflow.key,
        notification_id=run.notification.id,
        transaction_key=None if run.trigger is None else run.trigger.transaction_key,
        channels=_list_results(run, by_job, leader),
        # What has no moment is about now, and stands at the end; those of one moment are in the order of the steps.
        decisions=sorted(decisions, key=lambda one: (one.at is None, one.at or 0)),
        warnings=run.facts.warnings,
    )


def _list_beginnings(run: StoredRun, now: Millis) -> Iterator[Decision]:
    """Why there is a run at all: the workflow was triggered, and which of its steps are switched off."""
    workflow, version, trigger, kind = run.workflow, run.version, run.trigger, DecisionKind.WORKFLOW
    if workflow is None or version is None:
        return
    at = run.notification.created_at if trigger is None else trigger.created_at
    triggered = triggered_text(workflow.name, at, run.facts.accepted_at, now)
    summary = f"{triggered}; {version.numbers_text} ran."
    values = {"workflowId": workflow.key, "version": version.shown_number, "critical": run.was_critical}
    yield derived(at, kind, Verdict.PASSED, summary, values)
    remedy = "Switch the step on and save the workflow; later triggers run it."
    for step in version.steps:
        if not step.active:
            summary = f"The step '{step.name}' is switched off in version {version.shown_number}."
            off = {"version": version.shown_number, "active": False}
            decision = derived(at, kind, Verdict.STOPPED, summary, off, remedy)
            yield replace(decision, step_id=step.step_id, channel=step.channel)


def _recipient(run: StoredRun) -> Decision:
    """Why the person has a run."""
    name, topics = run.name, [one.get("topicKey", "") for one in run.notification.topics]
    recipients = None if run.trigger is None else run.trigger.recipients
    is_named = recipients is not None and any(one.key == run.subscriber_key for one in recipients.people)
    values: dict[str, Any] = {"topics": topics} if topics else {}
    remedy = None
    if topics:
        summary = f"{name} was a member of the topic '{topics[0]}', which the trigger is for."
    elif recipients is not None and recipients.everyone:
        summary = f"The trigger is for everyone, and so for {name}."
    elif run.segments and not is_named:
        summary, way = tell_segments(run.segments, name)
        values = {} if way is None else way.values
    elif not is_named:
        summary = f"{name} was a recipient of the trigger; in which way was not recorded."
    else:
        summary = f"The trigger names {name} as a recipient."
        if run.has_created_person:
            # Perhaps because their key is mistyped.
            key, near = run.subscriber_key, run.near_key
            meant = "" if near is None else f" Is '{near}' meant?"
            values = {"subscriberId": key, "created": True} | ({} if near is None else {"near": near})
            summary += f" Nobody had the subscriberId '{key}' before: this trigger created the person.{meant}"
            remedy = "If the subscriberId is mistyped, trigger the workflow for the right one, and delete this person."
    return derived(run.notification.created_at, DecisionKind.RECIPIENT, Verdict.PASSED, summary, values, remedy)


def _tell_leader(run: StoredRun, leader: Explanation | None) -> Iterator[Decision]:
    """What became of the run that has the event of this one."""
    into = run.notification.digested_into
    if into is None:
        return
    link, verdict = id_text(into), Verdict.STOPPED
    values: dict[str, Any] = {"notificationId": link}
    summary = f"The run {link}, which has the event, is not stored any more."
    if leader is not None:
        results = leader.channels.items()
        told = "; ".join(f"{CHANNEL_WORDS[one]}: {result.outcome}. {result.summary}" for one, result in results)
        summary = f"The run {link} has the event. {told}".strip()
        values["channels"] = {one: result.outcome for one, result in results}
        verdict = _leader_verdict([result.outcome for _, result in results])
    yield derived(None, DecisionKind.DIGEST, verdict, summary, values)


def _leader_verdict(outcomes: Sequence[Outcome]) -> Verdict:
    if Outcome.WAITING in outcomes:
        return Verdict.WAITING
    if Outcome.DELIVERED in outcomes or Outcome.SENT in outcomes:
        return Verdict.PASSED
    return Verdict.FAILED if Outcome.FAILED in outcomes else Verdict.STOPPED


def _list_results(
    run: StoredRun, decisions: Mapping[int, Sequence[Decision]], leader: Explanation | None
) -> dict[Channel, ChannelResult]:
    """The best outcome of each channel, with what the other steps of the channel came to."""
    by_channel: dict[Channel, list[tuple[str, ChannelResult]]] = {}
    for job in run.jobs:
        channel = find_channel(job.type)
        if channel is not None:
            step = run.step_of(job)
            result = _result(run, job, decisions[job.step], leader)
            by_channel.setdefault(channel, []).append(("" if step is None else step.name, result))
    for step in () if run.version is None else run.version.steps:
        if not step.active and step.channel is not None:
            off = ChannelResult(Outcome.SKIPPED, f"The step '{step.name}' is switched off in the workflow.")
            by_channel.setdefault(step.channel, []).append((step.name, off))
    for step, reason in list_not_taken(run):
        if step.channel is not None:
            result = ChannelResult(Outcome.SKIPPED, reason)
            by_channel.setdefault(step.channel, []).append((step.name, result))
    return {channel: _best(results) for channel, results in by_channel.items()}


def _best(results: Sequence[tuple[str, ChannelResult]]) -> ChannelResult:
    ordered = sorted(results, key=lambda one: list(Outcome).index(one[1].outcome))
    if len(ordered) == 1:
        return ordered[0][1]
    summaries = [f"{name}: {one.summary}" if name else one.summary for name, one in ordered]
    return ChannelResult(ordered[0][1].outcome, " ".join(summaries))


def _result(run: StoredRun, job: StoredJob, decisions: Sequence[Decision], leader: Explanation | None) -> ChannelResult:
    outcome = _outcome(run, job, decisions)
    summary = _summary(outcome, decisions)
    into = run.notification.digested_into
    if outcome is Outcome.MERGED and into is not None:
        result = None if leader is None else leader.channels.get(Channel(job.type.value))
        told = "" if result is None else f" That one is {result.outcome}: {result.summary}"
        summary = f"Merged into the digest of the run {id_text(into)}.{told}"
    return ChannelResult(outcome, summary)


def _outcome(run: StoredRun, job: StoredJob, decisions: Sequence[Decision]) -> Outcome:
    if job.status in _OUTCOMES:
        return _OUTCOMES[job.status]
    if job.status is not JobStatus.COMPLETED:
        return Outcome.WAITING
    reported = [one.verdict for one in decisions if one.kind is DecisionKind.RECEIPT]
    if job.type is StepType.IN_APP:
        return _IN_APP_OUTCOMES[reported[-1]] if reported else Outcome.DELIVERED
    messages = run.messages_of(job)
    if not messages:
        # The record of the message was deleted; what its provider reported is told by the job.
        return Outcome.FAILED if Verdict.FAILED in reported else Outcome.SENT
    if any(not _ARRIVED.isdisjoint(one.delivery or ()) and one.status is MessageStatus.SENT for one in messages):
        return Outcome.DELIVERED
    # A bounce comes after the provider accepted the message.
    is_failed = all(one.status is MessageStatus.ERROR for one in messages)
    return Outcome.FAILED if is_failed else Outcome.SENT


def _summary(outcome: Outcome, decisions: Sequence[Decision]) -> str:
    telling = [one for one in decisions if one.verdict in _TELLING[outcome]]
    if outcome in (Outcome.SENT, Outcome.DELIVERED):
        telling = [one for one in telling if one.kind in _SENDING] or telling
    return telling[-1].summary if telling else f"The step is {outcome}; why was not recorded."
