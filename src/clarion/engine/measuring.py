"""What units of work and sends add to the measures of the process, once they are durable."""

from collections.abc import Sequence

from msgspec import Struct

from clarion.clock import SECOND, Millis
from clarion.engine.unit import UnitResult
from clarion.ids import NotificationId, id_millis
from clarion.jobs.model import ATTEMPTS_PER_DRIVE, FINISHED
from clarion.monitoring.metrics.measures import BatchKind, Measures, MessageOutcome
from clarion.sending.model import ClaimedSend
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
    measures.batches[BatchKind.UNIT].observe(done.runs)
    started: list[float] = []
    completed: list[float] = []
    # This runs for each trigger, so it calls as little as it can.
    for run in done.delivered:
        if run.is_new:
            seconds = (now - run.trigger.created_at) / SECOND
            started.append(seconds)
            # Steps are worked on in their order, so the last one says whether any is left.
            if run.jobs and run.jobs[-1].status in FINISHED:
                completed.append(seconds)
    measures.started_runs += len(started)
    _count_messages(measures, done)
    for one in done.resumed:
        started.append((now - one.due_at) / SECOND)
        if one.run.jobs[-1].status in FINISHED and not one.run.is_canceled:
            completed.append((now - one.began_at) / SECOND)
    measures.lane_seconds.observe_all(started)
    measures.run_seconds.observe_all(completed)
    measures.completed_runs += len(completed)


def measure_sends(measures: Measures, recorded: RecordedSends, now: Millis) -> None:
    """Count what became of sends, and the runs that ended with them."""
    if recorded.ours:
        measures.batches[BatchKind.SENDS].observe(len(recorded.ours))
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


def _count_messages(measures: Measures, done: UnitResult) -> None:
    in_app = 0
    for run in done.delivered:
        for message in run.messages:
            if message.channel is Channel.IN_APP:
                in_app += 1
            elif message.status is MessageStatus.WARNING:
                measures.messages[message.channel.value, MessageOutcome.SKIPPED] += 1
    measures.messages[_IN_APP_SENT] += in_app


def _name_outcome(send: ClaimedSend, message_id: object, status: MessageStatus) -> MessageOutcome:
    if status is MessageStatus.SENT:
        return MessageOutcome.SENT
    if status is MessageStatus.WARNING:
        return MessageOutcome.SKIPPED
    return MessageOutcome.RETRIED if message_id in send.retry_at else MessageOutcome.FAILED
