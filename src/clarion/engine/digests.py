"""Digest windows: one row per identity, one event per run that joined, one leader that goes on when the window closes.

Everything here happens under the lock of the person's lane, so a run either joins before the window closes or opens
the next one. A unit of work reads the windows that it may need together, changes them in memory and writes them at its
end.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis, iso_text
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId, JobId, NotificationId, SubscriberId, TriggerId, WorkflowId, id_text
from clarion.jobs import store as jobs
from clarion.jobs.store import add_payloads
from clarion.jsontext import encode_json
from clarion.runs.status import settle_run_statuses
from clarion.triggers.model import Trigger

MAX_EVENTS = 500
"""Templates see the first events of a window; the others are counted."""
MAX_EVENT_BYTES = 512 * 1024
"""The same, for all payloads that they see together; at least one is seen."""


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


class DigestWindow(Struct, frozen=True, kw_only=True):
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


class ClosedWindow(Struct, frozen=True):
    events: list[dict[str, Any]]
    """Those that templates see, in trigger order."""
    total: int


class _DigestEvent(Struct, frozen=True):
    trigger_id: TriggerId
    job_id: JobId
    size: int
    """Bytes of its payload."""
    event: dict[str, Any]


class _LoadedEvents(Struct):
    total: int
    events: list[_DigestEvent] = []


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
# The first events of each window, and how many there are, without those of triggers that are canceled or have expired.
LIST_EVENTS = sql("""
    SELECT window_id, job_id, trigger_id, created_at, size, total FROM (
        SELECT e.window_id, e.job_id, e.trigger_id, t.created_at, octet_length(t.payload) AS size, w.leader_id,
            row_number() OVER (PARTITION BY e.window_id ORDER BY e.trigger_id, e.job_id) AS place,
            count(*) OVER (PARTITION BY e.window_id) AS total
        FROM digest_windows AS w
        JOIN digest_events AS e
            ON e.environment_id = w.environment_id AND e.window_id = w.id AND e.generation = w.generation
        JOIN triggers AS t ON t.environment_id = e.environment_id AND t.id = e.trigger_id
        WHERE w.environment_id = :environment_id AND w.id {any:window_ids}
        AND t.state NOT IN ('canceled', 'canceling') AND (t.expires_at IS NULL OR t.expires_at > :now)
    ) AS ranked
    WHERE place <= :limit OR job_id = leader_id
""")
FIND_OLDEST = sql("""
    SELECT job_id FROM digest_events
    WHERE environment_id = :environment_id AND window_id = :window_id AND generation = :generation
    ORDER BY trigger_id, job_id LIMIT 1
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
        self._stored: dict[bytes, DigestWindow | None] = {}
        self._windows: dict[bytes, DigestWindow | None] = {}
        self._led: dict[JobId, bytes] = {}
        self._loaded: dict[bytes, _LoadedEvents] = {}
        self._joined: dict[tuple[bytes, int], list[tuple[JobId, Trigger]]] = {}
        self._new_events: list[tuple[bytes, int, JobId, TriggerId]] = []

    async def load(self, window_ids: Iterable[bytes]) -> None:
        """Read windows that runs may join or open."""
        missing = [one for one in dict.fromkeys(window_ids) if one not in self._windows]
        if not missing:
            return
        rows = await self._db.fetch(LIST_WINDOWS, environment_id=self._environment_id, ids=missing)
        windows = {row["id"]: _window(row) for row in rows}
        self._stored |= {window_id: windows.get(window_id) for window_id in missing}
        self._windows |= {window_id: windows.get(window_id) for window_id in missing}

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
        await self._load_events(window_ids)

    async def _load_events(self, window_ids: Sequence[bytes]) -> None:
        """Read the events that templates see of these windows, and count all."""
        if not window_ids:
            return
        scope = {"environment_id": self._environment_id}
        rows = await self._db.fetch(LIST_EVENTS, **scope, window_ids=window_ids, limit=MAX_EVENTS, now=self._now)
        events_of: dict[bytes, list[_DigestEvent]] = {}
        for row in rows:
            events_of.setdefault(row["window_id"], []).append(_event(row))
            self._loaded.setdefault(row["window_id"], _LoadedEvents(row["total"]))
        for window_id, events in events_of.items():
            window = self._windows[window_id]
            self._loaded[window_id].events = choose_shown(events, window.leader_id if window else None)
        shown = [one.event for loaded in self._loaded.values() for one in loaded.events]
        await add_payloads(self._db, self._environment_id, shown)

    async def find(self, identity: WindowIdentity) -> DigestWindow | None:
        """The window of an identity, open or closed."""
        await self.load([identity.window_id])
        return self._windows[identity.window_id]

    async def open(self, identity: WindowIdentity, leader: Leader | None) -> DigestWindow:
        """Open the window of an identity anew; without a leader it only remembers that there was an event."""
        former = await self.find(identity)
        window = DigestWindow(
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

    def join(self, window: DigestWindow, job_id: JobId, trigger: Trigger) -> None:
        """Add the event of a run to an open window."""
        self._windows[window.id] = replace(window, last_event_at=self._now)
        self._new_events.append((window.id, window.generation, job_id, trigger.id))
        if not trigger.is_canceled:
            self._joined.setdefault((window.id, window.generation), []).append((job_id, trigger))

    async def close(self, leader_id: JobId) -> ClosedWindow | None:
        """Close the window that the job leads, and return its events; None if it leads none.

        Events of a canceled fan-out, and of triggers that have expired, may still be in it; they do not count.
        """
        await self.load_led([leader_id])
        window_id = self._led.get(leader_id)
        window = self._windows.get(window_id) if window_id else None
        if window is None or window.leader_id != leader_id:
            return None
        self._windows[window.id] = _closed(window)
        loaded = self._loaded.pop(window.id, _LoadedEvents(0))
        joined = [_joined_event(*one) for one in self._joined.pop((window.id, window.generation), [])]
        shown = choose_shown([*loaded.events, *joined], leader_id) if joined else loaded.events
        return ClosedWindow([one.event for one in shown], loaded.total + len(joined))

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
) -> tuple[Sequence[Row], dict[bytes, DigestWindow]]:
    if not job_ids:
        return [], {}
    events = await db.fetch(LIST_EVENTS_OF_JOBS, environment_id=environment_id, job_ids=list(job_ids))
    ids = list({event["window_id"] for event in events})
    rows = await db.fetch(LIST_WINDOWS, environment_id=environment_id, ids=ids) if ids else []
    return events, {row["id"]: _window(row) for row in rows}


