"""Digest windows: one row per identity, one event per run that joined, one leader that goes on when the window closes.

Everything here happens under the lock of the person's lane, so a run either joins before the window closes or opens
the next one. A unit of work reads the windows that it may need together, changes them in memory and writes them at its
end.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId, JobId, NotificationId, SubscriberId, TriggerId, WorkflowId
from clarion.jobs import store as jobs
from clarion.triggers.model import Trigger
from clarion.triggers.store import list_triggers_by_id


class WindowIdentity(Struct, frozen=True, kw_only=True):
    """Runs with the same identity join the same window."""

    workflow_id: WorkflowId
    step_id: bytes
    subscriber_id: SubscriberId
    key_digest: bytes

    @property
    def window_id(self) -> bytes:
        """Derived from the identity, so that windows are found by their primary key."""
        parts = self.workflow_id + self.step_id + self.subscriber_id + self.key_digest
        return blake2b(parts, digest_size=16).digest()


class Window(Struct, frozen=True, kw_only=True):
    id: bytes
    subscriber_id: SubscriberId
    generation: int
    """How often it was opened."""
    leader_id: JobId | None
    """The job that goes on when the window closes; None while it is closed."""
    leader_run_id: NotificationId | None
    closes_at: Millis | None
    last_event_at: Millis


class Leader(Struct, frozen=True):
    """The job that a window waits for, its run, and until when."""

    job_id: JobId
    run_id: NotificationId
    closes_at: Millis


_COLUMNS = "id, subscriber_id, generation, leader_id, leader_run_id, closes_at, last_event_at"

LIST_WINDOWS = sql(f"""
    SELECT {_COLUMNS} FROM digest_windows WHERE environment_id = :environment_id AND id {{any:ids}}
""")
WINDOWS = Insert(
    "digest_windows",
    *("environment_id", "id", "subscriber_id", "generation", "leader_id", "leader_run_id", "closes_at"),
    "last_event_at",
)
UPDATE_WINDOWS = sql("""
    UPDATE digest_windows
    SET generation = :generation, leader_id = :leader_id, leader_run_id = :leader_run_id, closes_at = :closes_at,
        last_event_at = :last_event_at
    {each: environment_id uuid, id uuid, generation integer, leader_id uuid, leader_run_id uuid, closes_at bigint,
        last_event_at bigint}
    WHERE environment_id = :environment_id AND id = :id
""")
EVENTS = Insert("digest_events", "environment_id", "window_id", "generation", "job_id", "trigger_id")
LIST_EVENTS = sql("""
    SELECT window_id, generation, job_id, trigger_id FROM digest_events
    WHERE environment_id = :environment_id AND window_id {any:window_ids}
    ORDER BY trigger_id, job_id
""")
LIST_EVENTS_OF_JOBS = sql("""
    SELECT window_id, generation, job_id FROM digest_events
    WHERE environment_id = :environment_id AND job_id {any:job_ids}
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


