"""Digest windows: one row per identity, one event per run that joined, one leader that goes on when the window closes.

Everything here happens under the lock of the person's lane, so a run either joins before the window closes or opens
the next one. A unit of work reads the windows that it may need together, changes them in memory and writes them at its
end.

A window that is full is sealed: it gets an id of its own, with its events, and that of its identity is free for the
next one. Its leader is due at once, and everything else is as in a window that nobody can join.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import Millis
from clarion.db.port import Connection
from clarion.engine.digest_events import (
    EVENTS,
    LIST_EVENTS_OF_JOBS,
    MOVE_EVENTS,
    JoinedEvent,
    LoadedEvents,
    choose_shown,
    count_events,
    list_first_events,
    make_joined_event,
)
from clarion.engine.digest_windows import (
    DigestWindow,
    WindowIdentity,
    close_window,
    insert_windows,
    list_windows,
    update_windows,
)
from clarion.ids import EnvironmentId, JobId, NotificationId, TriggerId
from clarion.jobs import store as jobs
from clarion.jobs.model import Job
from clarion.jobs.store import add_payloads
from clarion.vocabulary import JobStatus


class Leader(Struct, frozen=True):
    """The job that a window waits for, its run, and until when."""

    job: Job
    run_id: NotificationId
    closes_at: Millis
    closes_by: Millis | None = None


class Extension(Struct, frozen=True):
    """Until when a window is open that further events extended, and until when they may."""

    until: Millis
    latest: Millis


class ClosedWindow(Struct, frozen=True):
    events: list[dict[str, Any]]
    """Those that templates see, in their order."""
    total: int
    hides_own: bool = False
    """Whether the event of the leader counts, and is not among those."""


class DigestWindows:
    """The windows of one unit of work."""

    def __init__(self, db: Connection, environment_id: EnvironmentId, now: Millis) -> None:
        self._db = db
        self._environment_id = environment_id
        self._now = now
        self._stored: dict[bytes, DigestWindow | None] = {}
        self._windows: dict[bytes, DigestWindow | None] = {}
        self._led: dict[JobId, bytes] = {}
        self._leaders: dict[JobId, Job] = {}
        self._loaded: dict[bytes, LoadedEvents] = {}
        self._joined: dict[tuple[bytes, int], list[JoinedEvent]] = {}
        self._new_events: list[tuple[bytes, int, JobId, TriggerId, bytes | None]] = []
        self._sealed: list[JobId] = []

    @property
    def has_sealed(self) -> bool:
        """Whether leaders of full windows are due."""
        return bool(self._sealed)

    async def load(self, window_ids: Iterable[bytes]) -> None:
        """Read windows that runs may join or open."""
        missing = [one for one in dict.fromkeys(window_ids) if one not in self._windows]
        if not missing:
            return
        windows = await list_windows(self._db, self._environment_id, missing)
        self._stored |= {window_id: windows.get(window_id) for window_id in missing}
        self._windows |= {window_id: windows.get(window_id) for window_id in missing}

    async def load_led(self, job_ids: Sequence[JobId]) -> None:
        """Read the windows that these jobs lead, with the events of those that close now and their triggers."""
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
                window_ids += [] if self._extension_of(window) else [window.id]
        await self._load_events(window_ids)

    async def _load_events(self, window_ids: Sequence[bytes]) -> None:
        """Read the events that templates see of these windows, and count all."""
        if not window_ids:
            return
        loaded = await list_first_events(self._db, self._environment_id, window_ids, self._now)
        for window_id, events in loaded.items():
            window = self._windows[window_id]
            events.events = choose_shown(events.events, window.leader_id if window else None)
        self._loaded |= loaded
        shown = [event.event for events in loaded.values() for event in events.events]
        await add_payloads(self._db, self._environment_id, shown)

    async def find(self, identity: WindowIdentity) -> DigestWindow | None:
        """The window of an identity, open or closed."""
        await self.load([identity.window_id])
        return self._windows[identity.window_id]

    async def find_extension(self, leader: Job) -> Extension | None:
        """How further events have extended the window of a job that is due; None if they have not."""
        await self.load_led([leader.id])
        self._leaders[leader.id] = leader
        window = self._find_led(leader.id)
        return None if window is None else self._extension_of(window)

    async def open(self, identity: WindowIdentity, leader: Leader | None) -> DigestWindow:
        """Open the window of an identity anew; without a leader it only remembers that there was an event."""
        former = await self.find(identity)
        window = DigestWindow(
            id=identity.window_id,
            subscriber_id=identity.subscriber_id,
            generation=former.generation + 1 if former else 1,
            leader_id=leader.job.id if leader else None,
            leader_run_id=leader.run_id if leader else None,
            closes_at=leader.closes_at if leader else None,
            closes_by=leader.closes_by if leader else None,
            last_event_at=self._now,
        )
        self._windows[window.id] = window
        if leader is not None:
            self._led[leader.job.id] = window.id
            self._leaders[leader.job.id] = leader.job
        return window

    async def join(
        self,
        window: DigestWindow,
        event: JoinedEvent,
        *,
        until: Millis | None = None,
        max_items: int | None = None,
    ) -> DigestWindow:
        """Add the event of a run to an open window, which it may extend and fill; returns the window as it is then."""
        joined = replace(window, last_event_at=self._now)
        if until is not None and window.closes_by is not None and window.closes_at is not None:
            joined = replace(joined, closes_at=max(window.closes_at, min(until, window.closes_by)))
        self._new_events.append((window.id, window.generation, event.job_id, event.trigger.id, event.sort_key))
        if not event.trigger.is_canceled:
            self._joined.setdefault((window.id, window.generation), []).append(event)
        if max_items is not None:
            joined = replace(joined, items=await self._count(window, max_items))
        self._windows[window.id] = joined
        if max_items is not None and joined.items is not None and joined.items >= max_items:
            return await self._seal(joined)
        return joined

    async def _count(self, window: DigestWindow, max_items: int) -> int:
        """How many events a window has with a new one; those that no longer count are left out when it seems full."""
        if window.items is not None and window.items + 1 < max_items:
            return window.items + 1
        joined = len(self._joined.get((window.id, window.generation), ()))
        if not self._has_stored_events(window):
            return joined
        return joined + await count_events(self._db, self._environment_id, window.id, window.generation, self._now)

    async def _seal(self, window: DigestWindow) -> DigestWindow:
        """Take a full window from its identity, so that the next event opens another one; its leader is due now."""
        leader_id = window.leader_id or JobId(b"")
        own_id = blake2b(window.id + leader_id, digest_size=16).digest()
        sealed = replace(window, id=own_id, closes_at=self._now, closes_by=None)
        self._windows[own_id], self._stored[own_id] = sealed, None
        if self._has_stored_events(window):
            scope = {"environment_id": self._environment_id}
            await insert_windows(self._db, self._environment_id, [sealed])
            await self._db.execute(MOVE_EVENTS, **scope, window_id=window.id, generation=window.generation, into=own_id)
            self._stored[own_id] = sealed
        self._windows[window.id] = close_window(window)
        self._rename(window, own_id)
        leader = self._leaders.get(leader_id)
        if leader is not None and leader.status is JobStatus.DELAYED:
            leader.due_at = self._now
        self._sealed.append(leader_id)
        return sealed

    def _rename(self, window: DigestWindow, own_id: bytes) -> None:
        """Let everything that is in memory of a window be that of another id."""
        former, own = (window.id, window.generation), (own_id, window.generation)
        if window.leader_id is not None and window.leader_id in self._led:
            self._led[window.leader_id] = own_id
        if window.id in self._loaded:
            self._loaded[own_id] = self._loaded.pop(window.id)
        if former in self._joined:
            self._joined[own] = self._joined.pop(former)
        self._new_events = [(*own, *one[2:]) if one[:2] == former else one for one in self._new_events]

    async def close(self, leader_id: JobId, retained: int | None = None) -> ClosedWindow | None:
        """Close the window that the job leads, and return its events; None if it leads none.

        With `retained`, templates see the first so many, whether that of the leader is among them or not.
        Events of a canceled fan-out, and of triggers that have expired, may still be in it; they do not count.
        """
        await self.load_led([leader_id])
        window = self._find_led(leader_id)
        if window is None:
            return None
        if window.id not in self._loaded and self._has_stored_events(window):
            await self._load_events([window.id])
        self._windows[window.id] = close_window(window)
        loaded = self._loaded.pop(window.id, LoadedEvents(0))
        joined = [make_joined_event(one) for one in self._joined.pop((window.id, window.generation), [])]
        shown = choose_shown([*loaded.events, *joined], leader_id) if joined else loaded.events
        kept = shown if retained is None else shown[:retained]
        hides_own = any(one.job_id == leader_id for one in shown[len(kept) :])
        return ClosedWindow([one.event for one in kept], loaded.total + len(joined), hides_own)

    async def write(self) -> None:
        """Write what has changed."""
        changed = [one for key, one in self._windows.items() if one is not None and one != self._stored[key]]
        new = [one for one in changed if self._stored[one.id] is None]
        await insert_windows(self._db, self._environment_id, new)
        await update_windows(
            self._db, self._environment_id, [one for one in changed if self._stored[one.id] is not None]
        )
        if self._new_events:
            rows = [(self._environment_id, *event) for event in self._new_events]
            await self._db.insert_many(EVENTS, rows)
        # Those that are in this unit of work are written with their runs.
        woken = [one for one in self._sealed if one not in self._leaders]
        await jobs.wake(self._db, self._environment_id, woken, self._now)

    def _find_led(self, leader_id: JobId) -> DigestWindow | None:
        window_id = self._led.get(leader_id)
        window = self._windows.get(window_id) if window_id else None
        return window if window is not None and window.leader_id == leader_id else None

    def _extension_of(self, window: DigestWindow) -> Extension | None:
        if window.closes_by is None or window.closes_at is None or window.closes_at <= self._now:
            return None
        return Extension(window.closes_at, window.closes_by)

    def _has_stored_events(self, window: DigestWindow) -> bool:
        """Whether it was open before this unit of work."""
        stored = self._stored.get(window.id)
        return stored is not None and stored.generation == window.generation