async def _replace_leader(db: Connection, environment_id: EnvironmentId, window: DigestWindow, now: Millis) -> None:
    """Promote the oldest follower to lead the window; without followers it closes."""
    scope = {"environment_id": environment_id}
    oldest = await db.fetch_one(FIND_OLDEST, **scope, window_id=window.id, generation=window.generation)
    if oldest is None:
        await _update(db, environment_id, [_closed(window)])
        return
    follower = JobId(oldest["job_id"])
    leader = await jobs.promote(db, environment_id, follower, due_at=window.closes_at, now=now)
    await db.execute(CLEAR_LEADER, **scope, leader=leader, now=now)
    await db.execute(POINT_TO_LEADER, **scope, leader=leader, former=window.leader_run_id, now=now)
    await settle_run_statuses(db, environment_id, [leader], now)
    await _update(db, environment_id, [replace(window, leader_id=follower, leader_run_id=leader)])


async def _update(db: Connection, environment_id: EnvironmentId, windows: Sequence[DigestWindow]) -> None:
    rows = [
        {
            "environment_id": environment_id,
            "id": window.id,
            "generation": window.generation,
            "leader_id": window.leader_id,
            "leader_run_id": window.leader_run_id,
            "closes_at": window.closes_at,
            "last_event_at": window.last_event_at,
        }
        for window in windows
    ]
    if rows:
        await db.execute_many(UPDATE_WINDOWS, rows)


def make_event(trigger_id: TriggerId, created_at: Millis) -> dict[str, Any]:
    """An event as templates see it, still without its payload."""
    return {"id": id_text(trigger_id), "time": iso_text(created_at)}


def choose_shown(events: Iterable[_DigestEvent], leader_id: JobId | None) -> list[_DigestEvent]:
    """The first events, as far as they fit, in trigger order; that of the leader is among them."""
    ordered = sorted(events, key=lambda one: (one.trigger_id, one.job_id))
    own = [one for one in ordered if one.job_id == leader_id]
    size, shown = sum(one.size for one in own), list(own)
    for event in ordered:
        if event.job_id == leader_id:
            continue
        size += event.size
        if len(shown) >= MAX_EVENTS or (shown and size > MAX_EVENT_BYTES):
            break
        shown.append(event)
    return sorted(shown, key=lambda one: (one.trigger_id, one.job_id))


def _joined_event(job_id: JobId, trigger: Trigger) -> _DigestEvent:
    event = make_event(trigger.id, trigger.created_at) | {"payload": trigger.payload}
    return _DigestEvent(trigger.id, job_id, len(encode_json(trigger.payload)), event)


def _event(row: Row) -> _DigestEvent:
    trigger_id = TriggerId(row["trigger_id"])
    return _DigestEvent(trigger_id, JobId(row["job_id"]), row["size"], make_event(trigger_id, row["created_at"]))


def _closed(window: DigestWindow) -> DigestWindow:
    return replace(window, leader_id=None, leader_run_id=None, closes_at=None)


def _row(environment_id: EnvironmentId, window: DigestWindow) -> tuple[object, ...]:
    return (
        *(environment_id, window.id, window.subscriber_id, window.generation, window.leader_id),
        *(window.leader_run_id, window.closes_at, window.last_event_at),
    )


def _window(row: Row) -> DigestWindow:
    return DigestWindow(
        id=row["id"],
        subscriber_id=row["subscriber_id"],
        generation=row["generation"],
        leader_id=row["leader_id"],
        leader_run_id=row["leader_run_id"],
        closes_at=row["closes_at"],
        last_event_at=row["last_event_at"],
    )
