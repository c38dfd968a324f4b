"""Letting open digests go on before their time.

Their windows close like those whose time has come: the leaders are due now, under the locks of their people's lanes,
and a worker takes them on. An event that comes before that joins; one that comes after it opens the next window.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from clarion.clock import Millis
from clarion.contexts.model import keys_of
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.engine.digest_events import LIST_EVENTS_OF_JOBS
from clarion.engine.digest_windows import WindowIdentity
from clarion.engine.steps.digest import key_digest
from clarion.ids import EnvironmentId, JobId, SubscriberId, TriggerId, WorkflowId
from clarion.jobs import store as jobs
from clarion.jobs.details import DetailCode, ExecutionDetail
from clarion.jobs.lanes import LaneSet, lock_lanes
from clarion.triggers.store import list_triggers_by_id
from clarion.workflows.model import Step
from clarion.workflows.store import list_versions_by_id

_FIELDS = """
    j.id, j.type, j.status, j.step, j.lane, j.due_at, n.workflow_id, n.version_id, n.subscriber_id, n.trigger_id
"""
_RUN = "JOIN notifications AS n ON n.environment_id = j.environment_id AND n.id = j.notification_id"
LIST_WAITING = sql(f"""
    SELECT {_FIELDS} FROM (
        SELECT environment_id, id, notification_id, type, status, step, lane, due_at FROM jobs
        WHERE environment_id = :environment_id AND queue = 1 AND (due_at, id) > (:due_at, :job_id)
        ORDER BY due_at, id LIMIT :limit
    ) AS j {_RUN}
    ORDER BY j.due_at, j.id
""")
LIST_WAITING_OF_PERSON = sql(f"""
    SELECT {_FIELDS} FROM digest_windows AS w
    JOIN jobs AS j ON j.environment_id = w.environment_id AND j.id = w.leader_id {_RUN}
    WHERE w.environment_id = :environment_id AND w.subscriber_id = :subscriber_id AND w.leader_id IS NOT NULL
    AND (j.due_at, j.id) > (:due_at, :job_id)
    ORDER BY j.due_at, j.id LIMIT :limit
""")
CLOSE_WINDOWS = sql("""
    UPDATE digest_windows SET closes_at = :now, closes_by = NULL
    WHERE environment_id = :environment_id AND id {any:ids} AND leader_id {any:leader_ids}
""")


class FlushFilter(Struct, frozen=True, kw_only=True):
    """Which open digests are meant."""

    workflow_id: WorkflowId
    step_id: str | None = None
    subscriber_id: SubscriberId | None = None
    has_key: bool = False
    """Whether only those of one value of digestKey are meant."""
    key: Any = None


class FlushPosition(Struct, frozen=True):
    """How far the waiting runs of an environment have been looked at, in the order in which they are due."""

    due_at: Millis
    job_id: JobId


class FlushLimits(Struct, frozen=True):
    flushed: int = 500
    """Windows that one call closes: it holds the lanes of their people."""
    examined: int = 5_000
    """Waiting runs of the environment that one call looks at."""


LIMITS = FlushLimits()


class Flushed(Struct, frozen=True):
    count: int
    position: FlushPosition | None
    """Where to go on; None if there is no more."""


async def flush_digests(
    db: Connection,
    environment_id: EnvironmentId,
    wanted: FlushFilter,
    now: Millis,
    after: FlushPosition | None,
    limits: FlushLimits = LIMITS,
) -> Flushed:
    """Let the leaders of open windows be due now, as far as one call goes."""
    start = after or FlushPosition(now, JobId(bytes(16)))
    rows = await _list_waiting(db, environment_id, wanted, start, limits.examined)
    leaders = await _choose(db, environment_id, wanted, rows)
    chosen = leaders[: limits.flushed]
    last = rows[-1] if len(rows) == limits.examined else None
    if len(leaders) > len(chosen):
        last = chosen[-1]
    count = await _close(db, environment_id, chosen, now)
    return Flushed(count, None if last is None else FlushPosition(last["due_at"], JobId(last["id"])))


async def _list_waiting(
    db: Connection, environment_id: EnvironmentId, wanted: FlushFilter, start: FlushPosition, limit: int
) -> Sequence[Row]:
    page = {"due_at": start.due_at, "job_id": start.job_id, "limit": limit}
    if wanted.subscriber_id is None:
        return await db.fetch(LIST_WAITING, environment_id=environment_id, **page)
    person = {"subscriber_id": wanted.subscriber_id}
    return await db.fetch(LIST_WAITING_OF_PERSON, environment_id=environment_id, **person, **page)


async def _choose(
    db: Connection, environment_id: EnvironmentId, wanted: FlushFilter, rows: Sequence[Row]
) -> Sequence[Row]:
    """Those of the waiting jobs that lead a window that is meant."""
    own = [
        row
        for row in rows
        if row["workflow_id"] == wanted.workflow_id and row["type"] == "digest" and row["status"] == "delayed"
    ]
    versions = await list_versions_by_id(db, environment_id, [row["version_id"] for row in own])
    steps = {row["id"]: versions[row["version_id"]].steps[row["step"]] for row in own}
    if wanted.step_id is not None:
        own = [row for row in own if wanted.step_id in (steps[row["id"]].step_id, steps[row["id"]].id)]
    return await _choose_by_key(db, environment_id, wanted, own, steps) if wanted.has_key else own


async def _choose_by_key(
    db: Connection, environment_id: EnvironmentId, wanted: FlushFilter, rows: Sequence[Row], steps: Mapping[bytes, Step]
) -> Sequence[Row]:
    """Those whose window is that of the value of the key; windows are known by a digest of it alone."""
    windows = await _find_windows(db, environment_id, [JobId(row["id"]) for row in rows])
    triggers = await list_triggers_by_id(db, environment_id, [TriggerId(row["trigger_id"]) for row in rows])
    chosen = []
    for row in rows:
        contexts = triggers[row["trigger_id"]].contexts
        identity = WindowIdentity(
            workflow_id=wanted.workflow_id,
            step_id=steps[row["id"]].id_bytes,
            subscriber_id=row["subscriber_id"],
            key_digest=key_digest(wanted.key if contexts is None else [wanted.key, keys_of(contexts)]),
        )
        chosen += [row] if identity.window_id in windows.get(row["id"], ()) else []
    return chosen


async def _find_windows(
    db: Connection, environment_id: EnvironmentId, job_ids: Sequence[JobId]
) -> dict[bytes, set[bytes]]:
    windows: dict[bytes, set[bytes]] = {}
    if job_ids:
        for row in await db.fetch(LIST_EVENTS_OF_JOBS, environment_id=environment_id, job_ids=list(job_ids)):
            windows.setdefault(row["job_id"], set()).add(row["window_id"])
    return windows


async def _close(db: Connection, environment_id: EnvironmentId, rows: Sequence[Row], now: Millis) -> int:
    """Let these leaders be due now, as far as they still wait when their lanes are locked."""
    if not rows:
        return 0
    await lock_lanes(db, environment_id, LaneSet.of({row["lane"] for row in rows}))
    woken = await jobs.wake(db, environment_id, [JobId(row["id"]) for row in rows], now)
    windows = await _find_windows(db, environment_id, woken)
    ids = list(set().union(*windows.values()))
    if ids:
        await db.execute(CLOSE_WINDOWS, environment_id=environment_id, ids=ids, leader_ids=list(woken), now=now)
    await jobs.append_to_all(db, environment_id, woken, ExecutionDetail.of(DetailCode.DIGEST_FLUSHED, now))
    return len(woken)
