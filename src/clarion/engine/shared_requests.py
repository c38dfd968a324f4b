"""Requests of HTTP steps that all runs of a trigger share: the first run that reaches the step makes the request.

A row for each trigger and step says who makes it, and then has the answer. The others wait in their lanes, until one
moment for all, by which they are found when the answer is recorded. They are woken some at a time: each unit of work
that goes on with one wakes further ones, so that no transaction changes a million jobs.

On PostgreSQL, who finds no answer holds the row until the end of the unit of work, so that the answer is recorded
afterwards and finds everybody who waits. If the run that makes the request is gone, who wakes up later makes it.
"""

from typing import Any, Final

from msgspec import Struct

from clarion.clock import MINUTE, Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.engine.records import Run
from clarion.ids import EnvironmentId, JobId, TriggerId
from clarion.jobs.model import Job
from clarion.jsontext import json_text, json_value
from clarion.vocabulary import JobStatus
from clarion.workflows.model import Step

LATE_AFTER: Final = Millis(5 * MINUTE)
"""Then somebody who waits looks whether the request is made at all."""
WOKEN_TOGETHER: Final = 512

_COLUMNS = "request_id, job_id, wake_at, outcome, outputs"
_KEY = "environment_id = :environment_id AND trigger_id = :trigger_id AND step_id = :step_id"
FIND = sql(f"SELECT {_COLUMNS} FROM http_answers WHERE {_KEY}")
FIND_FOR_SHARE = sql(f"SELECT {_COLUMNS} FROM http_answers WHERE {_KEY} {{for_share}}")
FIND_FOR_UPDATE = sql(f"SELECT {_COLUMNS} FROM http_answers WHERE {_KEY} {{for_update}}")
INSERT = sql(f"""
    INSERT INTO http_answers (environment_id, trigger_id, step_id, request_id, job_id, wake_at)
    VALUES (:environment_id, :trigger_id, :step_id, :job_id, :job_id, :wake_at)
    ON CONFLICT (environment_id, trigger_id, step_id) DO NOTHING
    RETURNING {_COLUMNS}
""")
UPDATE = sql(f"UPDATE http_answers SET job_id = :job_id, wake_at = :wake_at WHERE {_KEY}")
SETTLE = sql(f"""
    UPDATE http_answers SET outcome = :outcome, outputs = :outputs
    WHERE {_KEY} AND job_id = :job_id AND outcome IS NULL
    RETURNING wake_at
""")
IS_MADE = sql("SELECT 1 AS one FROM jobs WHERE environment_id = :environment_id AND id = :job_id AND queue = 2")
WAKE = sql("""
    WITH waiting AS MATERIALIZED (
        SELECT id FROM jobs
        WHERE environment_id = :environment_id AND queue = 1 AND due_at = :wake_at
        AND status = 'delayed' AND type = 'http_request'
        LIMIT :limit {skip_locked}
    )
    UPDATE jobs SET due_at = :now WHERE environment_id = :environment_id AND id IN (SELECT id FROM waiting)
""")


class SharedRequest(Struct, kw_only=True):
    """A request for all runs of a trigger."""

    trigger_id: TriggerId
    step_id: bytes
    request_id: JobId
    """The job that was first to reach the step: the key of the request in every attempt."""
    job_id: JobId
    """The job that makes it."""
    wake_at: Millis
    """When those who wait for it look again."""
    outcome: JobStatus | None
    """That of the step; None while there is no answer."""
    outputs: dict[str, Any] | None

    @property
    def key(self) -> dict[str, Any]:
        return {"trigger_id": self.trigger_id, "step_id": self.step_id}


