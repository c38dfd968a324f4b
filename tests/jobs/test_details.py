"""Execution details as they are read."""

import pytest

from clarion.clock import Millis
from clarion.ids import JobId
from clarion.jobs.details import DetailCode, DetailSource, DetailStatus, ExecutionDetail, code_of, read_details
from clarion.jsontext import json_text

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


def test_a_detail_is_stored_with_the_code_the_status_and_the_text() -> None:
    stored = json_text(ExecutionDetail.of(DetailCode.BOUNCED_SOFT, Millis(1)))

    assert stored == '{"at":1,"status":"Failed","detail":"Message bounced","code":"bounced_soft"}'


@pytest.mark.parametrize(
    ("stored", "code"),
    [
        ('{"at":1,"status":"Pending","detail":"Step queued"}', DetailCode.STEP_QUEUED),
        # Its text is that of three codes: what it does not tell is not guessed.
        ('{"at":1,"status":"Failed","detail":"Message bounced"}', DetailCode.BOUNCED),
        ('{"at":1,"status":"Failed","detail":"Message bounced","code":"bounced_hard"}', DetailCode.BOUNCED_HARD),
        ('{"at":1,"status":"Success","detail":"Of a later version","code":"later"}', "later"),
        ('{"at":1,"status":"Success","detail":"Of another version"}', None),
    ],
)
def test_a_detail_without_a_code_has_that_of_its_text(stored: str, code: str | None) -> None:
    (detail,) = read_details(JOB, f"[{stored}]")

    assert code_of(detail) == code
