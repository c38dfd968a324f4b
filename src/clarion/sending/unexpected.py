"""Ends attempts that failed in Clarion itself, or whose results cannot be recorded."""

from clarion.clock import Millis
from clarion.jobs.details import DetailCode
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.sending.model import ClaimedSend, NotSent, SendOutcome
from clarion.sending.retry import settle
from clarion.vocabulary import JobStatus, MessageStatus


def give_up(send: ClaimedSend, error: Exception, now: Millis) -> None:
    """Count an attempt that failed unexpectedly as one that may succeed the next time."""
    failure = SendFailure(FailureKind.RETRYABLE, f"{type(error).__name__} in Clarion itself")
    send.job.note(now, DetailCode.ATTEMPT_FAILED, raw={"kind": failure.kind, "message": str(failure)})
    for message in send.untried[:1]:
        send.not_sent[message.id] = NotSent(failure)
        if message.wanted_change is not None:
            continue
        send.outcomes[message.id] = SendOutcome(
            status=MessageStatus.ERROR,
            provider_id=message.provider_id,
            integration_id=message.integration_id,
            error_id=message.error_id,
            error_text=str(failure),
        )
    settle(send, now)


def fail_unrecorded(send: ClaimedSend, now: Millis) -> None:
    """End a job as failed whose results cannot be recorded: without a result it would be sent again."""
    send.outcomes.clear()
    send.changes.clear()
    send.not_sent.clear()
    send.retry_at.clear()
    send.health_reports.clear()
    send.calls.clear()
    send.dead_tokens.clear()
    send.refusals.clear()
    send.job.details.clear()
    send.job.note(now, DetailCode.NOT_RECORDED)
    send.job.finish(JobStatus.FAILED)
