"""What became of an in-app message after it was put into the inbox."""

from collections.abc import Iterator

from clarion.clock import Millis, iso_text
from clarion.explain.model import Decision, DecisionKind, DecisionSource, Verdict
from clarion.explain.store import StoredJob, StoredMessage, StoredRun
from clarion.explain.words import day_text, moment_text
from clarion.ids import id_text
from clarion.vocabulary import Channel, JobStatus, StepType


def list_marks(run: StoredRun, job: StoredJob, now: Millis) -> Iterator[Decision]:
    """What the person did with the message of an in-app step; its deletion is a detail of the job."""
    if job.type is not StepType.IN_APP or job.status is not JobStatus.COMPLETED:
        return
    for message in run.messages_of(job):
        for at, what in _marks(message):
            summary = f"{run.name} {what} the message on {day_text(at, now)}."
            yield _mark(run, job, at, Verdict.PASSED, summary, {"_messageId": id_text(message.id)})
        if is_snoozed(message, now):
            yield _snoozed(run, job, message, now)
    if not run.messages_of(job) and not job.has_deleted_message:
        summary = "The message is not in the inbox any more; when it was deleted, and by whom, was not recorded."
        yield _mark(run, job, None, Verdict.STOPPED, summary, {})


def is_snoozed(message: StoredMessage, now: Millis) -> bool:
    return message.snoozed_until is not None and message.snoozed_until > now


def _marks(message: StoredMessage) -> Iterator[tuple[Millis, str]]:
    if message.seen_at is not None:
        yield message.seen_at, "saw"
    if message.read_at is not None:
        yield message.read_at, "read"
    if message.archived_at is not None:
        yield message.archived_at, "archived"


def _snoozed(run: StoredRun, job: StoredJob, message: StoredMessage, now: Millis) -> Decision:
    until = message.snoozed_until or now
    summary = f"{run.name} snoozed the message: it is hidden until {moment_text(until, now)}, and comes back then."
    values = {"_messageId": id_text(message.id), "snoozedUntil": iso_text(until)}
    return _mark(run, job, None, Verdict.WAITING, summary, values, f"{run.name} ends the snooze in the inbox.")


def _mark(  # noqa: PLR0913, PLR0917 - the parts of a decision
    run: StoredRun,
    job: StoredJob,
    at: Millis | None,
    verdict: Verdict,
    summary: str,
    values: dict[str, str],
    remedy: str | None = None,
) -> Decision:
    step = run.step_of(job)
    return Decision(
        at=at,
        kind=DecisionKind.RECEIPT,
        verdict=verdict,
        summary=summary,
        step_id=None if step is None else step.step_id,
        channel=Channel.IN_APP,
        values=values,
        remedy=remedy,
        source=DecisionSource.DERIVED,
    )
