"""What a job comes to after an attempt: each message is sent, tried again or given up; the job ends with the last one.

The job counts the attempts, through all integrations of a message: eight over about half an hour are for the first in
order, then three for each other. Messages that failed in the same attempt are tried again together; a message whose
provider asked to come back later has its own moment and does not hold up the others.
"""

import random

from clarion.clock import HOUR, MINUTE, SECOND, Millis, iso_text
from clarion.ids import MessageId, id_text
from clarion.jobs.details import DetailCode
from clarion.jobs.model import ATTEMPTS_PER_DRIVE
from clarion.messages.changes import CODES, REFUSED
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.sending.model import ChangeOutcome, ClaimedSend
from clarion.vocabulary import JobStatus, MessageStatus

MAX_ATTEMPTS = 8
ATTEMPTS_ON_OTHERS = 3
MAX_WAIT = Millis(10 * SECOND)
"""How long a message waits for the integration that comes first in order before another takes over."""
MAX_PUT_OFF = Millis(24 * HOUR)
"""How long a message waits in all for a provider that asks again and again to come back later."""
MAX_PUT_OFF_BEFORE_NEXT = Millis(15 * MINUTE)
"""The same, where the message has another integration left."""
_FIRST_PAUSE = 15 * SECOND
_SHORTEST_RETRY_AFTER = 1
_MAX_RETRY_AFTER = 24 * 3600
_CONNECTION_PAUSE = 5 * SECOND
_RETRYABLE = frozenset({FailureKind.RETRYABLE, FailureKind.RATE_LIMITED, FailureKind.NO_CONNECTION})


