"""Runs that end early leave their digest window; if one led, the oldest of the others takes its place."""

from collections.abc import Sequence

from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.engine.digest_events import DELETE_EVENT, FIND_OLDEST, LIST_EVENTS_OF_JOBS
from clarion.engine.digest_windows import DigestWindow, close_window, list_windows, update_windows
from clarion.ids import EnvironmentId, JobId
from clarion.jobs import store as jobs
from clarion.runs.status import settle_run_statuses

POINT_TO_LEADER = sql("""
    UPDATE notifications SET digested_into = :leader, updated_at = :now
    WHERE environment_id = :environment_id AND digested_into = :former AND id <> :leader
""")
CLEAR_LEADER = sql("""
    UPDATE notifications SET digested_into = NULL, updated_at = :now
    WHERE environment_id = :environment_id AND id = :leader
""")


async def list_open_followers(db: Connection, environment_id: EnvironmentId, job_ids: Sequence[JobId]) -> set[JobId]:
    """Those of the jobs whose event waits in a window that another job leads."""
    events, windows = await _find_windows(db, environment_id, job_ids)
    return {
        JobId(event["job_id"])
        for event in events
        if (window := windows.get(event["window_id"])) is not None
        and window.leader_id not in (None, event["job_id"])
        and window.generation == event["generation"]
    }


async def leave_window(db: Connection, environment_id: EnvironmentId, job_id: JobId, now: Millis) -> None:
    """Take a run that ends early out of its open window; if it led, the oldest of the others is promoted."""
    events, windows = await _find_windows(db, environment_id, [job_id])
    for event in events:
        window = windows.get(event["window_id"])
        if window is None or window.leader_id is None or window.generation != event["generation"]:
            continue
        await db.execute(DELETE_EVENT, environment_id=environment_id, job_id=job_id)
        if window.leader_id == job_id:
            await _replace_leader(db, environment_id, window, now)


async def _find_windows(
    db: Connection, environment_id: EnvironmentId, job_ids: Sequence[JobId]
) -> tuple[Sequence[Row], dict[bytes, DigestWindow]]:
    if not job_ids:
        return [], {}
    events = await db.fetch(LIST_EVENTS_OF_JOBS, environment_id=environment_id, job_ids=list(job_ids))
    ids = list({event["window_id"] for event in events})
    return events, await list_windows(db, environment_id, ids)


async def _replace_leader(db: Connection, environment_id: EnvironmentId, window: DigestWindow, now: Millis) -> None:
    """Promote the oldest follower to lead the window; without followers it closes."""
    scope = {"environment_id": environment_id}
    oldest = await db.fetch_one(FIND_OLDEST, **scope, window_id=window.id, generation=window.generation)
    if oldest is None:
        await update_windows(db, environment_id, [close_window(window)])
        return
    follower = JobId(oldest["job_id"])
    leader = await jobs.promote(db, environment_id, follower, due_at=window.closes_at, now=now)
    await db.execute(CLEAR_LEADER, **scope, leader=leader, now=now)
    await db.execute(POINT_TO_LEADER, **scope, leader=leader, former=window.leader_run_id, now=now)
    await settle_run_statuses(db, environment_id, [leader], now)
    await update_windows(db, environment_id, [replace(window, leader_id=follower, leader_run_id=leader)])