class SharedRequests:
    """The shared requests of one unit of work."""

    def __init__(self, db: Connection, environment_id: EnvironmentId, now: Millis) -> None:
        self._db = db
        self._environment_id = environment_id
        self._now = now
        self._known: dict[tuple[TriggerId, bytes], SharedRequest] = {}
        self._waking: dict[tuple[TriggerId, bytes], Millis] = {}
        self.has_woken = False
        """Whether runs that waited for an answer are due at once."""

    async def join(self, run: Run, step: Step, job: Job) -> SharedRequest:
        """Return the request of the trigger; its `job_id` is that of the given job if this is to make it."""
        key = (run.trigger.id, step.id_bytes)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = await self._get(run, step, job)
        return known

    async def settle(self, request: SharedRequest, outcome: JobStatus, outputs: dict[str, Any]) -> None:
        """Record the outcome of a request that this unit of work decided."""
        await settle_shared(self._db, self._environment_id, request.key, request.job_id, (outcome, outputs), self._now)
        request.outcome, request.outputs = outcome, outputs

    def note_resumed(self, request: SharedRequest) -> None:
        """Note that a run which waited has its answer: others wait, too."""
        self._waking[request.trigger_id, request.step_id] = request.wake_at

    async def wake_others(self) -> None:
        for wake_at in set(self._waking.values()):
            self.has_woken |= await wake(self._db, self._environment_id, wake_at, self._now)

    async def _get(self, run: Run, step: Step, job: Job) -> SharedRequest:
        scope = {"environment_id": self._environment_id, "trigger_id": run.trigger.id, "step_id": step.id_bytes}
        row = await self._db.fetch_one(FIND, **scope)
        if row is None:
            own = {"job_id": job.id, "wake_at": self._wake_at(run)}
            row = await self._db.fetch_one(INSERT, **scope, **own)
        if row is not None and row["outcome"] is None and row["wake_at"] <= self._now:
            return await self._take_over(run, step, job)
        if row is None or row["outcome"] is None:
            row = await self._db.fetch_one(FIND_FOR_SHARE, **scope)
        if row is None:
            raise LookupError("a shared request was deleted while it was joined")
        return _shared_request(run.trigger.id, step, row)

    async def _take_over(self, run: Run, step: Step, job: Job) -> SharedRequest:
        """Make the request if nobody does; else wait for it longer."""
        scope = {"environment_id": self._environment_id, "trigger_id": run.trigger.id, "step_id": step.id_bytes}
        row = await self._db.fetch_one(FIND_FOR_UPDATE, **scope)
        if row is None:
            raise LookupError("a shared request was deleted while it was joined")
        request = _shared_request(run.trigger.id, step, row)
        if request.outcome is None and request.wake_at <= self._now:
            scope_of_job = {"environment_id": self._environment_id, "job_id": request.job_id}
            if await self._db.fetch_one(IS_MADE, **scope_of_job) is None:
                request.job_id = job.id
            request.wake_at = self._wake_at(run)
            await self._db.execute(UPDATE, **scope, job_id=request.job_id, wake_at=request.wake_at)
        return request

    def _wake_at(self, run: Run) -> Millis:
        # Runs wait no longer than their trigger: this moment is the same for all of them.
        expires_at = run.trigger.expires_at
        late = Millis(self._now + LATE_AFTER)
        return late if expires_at is None else min(late, expires_at)


async def settle_shared(
    db: Connection,
    environment_id: EnvironmentId,
    key: dict[str, Any],
    job_id: JobId,
    result: tuple[JobStatus, dict[str, Any]],
    now: Millis,
) -> bool:
    """Record the outcome for all runs of the trigger and wake the first of those that wait; returns whether any did."""
    outcome, outputs = result
    row = await db.fetch_one(
        SETTLE, environment_id=environment_id, **key, job_id=job_id, outcome=outcome, outputs=json_text(outputs)
    )
    return row is not None and await wake(db, environment_id, row["wake_at"], now)


async def abandon_shared(
    db: Connection, environment_id: EnvironmentId, key: dict[str, Any], job_id: JobId, now: Millis
) -> bool:
    """Let others make the request, because its job was canceled; returns whether any of them waits."""
    scope = {"environment_id": environment_id, **key}
    row = await db.fetch_one(FIND_FOR_UPDATE, **scope)
    if row is None or row["job_id"] != job_id or row["outcome"] is not None:
        return False
    await db.execute(UPDATE, **scope, job_id=job_id, wake_at=now)
    return await wake(db, environment_id, row["wake_at"], now)


async def wake(db: Connection, environment_id: EnvironmentId, wake_at: Millis, now: Millis) -> bool:
    """Wake some of those who wait until this moment; returns whether there were any."""
    if wake_at <= now:
        return False
    limits = {"wake_at": wake_at, "now": now, "limit": WOKEN_TOGETHER}
    return await db.execute(WAKE, environment_id=environment_id, **limits) > 0


def _shared_request(trigger_id: TriggerId, step: Step, row: Row) -> SharedRequest:
    return SharedRequest(
        trigger_id=trigger_id,
        step_id=step.id_bytes,
        request_id=row["request_id"],
        job_id=row["job_id"],
        wake_at=row["wake_at"],
        outcome=None if row["outcome"] is None else JobStatus(row["outcome"]),
        outputs=json_value(row["outputs"]),
    )
