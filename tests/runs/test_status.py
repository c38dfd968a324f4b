"""The status of a run: the rule, for every pair of jobs, and what is stored."""

from itertools import combinations_with_replacement
from typing import Any

import pytest

from clarion.db.port import Connection, Database
from clarion.db.query import Insert, sql
from clarion.ids import NotificationId, new_id
from clarion.jobs.model import ATTEMPTS_PER_DRIVE, Job, JobQueue
from clarion.runs.status import (
    STATUSES,
    STORED,
    decide_from_facts,
    decide_run_status,
    read_fact,
    settle_run_statuses,
)
from clarion.vocabulary import JobStatus, RunStatus, StepType
from tests.records import NOW, make_notification
from tests.support import Api

SEND, DECIDE = JobQueue.SEND, JobQueue.DECIDE
EMAIL, DELAY, DIGEST = StepType.EMAIL, StepType.DELAY, StepType.DIGEST


def row(kind: StepType, status: JobStatus, **fields: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "status": status,
        "queue": None,
        "attempt": 0,
        "put_off_since": None,
        "dead_at": None,
    } | fields


def queued(attempt: int = 0, **fields: Any) -> dict[str, Any]:
    return row(EMAIL, JobStatus.QUEUED, queue=int(SEND), attempt=attempt, **fields)


def ended(*statuses: JobStatus, kind: StepType = EMAIL) -> list[dict[str, Any]]:
    return [row(kind, status) for status in statuses]


COMPLETED, FAILED, SKIPPED = JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.SKIPPED
CANCELED, MERGED, PENDING = JobStatus.CANCELED, JobStatus.MERGED, JobStatus.PENDING
DEAD = row(EMAIL, COMPLETED, dead_at=NOW)
WAITED = row(DELAY, COMPLETED)

JOBS = [
    *(row(kind, status) for kind in (EMAIL, DELAY) for status in (COMPLETED, FAILED, SKIPPED, CANCELED, MERGED)),
    row(EMAIL, PENDING),
    row(EMAIL, FAILED, dead_at=NOW),
    DEAD,
    row(DELAY, JobStatus.DELAYED, queue=int(DECIDE)),
    row(EMAIL, JobStatus.DELAYED, queue=int(SEND)),
    row(EMAIL, JobStatus.RUNNING, queue=int(SEND), attempt=2),
    row(EMAIL, JobStatus.QUEUED, queue=int(DECIDE)),
    queued(),
    queued(1),
    queued(ATTEMPTS_PER_DRIVE),
    queued(ATTEMPTS_PER_DRIVE + 1),
    queued(put_off_since=NOW),
]


@pytest.mark.parametrize(
    ("jobs", "status"),
    [
        ([], RunStatus.COMPLETED),
        (ended(COMPLETED, SKIPPED), RunStatus.COMPLETED),
        (ended(SKIPPED, SKIPPED), RunStatus.SKIPPED),
        ([WAITED, *ended(SKIPPED)], RunStatus.SKIPPED),
        ([WAITED], RunStatus.COMPLETED),
        (ended(FAILED, COMPLETED), RunStatus.PARTLY_FAILED),
        ([WAITED, *ended(FAILED)], RunStatus.FAILED),
        (ended(FAILED, CANCELED), RunStatus.FAILED),
        (ended(FAILED, MERGED), RunStatus.PARTLY_FAILED),
        ([DEAD], RunStatus.PARTLY_FAILED),
        (ended(COMPLETED, CANCELED), RunStatus.CANCELED),
        (ended(COMPLETED, MERGED), RunStatus.MERGED),
        ([row(DIGEST, JobStatus.DELAYED, queue=int(DECIDE)), *ended(PENDING)], RunStatus.WAITING),
        ([queued(), *ended(PENDING)], RunStatus.RUNNING),
        ([queued(3)], RunStatus.WAITING),
        ([queued(put_off_since=NOW)], RunStatus.WAITING),
        ([queued(ATTEMPTS_PER_DRIVE)], RunStatus.RUNNING),
        ([queued(3), queued()], RunStatus.RUNNING),
        (ended(PENDING), RunStatus.RUNNING),
    ],
)
def test_the_first_line_of_the_rule_that_fits_decides(jobs: list[dict[str, Any]], status: RunStatus) -> None:
    assert decide_from_facts(map(read_fact, jobs)) is status


