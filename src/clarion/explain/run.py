"""Explains one run: every decision of it in order, and what came of each channel."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.errors import NotFound
from clarion.explain.absent import list_repeats
from clarion.explain.gaps import list_gaps
from clarion.explain.inbox import list_marks
from clarion.explain.model import Decision, DecisionKind, DecisionSource, Explanation, Outcome, Verdict
from clarion.explain.results import list_results
from clarion.explain.rules.registry import decide
from clarion.explain.rules.seen import Seen
from clarion.explain.store import StoredRun, get_run
from clarion.explain.words import CHANNEL_WORDS, moment_text
from clarion.ids import EnvironmentId, NotificationId, id_text
from clarion.vocabulary import Channel

_MAX_MERGES = 20
"""A workflow has no more digests than steps, so that no chain of merged runs is longer."""


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
    explanation: Explanation | None = None
    for run in reversed(chain):
        explanation = _explain(run, explanation, now)
    if explanation is None:
        raise NotFound("Notification", id_text(notification_id))
    return explanation if channel is None else for_channel(explanation, channel, now)


def for_channel(explanation: Explanation, channel: Channel, now: Millis) -> Explanation:
    """What concerns one channel: its own decisions, and those about the whole run."""
    results = {one: result for one, result in explanation.channels.items() if one is channel}
    decisions = [one for one in explanation.decisions if one.channel in (None, channel)]
    if not results:
        decisions.append(_no_step(explanation, channel, now))
    return replace(explanation, channels=results, decisions=decisions)


def _explain(run: StoredRun, leader: Explanation | None, now: Millis) -> Explanation:
    decisions: list[Decision] = [*_list_beginnings(run, now)]
    by_job: dict[int, list[Decision]] = {}
    for job in run.jobs:
        found = [decision for one in job.details for decision in decide(Seen(run=run, job=job, detail=one, now=now))]
        found += list_marks(run, job, now)
        found += list_gaps(run, job, found, now)
        by_job[job.step] = found
        decisions += found
    decisions += _tell_leader(run, leader)
    decisions += list_repeats(run.facts, now, has_run=True)
    trigger, workflow = run.trigger, run.workflow
    return Explanation(
        subscriber_key=run.subscriber_key,
        workflow_key=None if workflow is None else workflow.key,
        notification_id=run.notification.id,
        transaction_key=None if trigger is None else trigger.transaction_key,
        channels=list_results(run, by_job, leader),
        # What has no moment is about now, and stands at the end; those of one moment are in the order of the steps.
        decisions=sorted(decisions, key=lambda one: (one.at is None, one.at or 0)),
    )


def _list_beginnings(run: StoredRun, now: Millis) -> Iterator[Decision]:
    """Why there is a run at all: the workflow was triggered, and the person is a recipient."""
    workflow, version, trigger = run.workflow, run.version, run.trigger
    derived = DecisionSource.DERIVED
    if workflow is not None and version is not None:
        at = run.notification.created_at if trigger is None else trigger.created_at
        yield Decision(
            at=at,
            kind=DecisionKind.WORKFLOW,
            verdict=Verdict.PASSED,
            summary=f"The workflow '{workflow.name}' was triggered on {moment_text(at, now)}; version {version.number} "
            "ran.",
            values={"workflowId": workflow.key, "version": version.number, "critical": run.was_critical},
            source=derived,
        )
        for step in version.steps:
            if not step.active:
                yield Decision(
                    at=at,
                    kind=DecisionKind.WORKFLOW,
                    verdict=Verdict.STOPPED,
                    summary=f"The step '{step.name}' is switched off in version {version.number}.",
                    step_id=step.step_id,
                    channel=step.channel,
                    values={"version": version.number, "active": False},
                    remedy="Switch the step on and save the workflow; later triggers run it.",
                    source=derived,
                )
    yield _recipient(run)


def _recipient(run: StoredRun) -> Decision:
    name, topics = run.name, [one.get("topicKey", "") for one in run.notification.topics]
    recipients = None if run.trigger is None else run.trigger.recipients
    if topics:
        summary = f"{name} was a member of the topic '{topics[0]}', which the trigger is for."
    elif recipients is not None and recipients.everyone:
        summary = f"The trigger is for everyone, and so for {name}."
    elif recipients is not None and any(one.key == run.subscriber_key for one in recipients.people):
        summary = f"The trigger names {name} as a recipient."
        if run.has_created_person:
            return _created_person(run, summary)
    else:
        summary = f"{name} was a recipient of the trigger; in which way was not recorded."
    return Decision(
        at=run.notification.created_at,
        kind=DecisionKind.RECIPIENT,
        verdict=Verdict.PASSED,
        summary=summary,
        values={"topics": topics} if topics else {},
        source=DecisionSource.DERIVED,
    )


def _created_person(run: StoredRun, summary: str) -> Decision:
    """The trigger created the person, perhaps because their key is mistyped."""
    key, near = run.subscriber_key, run.near_key
    meant = "" if near is None else f" Is '{near}' meant?"
    values = {"subscriberId": key, "created": True} | ({} if near is None else {"near": near})
    return Decision(
        at=run.notification.created_at,
        kind=DecisionKind.RECIPIENT,
        verdict=Verdict.PASSED,
        summary=f"{summary} Nobody had the subscriberId '{key}' before: this trigger created the person.{meant}",
        values=values,
        remedy="If the subscriberId is mistyped, trigger the workflow for the right one, and delete this person.",
        source=DecisionSource.DERIVED,
    )


def _tell_leader(run: StoredRun, leader: Explanation | None) -> Iterator[Decision]:
    """What became of the run that has the event of this one."""
    into = run.notification.digested_into
    if into is None:
        return
    link, verdict = id_text(into), Verdict.STOPPED
    if leader is None:
        summary = f"The run {link}, which has the event, is not stored any more."
        values: dict[str, object] = {"notificationId": link}
    else:
        results = leader.channels.items()
        told = "; ".join(f"{CHANNEL_WORDS[one]}: {result.outcome}. {result.summary}" for one, result in results)
        summary = f"The run {link} has the event. {told}".strip()
        values = {"notificationId": link, "channels": {one: result.outcome for one, result in results}}
        verdict = _leader_verdict([result.outcome for _, result in results])
    yield Decision(
        at=None,
        kind=DecisionKind.DIGEST,
        verdict=verdict,
        summary=summary,
        values=values,
        source=DecisionSource.DERIVED,
    )


def _leader_verdict(outcomes: Sequence[Outcome]) -> Verdict:
    if Outcome.WAITING in outcomes:
        return Verdict.WAITING
    if Outcome.DELIVERED in outcomes or Outcome.SENT in outcomes:
        return Verdict.PASSED
    return Verdict.FAILED if Outcome.FAILED in outcomes else Verdict.STOPPED


def _no_step(explanation: Explanation, channel: Channel, now: Millis) -> Decision:
    word = CHANNEL_WORDS[channel]
    return Decision(
        at=now,
        kind=DecisionKind.WORKFLOW,
        verdict=Verdict.STOPPED,
        summary=f"The version of the workflow that ran has no {word} step.",
        channel=channel,
        values={"channels": sorted(explanation.channels)},
        remedy=f"Add a step for {word} to the workflow; later triggers run it.",
        source=DecisionSource.DERIVED,
    )
