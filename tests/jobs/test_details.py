"""Execution details as they are read."""

from clarion.clock import Millis
from clarion.ids import JobId
from clarion.jobs.details import DetailSource, DetailStatus, ExecutionDetail, read_details

JOB = JobId(bytes.fromhex("01900000000070008000000000000000"))


def test_the_id_of_a_detail_is_that_of_its_job_plus_its_place_and_stays_so() -> None:
    text = '[{"at":1,"status":"Pending","detail":"Step queued"},{"at":2,"status":"Success","detail":"Message sent"}]'

    assert [one.id for one in read_details(JOB, text)] == [
        "01900000-0000-7000-8000-000000000001",
        "01900000-0000-7000-8000-000000000002",
    ]


def test_details_are_in_time_order_and_those_of_one_moment_as_they_were_written() -> None:
    text = (
        '[{"at":2,"status":"Success","detail":"b"},{"at":1,"status":"Success","detail":"a"},'
        '{"at":2,"status":"Success","detail":"c"}]'
    )

    assert [one.detail for one in read_details(JOB, text)] == ["a", "b", "c"]


def test_what_a_stored_detail_leaves_out_is_usual() -> None:
    (detail,) = read_details(JOB, '[{"id":"kept","at":1,"status":"Pending","detail":"Step queued"}]')

    assert detail == ExecutionDetail(
        id="kept",
        at=Millis(1),
        status=DetailStatus.PENDING,
        detail="Step queued",
        source=DetailSource.INTERNAL,
        is_retry=False,
        is_test=False,
        provider_id=None,
        raw=None,
    )
