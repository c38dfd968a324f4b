"""What came of each channel of a run, in one word and one sentence."""

from collections.abc import Mapping, Sequence

from clarion.explain.model import ChannelResult, Decision, DecisionKind, Explanation, Outcome, Verdict
from clarion.explain.store import StoredJob, StoredRun
from clarion.explain.words import find_channel
from clarion.ids import id_text
from clarion.vocabulary import Channel, JobStatus, MessageStatus, StepType

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


def list_results(
    run: StoredRun, decisions: Mapping[int, Sequence[Decision]], leader: Explanation | None
) -> dict[Channel, ChannelResult]:
    """The best outcome of each channel, with what the other steps of the channel came to."""
    found: dict[Channel, list[tuple[str, ChannelResult]]] = {}
    for job in run.jobs:
        channel = find_channel(job.type)
        if channel is not None:
            step = run.step_of(job)
            result = _result(run, job, decisions[job.step], leader)
            found.setdefault(channel, []).append(("" if step is None else step.name, result))
    for step in () if run.version is None else run.version.steps:
        if not step.active and step.channel is not None:
            off = ChannelResult(Outcome.SKIPPED, f"The step '{step.name}' is switched off in the workflow.")
            found.setdefault(step.channel, []).append((step.name, off))
    return {channel: _best(results) for channel, results in found.items()}


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