def settle(send: ClaimedSend, now: Millis) -> None:
    """Decide which messages are tried again and when, and what the job comes to."""
    has_used_attempt = bool(send.not_sent) and _decide_retries(send, now)
    _give_up_changes(send, now)
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
        # A refusal uses up no attempt of the other integrations; there are at most as many refusals as integrations.
        return not send.refusals
    failures = {
        message_id: result.failure
        for message_id, result in send.not_sent.items()
        if result.failure is not None and is_retryable(result.failure)
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
    """Let messages wait whose provider asked to come back later, for a limited time, or was not called at all.

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
    """Use up the attempts of the first integration; the next one is tried at once."""
    send.job.attempt, send.put_off_since = last_attempt_at(send.job.attempt), None
    send.retry_at = dict.fromkeys(send.not_sent, now)
    return True


def _give_up_changes(send: ClaimedSend, now: Millis) -> None:
    """Say of changes that are not tried again that they were not made, and why."""
    for message in send.messages:
        change = message.wanted_change
        if change is None or not send.is_given_up(message.id):
            continue
        failure = send.not_sent[message.id].failure
        reason = "Its provider cannot be asked" if failure is None else str(failure)
        outcome = ChangeOutcome(REFUSED[change.kind], reason)
        send.changes[message.id] = outcome
        raw = {"messageId": id_text(message.id), "channel": message.channel, "reason": reason}
        send.job.note(now, CODES[outcome.state], raw=raw)


def _end(send: ClaimedSend, now: Millis) -> None:
    """End the job: completed if any message was sent; a dead letter if any provider did not take one."""
    job = send.job
    send.put_off_since = None
    if send.has_only_changes:
        # What was given up before is a dead letter still, unless it was discarded.
        send.dead_at = send.former_dead_at
        job.finish(JobStatus.COMPLETED)
        job.outputs = {}
        return
    is_sent = send.has_sent or any(one.status is MessageStatus.SENT for one in send.outcomes.values())
    failed = {message.id: message.provider_id for message in send.given_up}
    for message_id, result in send.not_sent.items():
        if message_id in send.changes:
            continue
        # A device token that is dead was taken from its subscriber: there is nothing to redrive.
        if result.failure is not None and not result.failure.dead_tokens:
            outcome = send.outcomes.get(message_id)
            failed[message_id] = None if outcome is None else outcome.provider_id
    if failed:
        send.dead_at = now
    if not is_sent:
        job.finish(JobStatus.SKIPPED if send.withdrawn and not failed else JobStatus.FAILED)
        return
    job.finish(JobStatus.COMPLETED)
    job.outputs = {}
    if failed:
        _note_partial(send, failed, now)


def _note_partial(send: ClaimedSend, failed: dict[MessageId, str | None], now: Millis) -> None:
    """Name the messages that were given up, and set the provider of one of them, by which the job is found."""
    job = send.job
    job.provider_id = next((one for one in failed.values() if one is not None), job.provider_id)
    raw = {"messages": [{"_id": id_text(one), "providerId": provider_id} for one, provider_id in failed.items()]}
    job.note(now, DetailCode.PARTLY_SENT, raw=raw)


def place_of(attempt: int) -> int:
    """How many integrations of the message are used up before this attempt."""
    number = attempt % ATTEMPTS_PER_DRIVE
    return 0 if number <= MAX_ATTEMPTS else 1 + (number - MAX_ATTEMPTS - 1) // ATTEMPTS_ON_OTHERS


def last_attempt_at(attempt: int) -> int:
    """The attempt after which the integration of this one is used up."""
    return attempt - attempt % ATTEMPTS_PER_DRIVE + MAX_ATTEMPTS + place_of(attempt) * ATTEMPTS_ON_OTHERS


def is_retryable(failure: SendFailure) -> bool:
    return failure.kind in _RETRYABLE


def uses_attempt(failure: SendFailure) -> bool:
    """Whether the failure counts: not if the provider asked to come back at a certain time, or was not called."""
    if failure.kind is FailureKind.NO_CONNECTION:
        return False
    return failure.kind is not FailureKind.RATE_LIMITED or failure.retry_after is None


def requested_pause(failure: SendFailure) -> Millis | None:
    """The pause that the provider asked for: at least a second, so that it is not called without a pause."""
    if failure.retry_after is None:
        return None
    return Millis(int(min(max(failure.retry_after, _SHORTEST_RETRY_AFTER), _MAX_RETRY_AFTER) * SECOND))


def put_off_until(since: Millis, shown: Millis, now: Millis, *, has_others: bool) -> Millis | None:
    """When a message that was first put off at `since` is tried again; None when it was put off for too long.

    It waits for at least a tenth of the time that it has waited already: a provider that asks for a pause of a second
    all day is called about a hundred times, not every second.
    """
    is_over = now >= since + MAX_PUT_OFF_BEFORE_NEXT if has_others else shown > since + MAX_PUT_OFF
    return None if is_over else Millis(max(shown, now + shortest_wait(since, now)))


def shortest_wait(since: Millis, now: Millis) -> Millis:
    """How long a message that was first put off at `since` waits at least."""
    return Millis((now - since) // 10)


def next_attempt_at(attempt: int, failure: SendFailure, now: Millis, *, choices: int = 1) -> Millis | None:
    """The moment of the next attempt, or None after the last one; the pause that a provider asked for counts first."""
    if failure.kind is FailureKind.NO_CONNECTION:
        return Millis(now + _CONNECTION_PAUSE)
    requested = requested_pause(failure)
    if requested is not None and not uses_attempt(failure):
        return Millis(now + requested)
    if attempt == last_attempt_at(attempt) and place_of(attempt) + 1 >= choices:
        return None
    if place_of(attempt) >= choices:
        return None
    # Jitter keeps the retries of one outage from arriving together.
    pause = int(_pause_after(attempt) * random.uniform(0.8, 1.2))  # noqa: S311 - not a secret
    return Millis(now + max(pause, requested or 0))


def _pause_after(attempt: int) -> int:
    if attempt == last_attempt_at(attempt):
        return _FIRST_PAUSE
    number, place = attempt % ATTEMPTS_PER_DRIVE, place_of(attempt)
    on_this = number if place == 0 else (number - MAX_ATTEMPTS - 1) % ATTEMPTS_ON_OTHERS + 1
    return _FIRST_PAUSE << (on_this - 1)
