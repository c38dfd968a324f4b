"""Deletes old data in the background, in one process at a time.

A round takes turns between all walks of all environments that have old rows: each turn reads one page without blocking
writers, and deletes what nothing needs in small units of work with pauses between them. Positions are stored, so that
the next process goes on where the last one was.
"""

import logging
import time
from collections import Counter, deque
from collections.abc import Sequence
from functools import partial

from clarion.background import BackgroundService, ServiceName
from clarion.bus import Bus, InboxChange
from clarion.clock import Clock, Millis
from clarion.db.deletion import EFFORTS, Pace
from clarion.db.port import Connection, Database, Row
from clarion.ids import EnvironmentId, new_id
from clarion.retention.tasks import Task, choose_page, list_all_tasks, list_scopes, list_tasks
from clarion.retention.walks import Deleted, WalkPage, WalkProgress, claim_lease, release_lease, save_progress
from clarion.settings.model import Settings
from clarion.triggers.attachments import delete_unneeded_files

INTERVAL_SECONDS = 60
_LOOKING_SHARE = 0.005
"""Of the time that may pass while old data is looked for, which takes longer the more environments there are."""
_TURNS_SECONDS = 20.0
"""How long turns are taken before the lease is renewed and new work is looked for."""
_PAGES_UNTIL_SAVED = 20

log = logging.getLogger(__name__)


class Retention:
    """Deletes old data of all environments."""

    def __init__(
        self, database: Database, *, settings: Settings, clock: Clock, bus: Bus | None = None, pace: Pace | None = None
    ) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock
        self._bus = bus or Bus()
        self._pace = pace or Pace(EFFORTS[database.dialect])
        self._owner = new_id(clock.now())
        self._looking_seconds = 0.0
        """How long it took last to look for old data."""
        self.deleted: Counter[str] = Counter()
        """Rows that this process has deleted, by the name of their walk."""

    def make_service(self) -> BackgroundService:
        return BackgroundService(
            name=ServiceName.RETENTION,
            run_once=self._delete_old,
            interval=lambda: self.pause_seconds,
            is_due_at_start=False,
            finish=self._release,
        )

    @property
    def pause_seconds(self) -> float:
        """How long to wait until the next round."""
        return max(INTERVAL_SECONDS, self._looking_seconds / _LOOKING_SHARE)

    async def _release(self) -> None:
        """Let another process have the next round."""
        await self._database.transaction(lambda db: release_lease(db, self._owner))

    async def _delete_old(self) -> None:
        await self.run_round()

    async def run_round(self) -> bool:
        """Delete everything that is old at this moment; returns False if another process is doing that."""
        while True:
            if not await self._database.transaction(lambda db: claim_lease(db, self._owner, self._clock.now())):
                return False
            await delete_unneeded_files(self._database, self._clock.now())
            began = time.perf_counter()
            tasks = await self._database.scan(partial(list_tasks, settings=self._settings, now=self._clock.now()))
            self._looking_seconds = time.perf_counter() - began
            before = Counter(self.deleted)
            unfinished = await self._take_turns(tasks)
            deleted = self.deleted - before
            if deleted:
                log.info("Old data deleted", extra={name.replace(" ", "_"): count for name, count in deleted.items()})
            if not unfinished:
                await self._release()
                return True

    async def _take_turns(self, tasks: Sequence[Task]) -> bool:
        """Read a page of each task in turn, for a while; returns whether there is more to do."""
        waiting, began = deque(tasks), time.perf_counter()
        while waiting and time.perf_counter() - began < _TURNS_SECONDS:
            task = waiting.popleft()
            if await self._take_turn(task):
                waiting.append(task)
        return bool(waiting)

    async def _take_turn(self, task: Task) -> bool:
        """Delete what the next page of a task has; returns whether there are more pages."""
        began = time.perf_counter()
        page = await self._database.scan(partial(choose_page, task=task))
        await self._pace.pause(time.perf_counter() - began)
        rows, task.pages = page.rows, task.pages + 1
        while len(rows) > (size := self._pace.batch):
            await self._delete(task, rows[:size], task.progress)
            rows = rows[size:]
        task.progress = WalkProgress(page.last, task.progress.swept_at)
        if rows or _is_worth_saving(task, page):
            await self._delete(task, rows, task.progress)
            task.pages = 0
        return not page.is_last

    async def _delete(self, task: Task, rows: Sequence[Row], progress: WalkProgress) -> None:
        """Delete rows in one unit of work, and store the position."""
        began, taken = time.perf_counter(), 0.0

        async def work(db: Connection) -> Deleted:
            nonlocal taken
            started = time.perf_counter()
            deleted = await task.walk.delete(db, task.scope, rows) if rows else Deleted(0)
            await save_progress(db, task.scope.environment_id, task.walk, progress, deleted=deleted.count)
            taken = time.perf_counter() - started
            return deleted

        deleted = await self._database.transaction(work)
        self.deleted[task.walk.name] += deleted.count
        self._announce(task.scope.environment_id, deleted)
        self._pace.note(len(rows), taken)
        # Only what others had to wait for counts as work.
        await self._pace.pause(taken, waited=time.perf_counter() - began - taken)

    def _announce(self, environment_id: EnvironmentId, deleted: Deleted) -> None:
        if deleted.unread_of and self._bus.is_watched(environment_id):
            people = dict.fromkeys(deleted.unread_of)
            changes = [InboxChange(environment_id=environment_id, subscriber_id=one) for one in people]
            self._bus.publish_inbox_changes(changes)


async def count_old(database: Database, settings: Settings, now: Millis) -> dict[EnvironmentId, Counter[str]]:
    """How many rows of each walk would be deleted at this moment; reads all old rows and changes nothing."""
    old: dict[EnvironmentId, Counter[str]] = {}
    for task in list_all_tasks(await database.scan(partial(list_scopes, settings=settings, now=now)), now):
        is_last = False
        while not is_last:
            page = await database.scan(partial(choose_page, task=task))
            for row in page.rows:
                environment_id = row["environment_id"] if task.walk.due is None else task.scope.environment_id
                old.setdefault(environment_id, Counter())[task.walk.name] += 1
            # A walk that waits for the deletion of its page would read that page for ever.
            is_last = page.is_last or page.last == task.progress.position
            task.progress = WalkProgress(page.last, now)
    return old


def _is_worth_saving(task: Task, page: WalkPage) -> bool:
    """Whether to store a position although nothing is deleted: sometimes, and at the end of a walk that got on."""
    if page.is_last:
        return task.walk.due is not None or task.pages > 1
    return task.pages >= _PAGES_UNTIL_SAVED
