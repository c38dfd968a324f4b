"""Digest windows: one row for each identity, one event for each run that joined, one leader that goes on at the end.

The identity of a window is environment, workflow, step, subscriber and the value of the digest key. Everything here
happens inside the environment's lane, so a run either joins before the window closes or opens the next one.
"""

from dataclasses import dataclass, replace

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import sql
from clarion.ids import EnvironmentId, JobId, NotificationId, SubscriberId, TriggerId, WorkflowId, new_id
from clarion.jobs import store as jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowIdentity:
    workflow_id: WorkflowId
    step_id: bytes
    subscriber_id: SubscriberId
    key_digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    id: bytes
    generation: int
    leader_id: JobId | None
    """The job that goes on when the window closes; None while it is closed."""
    leader_run_id: NotificationId | None
    closes_at: Millis | None
    last_event_at: Millis


FIND_WINDOW = sql("""
    SELECT id, generation, leader_id, leader_run_id, closes_at, last_event_at FROM digest_windows
    WHERE environment_id = :environment_id AND workflow_id = :workflow_id AND step_id = :step_id
    AND subscriber_id = :subscriber_id AND key_digest = :key_digest
""")
INSERT_WINDOW = sql("""
    INSERT INTO digest_windows (
        environment_id, id, workflow_id, step_id, subscriber_id, key_digest, generation, leader_id, leader_run_id,
        closes_at, last_event_at
    ) VALUES (
        :environment_id, :id, :workflow_id, :step_id, :subscriber_id, :key_digest, :generation, :leader_id,
        :leader_run_id, :closes_at, :now
    )
""")
UPDATE_WINDOW = sql("""
    UPDATE digest_windows
    SET generation = :generation, leader_id = :leader_id, leader_run_id = :leader_run_id, closes_at = :closes_at,
        last_event_at = :last_event_at
    WHERE environment_id = :environment_id AND id = :id
""")
INSERT_EVENT = sql("""
    INSERT INTO digest_events (environment_id, window_id, generation, job_id, trigger_id)
    VALUES (:environment_id, :window_id, :generation, :job_id, :trigger_id)
""")
LIST_EVENTS = sql("""
    SELECT job_id, trigger_id FROM digest_events
    WHERE environment_id = :environment_id AND window_id = :window_id AND generation = :generation
    ORDER BY trigger_id, job_id
""")
FIND_WINDOW_OF_JOB = sql("""
    SELECT w.id, w.generation, w.leader_id, w.leader_run_id, w.closes_at, w.last_event_at,
        e.generation AS event_generation
    FROM digest_events AS e
    JOIN digest_windows AS w ON w.environment_id = e.environment_id AND w.id = e.window_id
    WHERE e.environment_id = :environment_id AND e.job_id = :job_id
""")
DELETE_EVENT = sql("DELETE FROM digest_events WHERE environment_id = :environment_id AND job_id = :job_id")
POINT_TO_LEADER = sql("""
    UPDATE notifications SET digested_into = :leader, updated_at = :now
    WHERE environment_id = :environment_id AND digested_into = :former AND id <> :leader
""")
CLEAR_LEADER = sql("""
    UPDATE notifications SET digested_into = NULL, updated_at = :now
    WHERE environment_id = :environment_id AND id = :leader
""")


async def find_window(db: Connection, environment_id: EnvironmentId, identity: WindowIdentity) -> Window | None:
    row = await db.fetch_one(FIND_WINDOW, environment_id=environment_id, **_identity(identity))
    return None if row is None else _window(row)


@dataclass(frozen=True, slots=True)
class Leader:
    """The job that a window waits for, its run, and until when."""

    job_id: JobId
    run_id: NotificationId
    closes_at: Millis


async def open_window(
    db: Connection, environment_id: EnvironmentId, identity: WindowIdentity, leader: Leader | None, now: Millis
) -> Window:
    """Open the window of an identity anew; without a leader it only remembers that there was an event."""
    former = await find_window(db, environment_id, identity)
    window = Window(
        id=former.id if former else new_id(now),
        generation=former.generation + 1 if former else 1,
        leader_id=leader.job_id if leader else None,
        leader_run_id=leader.run_id if leader else None,
        closes_at=leader.closes_at if leader else None,
        last_event_at=now,
    )
    if former is not None:
        await _write(db, environment_id, window)
        return window
    await db.execute(
        INSERT_WINDOW,
        environment_id=environment_id,
        id=window.id,
        generation=window.generation,
        leader_id=window.leader_id,
        leader_run_id=window.leader_run_id,
        closes_at=window.closes_at,
        now=now,
        **_identity(identity),
    )
    return window


