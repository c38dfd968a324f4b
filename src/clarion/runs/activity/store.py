"""SQL of the activity of workflows."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from clarion.clock import SECOND, Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.db.sampling import Counted, SampledRange
from clarion.ids import (
    EnvironmentId,
    JobId,
    NotificationId,
    WorkflowId,
    WorkflowVersionId,
    first_id,
    id_millis,
    last_id,
)
from clarion.jsontext import json_value
from clarion.providers.definition.receipts import ReceiptKind
from clarion.runs.notifications.store import LIST_KINDS_OF_TEMPLATES
from clarion.runs.status import STATUSES, decide_from_facts, read_fact
from clarion.vocabulary import Channel, JobStatus, RunStatus, StepType

_OPENS = frozenset({ReceiptKind.OPENED, ReceiptKind.CLICKED})
_JOBS_PER_QUERY = 20
_CHANNELS = ", ".join(f"'{one.value}'" for one in Channel)

_OF_KIND = "environment_id = :environment_id AND workflow_id = :workflow_id AND step_types = :step_types"
LIST_RUNS = sql(f"""
    SELECT id, subscriber_id, version_id FROM notifications WHERE {_OF_KIND} AND id >= :first AND id <= :last
    ORDER BY id LIMIT :limit
""")
FIND_RUN_BEHIND = sql(f"""
    SELECT id FROM notifications WHERE {_OF_KIND} AND id >= :first AND id <= :last ORDER BY id LIMIT 1 OFFSET :limit
""")
COUNT_RUNS = sql(f"SELECT count(*) AS n FROM notifications WHERE {_OF_KIND} AND id >= :first AND id <= :last")
FIND_LAST_RUN = sql(f"""
    SELECT id, created_at, status FROM notifications WHERE {_OF_KIND} ORDER BY id DESC LIMIT 1
""")
LIST_FACTS = sql("""
    SELECT type, status, queue, attempt, put_off_since, dead_at FROM jobs
    WHERE environment_id = :environment_id AND notification_id = :id
""")
LIST_JOBS = sql(f"""
    SELECT id, notification_id, step, type, status, updated_at, CASE WHEN type = 'branch' THEN outputs END AS outputs
    FROM jobs
    WHERE environment_id = :environment_id AND notification_id {{any:ids}} AND type IN ({_CHANNELS}, 'branch')
""")
LIST_RECEIPTS = sql("""
    SELECT job_id, delivery FROM messages
    WHERE environment_id = :environment_id AND job_id {any:job_ids} AND channel <> 'in_app' AND delivery IS NOT NULL
