"""What a job comes to after an attempt: each message is sent, tried again or given up; the job ends with the last one.

The job counts the attempts. Messages that failed in the same attempt are tried again together; a message whose provider
asked to come back later has its own moment and does not hold up the others.
"""

from clarion.clock import Millis, iso_text
from clarion.ids import MessageId, id_text
from clarion.jobs.details import DetailCode
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.sending.model import ClaimedSend
from clarion.sending.planning import MAX_WAIT
from clarion.sending.retry import (
    is_retryable,
    last_attempt_at,
    next_attempt_at,
    put_off_until,
    uses_attempt,
)
from clarion.vocabulary import JobStatus, MessageStatus


def settle(send: ClaimedSend, now: Millis) -> None:
    """Decide which messages are tried again and when, and what the job comes to."""
    has_used_attempt = bool(send.not_sent) and _decide_retries(send, now)
    due = [*send.retry_at.values(), *(one.retry_at for one in send.waiting if one.retry_at is not None)]
    if send.untried:
        due.append(now)
    if not due:
        _end(send, now)
        return
    send.job.status, send.job.due_at = JobStatus.QUEUED, min(due)
    if not has_used_attempt:
        send.job.attempt -= 1


def _decide_retries(send: ClaimedSend, now: Millis) -> bool:
    """Decide when messages that were not sent are tried again; returns whether that uses up the attempt."""
    if any(one.goes_elsewhere for one in send.not_sent.values()):
        send.retry_at = dict.fromkeys(send.not_sent, now)
        # Refusals are as many as integrations, and no attempt of the others.
        return not send.refusals
    failures = {
        message_id: one.failure
        for message_id, one in send.not_sent.items()
        if one.failure is not None and is_retryable(one.failure)
    }
    put_off = {message_id: failure for message_id, failure in failures.items() if not uses_attempt(failure)}
    if put_off and not _put_off(send, put_off, now):
        return _go_to_next(send, now)
    moments = [
        next_attempt_at(send.job.attempt, failure, now, choices=send.choices)
        for message_id, failure in failures.items()
        if message_id not in put_off
    ]
    together = max((one for one in moments if one is not None), default=None)
    if together is None:
        return False
    send.retry_at |= dict.fromkeys(failures.keys() - put_off.keys(), together)
    return True


def _put_off(send: ClaimedSend, failures: dict[MessageId, SendFailure], now: Millis) -> bool:
    """Let messages wait whose provider asked to come back later, which ends some day, or was not called at all.

    Returns False if the next integration is to be tried instead.
    """
    job = send.job
    for message_id, failure in failures.items():
        shown = next_attempt_at(job.attempt, failure, now, choices=send.choices) or now
        if failure.kind is FailureKind.NO_CONNECTION:
            send.retry_at[message_id] = shown
            continue
        has_others = send.has_others(message_id)
        since = send.put_off_since = send.put_off_since or now
        until = put_off_until(since, shown, now, has_others=has_others)
        if until is None:
            raw = {"since": iso_text(since), "askedToWaitUntil": iso_text(shown)}
            job.note(now, DetailCode.PUT_OFF_TOO_LONG, raw=raw)
            if has_others:
                return False
        else:
            # Others may take over at once where the wait is long: the next claim finds out who.
            send.retry_at[message_id] = now if has_others and shown > now + MAX_WAIT else until
    return True


def _go_to_next(send: ClaimedSend, now: Millis) -> bool:
    """The first integration is used up; the next is tried at once."""
    send.job.attempt, send.put_off_since = last_attempt_at(send.job.attempt), None
    send.retry_at = dict.fromkeys(send.not_sent, now)
    return True


def _end(send: ClaimedSend, now: Millis) -> None:
    """End the job: completed if any message was sent; a dead letter if any provider did not take one."""
    job = send.job
    send.put_off_since = None
    is_sent = send.has_sent or any(one.status is MessageStatus.SENT for one in send.outcomes.values())
    failed = {one.id: one.provider_id for one in send.given_up}
    for message_id, one in send.not_sent.items():
        # A device token that is dead was taken from its subscriber: there is nothing to redrive.
        if one.failure is not None and not one.failure.dead_tokens:
            outcome = send.outcomes.get(message_id)
            failed[message_id] = None if outcome is None else outcome.provider_id
    if failed:
        send.dead_at = now
    if not is_sent:
        job.finish(JobStatus.FAILED)
        return
    job.finish(JobStatus.COMPLETED)
    job.outputs = {}
    if failed:
        _note_partial(send, failed, now)


def _note_partial(send: ClaimedSend, failed: dict[MessageId, str | None], now: Millis) -> None:
    """Name the messages that were given up, and the provider of one as that of the job, by which it is found."""
    job = send.job
    job.provider_id = next((one for one in failed.values() if one is not None), job.provider_id)
    raw = {"messages": [{"_id": id_text(one), "providerId": provider_id} for one, provider_id in failed.items()]}
    job.note(now, DetailCode.PARTLY_SENT, raw=raw)
