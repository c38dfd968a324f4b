"""A job while it is being worked on."""

import pytest

from clarion.clock import Millis
from clarion.ids import JobId
from clarion.jobs.details import DetailCode, DetailSource, DetailStatus, ExecutionDetail
from clarion.jobs.model import Job, JobQueue, Priority
from clarion.vocabulary import JobStatus

NOW = Millis(1_767_225_600_000)


def make_job(attempt: int = 0) -> Job:
    return Job(id=JobId(bytes(16)), step=0, attempt=attempt, provider_id="svc-email")


def test_critical_triggers_go_before_usual_ones_and_a_crowd_behind_single_people() -> None:
    assert sorted(Priority, key=int) == [
        Priority.CRITICAL,
        Priority.CRITICAL_FAN_OUT,
        Priority.USUAL,
        Priority.FAN_OUT,
    ]
    assert [one for one in Priority if one.is_critical] == [Priority.CRITICAL, Priority.CRITICAL_FAN_OUT]
    assert [one.of_fan_out for one in (Priority.CRITICAL, Priority.USUAL)] == [
        Priority.CRITICAL_FAN_OUT,
        Priority.FAN_OUT,
    ]


def test_a_job_waits_joins_a_queue_and_leaves_it_at_its_end() -> None:
    job = make_job()
    job.wait(Millis(NOW + 1), JobQueue.DECIDE)
    assert (job.status, job.due_at, job.queue) == (JobStatus.DELAYED, NOW + 1, JobQueue.DECIDE)
    job.enqueue(NOW, JobQueue.SEND)
    assert (job.status, job.due_at, job.queue) == (JobStatus.QUEUED, NOW, JobQueue.SEND)
    job.finish(JobStatus.FAILED)
    assert (job.status, job.due_at, job.queue) == (JobStatus.FAILED, None, None)


@pytest.mark.parametrize(("attempt", "is_retry"), [(0, False), (1, False), (2, True)])
def test_a_detail_names_the_provider_and_says_whether_it_is_of_a_retry(attempt: int, is_retry: bool) -> None:
    job = make_job(attempt)
    job.note(NOW, DetailCode.SENT, source=DetailSource.WEBHOOK, raw={"id": "1"})

    assert job.changed
    assert job.details == [
        ExecutionDetail(
            at=NOW,
            status=DetailStatus.SUCCESS,
            detail="Message sent",
            code="sent",
            source=DetailSource.WEBHOOK,
            is_retry=is_retry,
            provider_id="svc-email",
            raw={"id": "1"},
        )
    ]
