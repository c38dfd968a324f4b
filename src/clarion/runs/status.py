"""The status of a run, derived from its jobs by one rule and stored with the run.

The first line that fits decides:

| Status | When |
|---|---|
| running | a job is being decided or sent, or will be as soon as it is its turn |
| waiting | a job waits for a moment: a delay, a digest, the next attempt, or its turn at an integration |
| partly_failed | all jobs ended; one failed and another delivered or was merged, or one sent a part of its messages |
| failed | all jobs ended, and one failed |
| canceled | all jobs ended, and one was canceled |
| merged | all jobs ended, and a digest merged the rest of the run into another run |
| skipped | all jobs ended, one was skipped, and nothing was delivered |
| completed | all other runs |

Only channel and custom steps deliver: a delay that ended before a failed email makes no run "partly" failed. Receipts
of providers that arrive later do not change the status.

A run is stored with its status, and whatever changes jobs of stored runs calls `settle_run_statuses` afterwards, in the
same transaction.
"""

from collections.abc import Iterable
from typing import Any, Protocol

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.db.query import sql
from clarion.ids import EnvironmentId, NotificationId
from clarion.jobs.model import ATTEMPTS_PER_DRIVE, JobQueue
from clarion.vocabulary import JobStatus, RunStatus, StepType

STORED = {status: number for number, status in enumerate(RunStatus, start=1)}
"""How the statuses are stored. NULL in a row of an earlier version that is not filled yet."""
STATUSES = {number: status for status, number in STORED.items()}
COMPLETED = STORED[RunStatus.COMPLETED]

_DELIVERING = frozenset(StepType) - {
    *(StepType.DELAY, StepType.DIGEST, StepType.THROTTLE),
    *(StepType.BRANCH, StepType.EXIT, StepType.TRIGGER, StepType.WAIT_FOR, StepType.HTTP_REQUEST),
    *(StepType.ASK, StepType.UPDATE, StepType.CLEAR),
}
_ACTIVE = frozenset({JobStatus.QUEUED, JobStatus.RUNNING})

LOCK_RUNS = sql("""
    SELECT id, status FROM notifications
    WHERE environment_id = :environment_id AND id {any:ids} ORDER BY id {for_update}
""")
LIST_JOBS = sql("""
    SELECT notification_id, type, status, queue, attempt, put_off_since, dead_at FROM jobs
    WHERE environment_id = :environment_id AND notification_id {any:ids}
""")
# The position of a change in the order of changes never stays the same, whatever the clocks say.
UPDATE_STATUSES = sql("""
    UPDATE notifications SET status = :status,
        updated_at = CASE WHEN updated_at >= :now THEN updated_at + 1 ELSE :now END
    {each: environment_id uuid, id uuid, status smallint}
    WHERE environment_id = :environment_id AND id = :id
""")


class RunProgress(Protocol):
    """How far a job has come."""

    @property
    def status(self) -> JobStatus: ...

    @property
    def queue(self) -> JobQueue | None: ...

    @property
    def attempt(self) -> int: ...


def decide_run_status(jobs: Iterable[tuple[StepType, RunProgress]]) -> RunStatus:
    """The status of a run whose jobs nobody has tried to send yet; see the top of this module."""
    facts = set()
    for kind, job in jobs:
        facts.add(_fact(kind, job.status, is_retry=False, is_dead=False))
    return _decide(facts)


async def settle_run_statuses(
    db: Connection, environment_id: EnvironmentId, run_ids: Iterable[NotificationId], now: Millis
) -> None:
    """Store the statuses of runs whose jobs have changed.

    The runs are locked before their jobs are read: of two transactions that end two jobs of one run, the later one sees
    both.
    """
    ids = sorted(set(run_ids))
    if not ids:
        return
    stored = {row["id"]: row["status"] for row in await db.fetch(LOCK_RUNS, environment_id=environment_id, ids=ids)}
    facts: dict[NotificationId, set[str]] = {}
    for row in await db.fetch(LIST_JOBS, environment_id=environment_id, ids=ids):
        facts.setdefault(row["notification_id"], set()).add(read_fact(row))
    changed = [
        {"environment_id": environment_id, "id": run_id, "status": status, "now": now}
        for run_id, former in stored.items()
        if (status := STORED[_decide(facts.get(run_id, set()))]) != former
    ]
    if changed:
        await db.execute_many(UPDATE_STATUSES, changed)


def decide_from_facts(facts: Iterable[str]) -> RunStatus:
    """The status of a run by what `read_fact` says about each of its jobs."""
    return _decide(set(facts))


def read_fact(row: Any) -> str:
    """What a stored job means for the status of its run."""
    is_retry = row["queue"] == JobQueue.SEND and (
        row["attempt"] % ATTEMPTS_PER_DRIVE > 0 or row["put_off_since"] is not None
    )
    return _fact(row["type"], row["status"], is_retry=is_retry, is_dead=row["dead_at"] is not None)


def _fact(kind: str, status: str, *, is_retry: bool, is_dead: bool) -> str:
    if status in _ACTIVE:
        return "waiting" if is_retry and status == JobStatus.QUEUED else "active"
    if status == JobStatus.DELAYED:
        return "waiting"
    if status == JobStatus.COMPLETED:
        return "partial" if is_dead else "delivered" if kind in _DELIVERING else "done"
    return status


def _decide(facts: set[str]) -> RunStatus:
    if "active" in facts:
        return RunStatus.RUNNING
    if "waiting" in facts:
        return RunStatus.WAITING
    if JobStatus.PENDING in facts:
        return RunStatus.RUNNING
    return _decide_end(facts)


def _decide_end(facts: set[str]) -> RunStatus:
    if "partial" in facts:
        return RunStatus.PARTLY_FAILED
    if JobStatus.FAILED in facts:
        is_partial = "delivered" in facts or JobStatus.MERGED in facts
        return RunStatus.PARTLY_FAILED if is_partial else RunStatus.FAILED
    if JobStatus.CANCELED in facts:
        return RunStatus.CANCELED
    if JobStatus.MERGED in facts:
        return RunStatus.MERGED
    if JobStatus.SKIPPED in facts and "delivered" not in facts:
        return RunStatus.SKIPPED
    return RunStatus.COMPLETED
