"""What units of work and sends add to the measures of the process, once they are durable."""

from collections.abc import Sequence

from msgspec import Struct

from clarion.clock import SECOND, Millis
from clarion.engine.records import Run
from clarion.engine.sending.model import ClaimedSend
from clarion.engine.unit import UnitResult
from clarion.ids import NotificationId, id_millis
from clarion.jobs.model import ATTEMPTS_PER_DRIVE, FINISHED
from clarion.metrics.measures import Batch, Measures, MessageOutcome
from clarion.vocabulary import Channel, MessageStatus

_IN_APP_SENT = (Channel.IN_APP.value, MessageOutcome.SENT)


class RecordedSends(Struct, frozen=True):
    """What came of recording sends."""

    ours: Sequence[ClaimedSend] = ()
    """Those that were recorded; the others are another worker's by now."""
    ended_runs: frozenset[NotificationId] = frozenset()
    """Runs of which nothing is left to do."""
    has_released: bool = False
    """Whether a lane has work now."""


def measure_unit(measures: Measures, done: UnitResult, now: Millis) -> None:
    """Count what a unit of work did; `now` is the moment at which it was durable."""
    measures.batches[Batch.UNIT].observe(done.runs)
    for run in done.delivered:
        if run.messages:
            _count_messages(measures, run)
        if run.is_new:
            measures.started_runs += 1
            seconds = (now - run.trigger.created_at) / SECOND
            measures.lane_seconds.observe(seconds)
            if _has_ended(run):
                measures.completed_runs += 1
                measures.run_seconds.observe(seconds)
    for one in done.resumed:
        measures.lane_seconds.observe((now - one.due_at) / SECOND)
        if _has_ended(one.run):
            measures.completed_runs += 1
            measures.run_seconds.observe((now - one.began_at) / SECOND)


def measure_sends(measures: Measures, recorded: RecordedSends, now: Millis) -> None:
    """Count what became of sends, and the runs that ended with them."""
    if recorded.ours:
        measures.batches[Batch.SENDS].observe(len(recorded.ours))
    for send in recorded.ours:
        for message_id, outcome in send.outcomes.items():
            measures.messages[send.channel.value, _name_outcome(send, message_id, outcome.status)] += 1
        # A run that goes on without a failed step has ended before that step is redriven.
        if send.notification_id in recorded.ended_runs and send.job.attempt < ATTEMPTS_PER_DRIVE:
            measures.completed_runs += 1
            began_at = send.waited_until or find_trigger_moment(send)
            if began_at is not None:
                measures.run_seconds.observe((now - began_at) / SECOND)


def find_trigger_moment(send: ClaimedSend) -> Millis | None:
    """When the trigger of a send was accepted."""
    messages = (*send.messages, *send.waiting, *send.given_up)
    return id_millis(messages[0].trigger_id) if messages else None


def _has_ended(run: Run) -> bool:
    # Steps are worked on in their order, so the last one says whether any is left.
    return bool(run.jobs) and run.jobs[-1].status in FINISHED and not run.is_canceled


def _count_messages(measures: Measures, run: Run) -> None:
    for one in run.messages:
        if one.channel is Channel.IN_APP:
            measures.messages[_IN_APP_SENT] += 1
        elif one.status is MessageStatus.WARNING:
            measures.messages[one.channel.value, MessageOutcome.SKIPPED] += 1


def _name_outcome(send: ClaimedSend, message_id: object, status: MessageStatus) -> MessageOutcome:
    if status is MessageStatus.SENT:
        return MessageOutcome.SENT
    if status is MessageStatus.WARNING:
        return MessageOutcome.SKIPPED
    return MessageOutcome.RETRIED if message_id in send.retry_at else MessageOutcome.FAILED