""")


class Kind(NamedTuple):
    """Runs of a workflow with the same step types, which an index has in the order of time."""

    workflow_id: WorkflowId
    step_types: int


class LastRun(Struct, frozen=True, kw_only=True):
    id: NotificationId
    created_at: Millis
    status: RunStatus


class SampledRun(Struct, frozen=True, kw_only=True):
    """A run that is looked at, and how many runs it stands for."""

    id: NotificationId
    subscriber_id: bytes
    version_id: WorkflowVersionId
    weight: float


class RunJob(Struct, frozen=True, kw_only=True):
    """A step of a run that sends through a channel, or a branch."""

    id: JobId
    run: SampledRun
    step: int
    """Position in the workflow version."""
    channel: Channel | None
    """None: it is a branch."""
    status: JobStatus
    updated_at: Millis
    path: str | None
    """Of a branch, the path that was taken."""

    @property
    def place(self) -> tuple[WorkflowVersionId, int]:
        return self.run.version_id, self.step


class Marks(NamedTuple):
    """What a person did with a message."""

    seen: bool = False
    read: bool = False
    clicked: bool = False


async def list_kinds(db: Connection, environment_id: EnvironmentId, ids: Sequence[WorkflowId]) -> list[Kind]:
    if not ids:
        return []
    rows = await db.fetch(LIST_KINDS_OF_TEMPLATES, environment_id=environment_id, templates=list(ids))
    return [Kind(WorkflowId(bytes(row["workflow_id"])), row["step_types"]) for row in rows]


def workflow_of_kind(key: Any) -> WorkflowId:
    kind: Kind = key
    return kind.workflow_id


async def count_runs(db: Connection, environment_id: EnvironmentId, range_: SampledRange, *, limit: int) -> Counted:
    """Count the runs of a kind in a time, up to a limit; the index alone is read."""
    scope = _scope(environment_id, range_)
    behind = await db.fetch_one(FIND_RUN_BEHIND, **scope, limit=limit)
    if behind is None:
        row = await db.fetch_one(COUNT_RUNS, **scope)
        return Counted(range=range_, count=0 if row is None else int(row["n"]))
    (first,) = await db.fetch(LIST_RUNS, **scope, limit=1)
    times = id_millis(bytes(first["id"])), id_millis(bytes(behind["id"]))
    return Counted(range=range_, count=limit, reached=times)


async def list_runs(
    db: Connection, environment_id: EnvironmentId, range_: SampledRange, *, limit: int
) -> Sequence[Row]:
    """Return the first runs of a kind in a time."""
    return await db.fetch(LIST_RUNS, **_scope(environment_id, range_), limit=limit)


async def list_last_runs(
    db: Connection, environment_id: EnvironmentId, kinds: Sequence[Kind]
) -> dict[WorkflowId, LastRun]:
    """Return the newest run of each workflow that has one."""
    newest: dict[WorkflowId, Row] = {}
    for kind in kinds:
        row = await db.fetch_one(FIND_LAST_RUN, environment_id=environment_id, **kind._asdict())
        known = newest.get(kind.workflow_id)
        if row is not None and (known is None or row["id"] > known["id"]):
            newest[kind.workflow_id] = row
    return {
        workflow_id: LastRun(
            id=NotificationId(row["id"]),
            created_at=row["created_at"],
            status=await _status(db, environment_id, row),
        )
        for workflow_id, row in newest.items()
    }


async def list_jobs(
    db: Connection, environment_id: EnvironmentId, runs: Mapping[NotificationId, SampledRun]
) -> list[RunJob]:
    if not runs:
        return []
    return [
        RunJob(
            id=JobId(bytes(row["id"])),
            run=runs[NotificationId(bytes(row["notification_id"]))],
            step=row["step"],
            channel=None if row["type"] == StepType.BRANCH else Channel(row["type"]),
            status=JobStatus(row["status"]),
            updated_at=row["updated_at"],
            path=(json_value(row["outputs"]) or {}).get("path"),
        )
        for row in await db.fetch(LIST_JOBS, environment_id=environment_id, ids=list(runs))
    ]


async def list_marks(db: Connection, environment_id: EnvironmentId, jobs: Sequence[RunJob]) -> dict[JobId, Marks]:
    """Return which messages of jobs of one channel were seen and read; of most channels, receipts say it."""
    if jobs[0].channel is Channel.IN_APP:
        return await _list_in_app_marks(db, environment_id, jobs)
    rows = await db.fetch(LIST_RECEIPTS, environment_id=environment_id, job_ids=[one.id for one in jobs])
    marks: dict[JobId, Marks] = {}
    for row in rows:
        receipts = json_value(row["delivery"])
        if not _OPENS.isdisjoint(receipts):
            # A step may have sent several messages.
            job_id, clicked = JobId(bytes(row["job_id"])), ReceiptKind.CLICKED in receipts
            marks[job_id] = Marks(seen=True, read=True, clicked=clicked or marks.get(job_id, Marks()).clicked)
    return marks


async def _list_in_app_marks(
    db: Connection, environment_id: EnvironmentId, jobs: Sequence[RunJob]
) -> dict[JobId, Marks]:
    """Find messages among those that their people got when the job ended: in-app messages have no index by job."""
    marks: dict[JobId, Marks] = {}
    for start in range(0, len(jobs), _JOBS_PER_QUERY):
        batch = jobs[start : start + _JOBS_PER_QUERY]
        selects, parameters = [], dict[str, Any](environment_id=environment_id)
        for number, job in enumerate(batch):
            selects += [_select_message(number, archived) for archived in ("TRUE", "FALSE")]
            parameters |= {
                f"person{number}": job.run.subscriber_id,
                f"first{number}": first_id(Millis(job.updated_at - SECOND)),
                f"last{number}": last_id(Millis(job.updated_at + 2 * SECOND)),
                f"job{number}": job.id,
            }
        for row in await db.fetch(sql(" UNION ALL ".join(selects)), **parameters):
            marks[JobId(bytes(row["job_id"]))] = Marks(seen=bool(row["seen"]), read=bool(row["read"]))
    return marks


def _scope(environment_id: EnvironmentId, range_: SampledRange) -> dict[str, Any]:
    kind: Any = range_.key
    bounds = {"first": first_id(range_.first), "last": last_id(range_.last)}
    return {"environment_id": environment_id, **kind._asdict(), **bounds}


def _select_message(number: int, archived: str) -> str:
    return f"""
        SELECT job_id, seen, read FROM messages
        WHERE environment_id = :environment_id AND subscriber_id = :person{number} AND channel = 'in_app'
        AND archived = {archived} AND position >= :first{number} AND position <= :last{number} AND job_id = :job{number}
    """


async def _status(db: Connection, environment_id: EnvironmentId, row: Row) -> RunStatus:
    """The stored status of a run; one of an earlier version is derived from its jobs."""
    if row["status"] is not None:
        return STATUSES[row["status"]]
    facts = await db.fetch(LIST_FACTS, environment_id=environment_id, id=row["id"])
    return decide_from_facts(read_fact(one) for one in facts)