async def insert_event(
    db: Connection, environment_id: EnvironmentId, window: Window, job_id: JobId, trigger_id: TriggerId
) -> None:
    await db.execute(
        INSERT_EVENT,
        environment_id=environment_id,
        window_id=window.id,
        generation=window.generation,
        job_id=job_id,
        trigger_id=trigger_id,
    )


async def close_window(db: Connection, environment_id: EnvironmentId, leader_id: JobId) -> list[TriggerId] | None:
    """Close the window that the job leads and list its events in the order of their triggers; None if it leads none."""
    row = await db.fetch_one(FIND_WINDOW_OF_JOB, environment_id=environment_id, job_id=leader_id)
    if row is None or row["leader_id"] != leader_id:
        return None
    window = _window(row)
    events = await db.fetch(
        LIST_EVENTS, environment_id=environment_id, window_id=window.id, generation=window.generation
    )
    await _write(db, environment_id, replace(window, leader_id=None, leader_run_id=None, closes_at=None))
    return [TriggerId(event["trigger_id"]) for event in events]


async def touch_window(db: Connection, environment_id: EnvironmentId, window: Window, now: Millis) -> None:
    """Remember the moment of the last event."""
    await _write(db, environment_id, replace(window, last_event_at=now))


async def leave_window(db: Connection, environment_id: EnvironmentId, job_id: JobId, now: Millis) -> None:
    """Take a cancelled run out of its window; if it led, the oldest of the others leads from now on."""
    row = await db.fetch_one(FIND_WINDOW_OF_JOB, environment_id=environment_id, job_id=job_id)
    if row is None or row["generation"] != row["event_generation"] or row["leader_id"] is None:
        return
    window = _window(row)
    await db.execute(DELETE_EVENT, environment_id=environment_id, job_id=job_id)
    if window.leader_id != job_id:
        return
    others = await db.fetch(
        LIST_EVENTS, environment_id=environment_id, window_id=window.id, generation=window.generation
    )
    if not others:
        await _write(db, environment_id, replace(window, leader_id=None, leader_run_id=None, closes_at=None))
        return
    follower = JobId(others[0]["job_id"])
    run_id = await _promote_follower(db, environment_id, window, follower, now)
    await _write(db, environment_id, replace(window, leader_id=follower, leader_run_id=run_id))


async def _promote_follower(
    db: Connection, environment_id: EnvironmentId, window: Window, follower: JobId, now: Millis
) -> NotificationId:
    """Let a run that was merged go on at the end of the window, in place of the one that led."""
    leader = await jobs.promote(db, environment_id, follower, due_at=window.closes_at, now=now)
    scope = {"environment_id": environment_id, "now": now}
    await db.execute(CLEAR_LEADER, **scope, leader=leader)
    await db.execute(POINT_TO_LEADER, **scope, leader=leader, former=window.leader_run_id)
    return leader


async def _write(db: Connection, environment_id: EnvironmentId, window: Window) -> None:
    await db.execute(
        UPDATE_WINDOW,
        environment_id=environment_id,
        id=window.id,
        generation=window.generation,
        leader_id=window.leader_id,
        leader_run_id=window.leader_run_id,
        closes_at=window.closes_at,
        last_event_at=window.last_event_at,
    )


def _identity(identity: WindowIdentity) -> dict[str, bytes]:
    return {
        "workflow_id": identity.workflow_id,
        "step_id": identity.step_id,
        "subscriber_id": identity.subscriber_id,
        "key_digest": identity.key_digest,
    }


def _window(row: Row) -> Window:
    return Window(
        id=row["id"],
        generation=row["generation"],
        leader_id=row["leader_id"],
        leader_run_id=row["leader_run_id"],
        closes_at=row["closes_at"],
        last_event_at=row["last_event_at"],
    )
