"""SQL of runs: walks from the newest to the oldest that look at a limited number of rows, and slim rows by id."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.listing import Listing, select_ids
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.ids import EnvironmentId, NotificationId, first_id, last_id
from clarion.jobs.details import DetailCode
from clarion.jobs.model import JobQueue
from clarion.runs.filters import Selection, select_runs
from clarion.runs.model import RunFilter, RunRow, RunStep, RunWait, WaitReason
from clarion.runs.status import decide_from_facts, read_fact
from clarion.vocabulary import JobStatus, RunStatus, StepType

LIST_RUNS = sql("""
    SELECT n.id, n.created_at, n.updated_at, n.digested_into, n.workflow_id, g.transaction_key,
        s.key AS subscriber_key, s.first_name, s.last_name, w.key AS workflow_key, w.name AS workflow_name
    FROM notifications AS n
    JOIN triggers AS g ON g.environment_id = n.environment_id AND g.id = n.trigger_id
    JOIN subscribers AS s ON s.environment_id = n.environment_id AND s.id = n.subscriber_id
    JOIN workflows AS w ON w.environment_id = n.environment_id AND w.id = n.workflow_id
    WHERE n.environment_id = :environment_id AND n.id {any:ids}
""")
# The details of a job are only needed to tell why it waits.
LIST_JOBS = sql("""
    SELECT notification_id, step, type, status, queue, attempt, put_off_since, dead_at, due_at, provider_id,
        CASE WHEN status = 'delayed' AND queue = 1 THEN details END AS details
    FROM jobs WHERE environment_id = :environment_id AND notification_id {any:ids}
    ORDER BY notification_id, step
""")


async def list_run_rows(
    db: Connection, environment_id: EnvironmentId, ids: Sequence[NotificationId]
) -> dict[NotificationId, RunRow]:
    """Those of the runs that exist. Their status is the one that their jobs have."""
    if not ids:
        return {}
    jobs: dict[NotificationId, list[Row]] = {}
    for job in await db.fetch(LIST_JOBS, environment_id=environment_id, ids=list(ids)):
        jobs.setdefault(job["notification_id"], []).append(job)
    rows = await db.fetch(LIST_RUNS, environment_id=environment_id, ids=list(ids))
    return {row["id"]: _run_row(row, jobs.get(row["id"], ())) for row in rows}


def _run_row(row: Row, jobs: Iterable[Row]) -> RunRow:
    jobs = list(jobs)
    status = decide_from_facts(map(read_fact, jobs))
    return RunRow(
        id=row["id"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        transaction_key=row["transaction_key"],
        subscriber_key=row["subscriber_key"],
        subscriber_name=" ".join(filter(None, (row["first_name"], row["last_name"]))) or None,
        workflow_id=row["workflow_id"],
        workflow_key=row["workflow_key"],
        workflow_name=row["workflow_name"],
        status=status,
        wait=_find_wait(jobs) if status is RunStatus.WAITING else None,
        merged_into=row["digested_into"],
        steps=tuple(
            RunStep(type=StepType(job["type"]), status=JobStatus(job["status"]), provider_id=job["provider_id"])
            for job in jobs
        ),
    )


def _find_wait(jobs: Iterable[Row]) -> RunWait | None:
    """What the run waits for: of several jobs that wait, the one that goes on first."""
    waiting = [job for job in jobs if read_fact(job) == "waiting" and job["due_at"] is not None]
    first: Any = min(waiting, key=lambda job: int(job["due_at"]), default=None)
    return None if first is None else RunWait(until=Millis(first["due_at"]), reason=_reason(first))


def _reason(job: Row) -> WaitReason:
    if job["queue"] == JobQueue.SEND:
        return WaitReason.RATE_LIMIT if job["status"] == JobStatus.DELAYED else WaitReason.RETRY
    if job["details"] and DetailCode.EXTENDED_TO_SCHEDULE.text in job["details"]:
        return WaitReason.SCHEDULE
    return WaitReason.DIGEST if job["type"] == StepType.DIGEST else WaitReason.DELAY


MAX_EXAMINED = 20_000
"""How many rows a page looks at, whether they match or not."""
_CHUNK = 2_000


class RunWindow(Struct, frozen=True, kw_only=True):
    """The runs that began within a time, by the time in their ids."""

    after: Millis | None = None
    before: Millis | None = None
    below: NotificationId | None = None
    """Only older runs than this one."""

    @property
    def bounds(self) -> tuple[bytes, bytes]:
        """The first id, and the one behind the last."""
        low = first_id(self.after or Millis(0))
        high = b"\xff" * 16 if self.before is None else last_id(self.before)
        return low, high if self.below is None else min(high, self.below)


class Found(Struct, frozen=True, kw_only=True):
    ids: list[NotificationId]
    """Newest first."""
    next: NotificationId | None
    """Where to go on; None if there is nothing older."""
    searched: NotificationId | None
    """The oldest row that was looked at."""


async def find_runs(
    db: Connection, wanted: RunFilter, window: RunWindow, *, limit: int, max_examined: int = MAX_EXAMINED
) -> Found:
    """The newest runs that match, as far as `max_examined` rows have them."""
    low, high = window.bounds
    selection = await select_runs(db, wanted)
    if wanted.is_empty or not selection.parts:
        return Found(ids=[], next=None, searched=None)
    ids: list[NotificationId] = []
    left, last, chunk = max_examined, None, limit + 1
    while left > 0:
        chunk = min(chunk, left) if selection.conditions else chunk
        rows = await _list_candidates(db, selection, low, high, chunk)
        for row in rows:
            if len(ids) == limit:
                return Found(ids=ids, next=last, searched=last)
            last = NotificationId(row["id"])
            ids += [last] if row["is_match"] else []
        if len(rows) < chunk or last is None:
            return Found(ids=ids, next=None, searched=last)
        high, left, chunk = last, left - len(rows), min(4 * chunk, _CHUNK)
    return Found(ids=ids, next=last, searched=last)


async def _list_candidates(db: Connection, selection: Selection, low: bytes, high: bytes, limit: int) -> Sequence[Any]:
    """The next rows of the walk, with whether they match."""
    listing = Listing(
        columns="t.id",
        source="notifications AS t",
        where="t.environment_id = :environment_id AND t.id >= :low AND t.id < :high",
        parameters={},
        parts=selection.parts,
    )
    ids = f"{select_ids(db.dialect, listing, 'DESC')} LIMIT :reach"
    if selection.conditions:
        ids = f"""
            SELECT t.id, ({selection.match}) AS is_match FROM ({ids}) AS found
            JOIN notifications AS t ON t.environment_id = :environment_id AND t.id = found.id ORDER BY t.id DESC
        """
    else:
        ids = f"SELECT id, TRUE AS is_match FROM ({ids}) AS found ORDER BY id DESC"
    return await db.fetch(sql(ids), **selection.parameters, low=low, high=high, reach=limit)