class DigestWindows:
    """The windows of one unit of work."""

    def __init__(self, db: Connection, environment_id: EnvironmentId, now: Millis) -> None:
        self._db = db
        self._environment_id = environment_id
        self._now = now
        self._stored: dict[bytes, Window | None] = {}
        self._windows: dict[bytes, Window | None] = {}
        self._led: dict[JobId, bytes] = {}
        self._events: dict[tuple[bytes, int], list[tuple[TriggerId, JobId]]] = {}
        self._new_events: list[tuple[bytes, int, JobId, TriggerId]] = []
        self._triggers: dict[TriggerId, Trigger] = {}

    async def load(self, window_ids: Iterable[bytes]) -> None:
        """Read windows that runs may join or open."""
        missing = [one for one in dict.fromkeys(window_ids) if one not in self._windows]
        if not missing:
            return
        rows = await self._db.fetch(LIST_WINDOWS, environment_id=self._environment_id, ids=missing)
        found = {row["id"]: _window(row) for row in rows}
        self._stored |= {one: found.get(one) for one in missing}
        self._windows |= {one: found.get(one) for one in missing}

    async def load_led(self, job_ids: Sequence[JobId]) -> None:
        """Read the windows that these jobs lead, with their events and the triggers of those."""
        missing = [one for one in job_ids if one not in self._led]
        if not missing:
            return
        scope = {"environment_id": self._environment_id}
        rows = await self._db.fetch(LIST_EVENTS_OF_JOBS, **scope, job_ids=missing)
        await self.load(row["window_id"] for row in rows)
        window_ids = []
        for row in rows:
            window = self._windows[row["window_id"]]
            if window is not None and window.leader_id == row["job_id"] and window.generation == row["generation"]:
                self._led[JobId(row["job_id"])] = window.id
                window_ids.append(window.id)
        if window_ids:
            for row in await self._db.fetch(LIST_EVENTS, **scope, window_ids=window_ids):
                events = self._events.setdefault((row["window_id"], row["generation"]), [])
                events.append((TriggerId(row["trigger_id"]), JobId(row["job_id"])))
        ids = {trigger_id for events in self._events.values() for trigger_id, _ in events}
        if ids - self._triggers.keys():
            wanted = list(ids - self._triggers.keys())
            self._triggers |= await list_triggers_by_id(self._db, self._environment_id, wanted)

    async def find(self, identity: WindowIdentity) -> Window | None:
        """The window of an identity, open or closed."""
        await self.load([identity.window_id])
        return self._windows[identity.window_id]

    async def open(self, identity: WindowIdentity, leader: Leader | None) -> Window:
        """Open the window of an identity anew; without a leader it only remembers that there was an event."""
        former = await self.find(identity)
        window = Window(
            id=identity.window_id,
            subscriber_id=identity.subscriber_id,
            generation=former.generation + 1 if former else 1,
            leader_id=leader.job_id if leader else None,
            leader_run_id=leader.run_id if leader else None,
            closes_at=leader.closes_at if leader else None,
            last_event_at=self._now,
        )
        self._windows[window.id] = window
        if leader is not None:
            self._led[leader.job_id] = window.id
        return window

    def join(self, window: Window, job_id: JobId, trigger: Trigger) -> None:
        """Add the event of a run to an open window."""
        self._windows[window.id] = replace(window, last_event_at=self._now)
        self._new_events.append((window.id, window.generation, job_id, trigger.id))
        self._events.setdefault((window.id, window.generation), []).append((trigger.id, job_id))
        self._triggers[trigger.id] = trigger

    async def close(self, leader_id: JobId) -> list[Trigger] | None:
        """Close the window that the job leads; returns its events in trigger order, or None if it leads none.

        Events of a canceled crowd may still be in it.
        """
        await self.load_led([leader_id])
        window_id = self._led.get(leader_id)
        window = self._windows.get(window_id) if window_id else None
        if window is None or window.leader_id != leader_id:
            return None
        self._windows[window.id] = _closed(window)
        events = sorted(self._events.get((window.id, window.generation), []))
        triggers = [self._triggers[trigger_id] for trigger_id, _ in events if trigger_id in self._triggers]
        return [one for one in triggers if not one.is_canceled]

    async def write(self) -> None:
        """Write what has changed."""
        changed = [one for key, one in self._windows.items() if one is not None and one != self._stored[key]]
        new = [one for one in changed if self._stored[one.id] is None]
        if new:
            await self._db.insert_many(WINDOWS, [_row(self._environment_id, one) for one in new])
        await _update(self._db, self._environment_id, [one for one in changed if self._stored[one.id] is not None])
        if self._new_events:
            rows = [(self._environment_id, *event) for event in self._new_events]
            await self._db.insert_many(EVENTS, rows)


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
) -> tuple[Sequence[Row], dict[bytes, Window]]:
    if not job_ids:
        return [], {}
    events = await db.fetch(LIST_EVENTS_OF_JOBS, environment_id=environment_id, job_ids=list(job_ids))
    ids = list({event["window_id"] for event in events})
    rows = await db.fetch(LIST_WINDOWS, environment_id=environment_id, ids=ids) if ids else []
    return events, {row["id"]: _window(row) for row in rows}


async def _replace_leader(db: Connection, environment_id: EnvironmentId, window: Window, now: Millis) -> None:
    """Promote the oldest follower to lead the window; without followers it closes."""
    scope = {"environment_id": environment_id}
    events = await db.fetch(LIST_EVENTS, **scope, window_ids=[window.id])
    followers = [JobId(one["job_id"]) for one in events if one["generation"] == window.generation]
    if not followers:
        await _update(db, environment_id, [_closed(window)])
        return
    leader = await jobs.promote(db, environment_id, followers[0], due_at=window.closes_at, now=now)
    await db.execute(CLEAR_LEADER, **scope, leader=leader, now=now)
    await db.execute(POINT_TO_LEADER, **scope, leader=leader, former=window.leader_run_id, now=now)
    await _update(db, environment_id, [replace(window, leader_id=followers[0], leader_run_id=leader)])


async def _update(db: Connection, environment_id: EnvironmentId, windows: Sequence[Window]) -> None:
    rows = [
        {
            "environment_id": environment_id,
            "id": one.id,
            "generation": one.generation,
            "leader_id": one.leader_id,
            "leader_run_id": one.leader_run_id,
            "closes_at": one.closes_at,
            "last_event_at": one.last_event_at,
        }
        for one in windows
    ]
    if rows:
        await db.execute_many(UPDATE_WINDOWS, rows)


def _closed(window: Window) -> Window:
    return replace(window, leader_id=None, leader_run_id=None, closes_at=None)


def _row(environment_id: EnvironmentId, window: Window) -> tuple[object, ...]:
    return (
        *(environment_id, window.id, window.subscriber_id, window.generation, window.leader_id),
        *(window.leader_run_id, window.closes_at, window.last_event_at),
    )


def _window(row: Row) -> Window:
    return Window(
        id=row["id"],
        subscriber_id=row["subscriber_id"],
        generation=row["generation"],
        leader_id=row["leader_id"],
        leader_run_id=row["leader_run_id"],
        closes_at=row["closes_at"],
        last_event_at=row["last_event_at"],
    )