def test_a_run_that_is_inserted_has_the_status_that_its_jobs_have_when_they_are_read() -> None:
    for jobs in combinations_with_replacement([one for one in JOBS if one["dead_at"] is None], 2):
        if any(one["attempt"] or one["put_off_since"] for one in jobs):
            continue
        made = [(one["type"], Job(id=b"", step=0, status=one["status"], queue=one["queue"])) for one in jobs]  # type: ignore[arg-type]
        assert decide_run_status(made) is decide_from_facts(map(read_fact, jobs))


async def test_the_statuses_that_are_settled_are_those_of_the_rule(api: Api, database: Database) -> None:
    made = await make_notification(database, api.environment)
    pairs = list(combinations_with_replacement(JOBS, 2))
    runs = [NotificationId(new_id(NOW)) for _ in pairs]

    async def insert(db: Connection) -> None:
        await _insert_runs(db, api, made.id, runs)
        await _insert_jobs(db, api, dict(zip(runs, pairs, strict=True)))

    async def settle(db: Connection) -> None:
        await settle_run_statuses(db, api.environment.id, [made.id, *runs], NOW)

    await database.transaction(insert)
    await database.transaction(settle)

    settled = await _read_statuses(database, api)
    assert {run: settled[run] for run in runs} == {
        run: decide_from_facts(map(read_fact, pair)) for run, pair in zip(runs, pairs, strict=True)
    }
    assert set(settled.values()) == set(RunStatus)


def test_statuses_are_stored_as_they_were_released() -> None:
    assert list(STORED) == list(RunStatus)
    assert [STATUSES[number] for number in (1, 3, 8)] == [RunStatus.RUNNING, RunStatus.COMPLETED, RunStatus.MERGED]


async def _read_statuses(database: Database, api: Api) -> dict[NotificationId, RunStatus]:
    query = sql("SELECT id, status FROM notifications WHERE environment_id = :environment_id")
    rows = await database.read(lambda db: db.fetch(query, environment_id=api.environment.id))
    return {NotificationId(found["id"]): STATUSES[found["status"]] for found in rows}


async def _insert_runs(db: Connection, api: Api, like: NotificationId, runs: list[NotificationId]) -> None:
    names = ("environment_id", "id", "trigger_id", "workflow_id", "version_id", "subscriber_id", "step_types")
    moments = ("created_at", "updated_at")
    scope = {"environment_id": api.environment.id}
    found = await db.fetch_one(
        sql(f"SELECT {', '.join(names)} FROM notifications WHERE environment_id = :environment_id AND id = :id"),
        **scope,
        id=like,
    )
    assert found is not None
    rows = [
        (*({**dict(found), "id": one, "trigger_id": new_id(NOW)}[name] for name in names), NOW, NOW) for one in runs
    ]
    await db.insert_many(Insert("notifications", *names, *moments), rows)


async def _insert_jobs(db: Connection, api: Api, pairs: dict[NotificationId, tuple[dict[str, Any], ...]]) -> None:
    names = ("type", "status", "queue", "attempt", "put_off_since", "dead_at")
    into = Insert(
        "jobs", "environment_id", "id", "notification_id", "step", "details", "created_at", "updated_at", *names
    )
    rows = [
        (api.environment.id, new_id(NOW), run, step, "[]", NOW, NOW, *(job[name] for name in names))
        for run, pair in pairs.items()
        for step, job in enumerate(pair)
    ]
    await db.insert_many(into, rows)
