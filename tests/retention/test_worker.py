"""The worker: one process at a time, bounded units of work, and it goes on after an outage."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import pytest

from clarion.background import Supervisor
from clarion.bus import Bus, InboxChange
from clarion.clock import DAY, ManualClock
from clarion.db.deletion import BUSY_SECONDS, MAX_BATCH, MAX_PAUSE_SECONDS, MIN_BATCH, Effort, Pace
from clarion.db.port import Database, Work
from clarion.errors import StoreUnavailable
from clarion.ids import new_id
from clarion.retention import worker
from clarion.retention.tasks import Task
from clarion.retention.walks import LEASE, claim_lease, release_lease
from clarion.retention.worker import Retention, count_old
from clarion.settings.model import Settings
from tests.engine.support import World, in_app
from tests.records import make_message, make_subscriber
from tests.retention.support import count_rows, delete_old, quick_pace
from tests.support import Site


class Watched:
    """A store that notes how many rows each unit of work deletes, and fails when it is told to."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.failures = 0
        self.units = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def transaction(self, work: Work[Any]) -> Any:
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("out")
        self.units += 1
        return await self._database.transaction(work)


async def test_one_process_at_a_time_deletes(database: Database, clock: ManualClock) -> None:
    other = new_id(clock.now())
    await database.transaction(lambda db: claim_lease(db, other, clock.now()))
    retention = Retention(database, settings=Settings(), clock=clock)
    refused = await retention.run_round()
    clock.move(LEASE)
    took = [await retention.run_round() for _ in range(2)]

    assert (refused, took) == (False, [True, True])
    # Between rounds the lease is free.
    assert await database.transaction(lambda db: claim_lease(db, other, clock.now()))
    await database.transaction(lambda db: release_lease(db, other))


async def test_rounds_are_rarer_if_it_takes_long_to_look_for_old_data(
    database: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look_slowly(*_: object, **__: object) -> list[Task]:
        time.sleep(0.4)  # noqa: ASYNC251 - SQLite reads in a thread that has no event loop
        return []

    retention = Retention(database, settings=Settings(), clock=clock)
    first = retention.pause_seconds
    monkeypatch.setattr(worker, "list_tasks", look_slowly)
    await retention.run_round()

    assert first == worker.INTERVAL_SECONDS
    assert retention.pause_seconds >= 80


async def test_many_old_rows_are_deleted_in_small_units(world: World, database: Database, site: Site) -> None:
    await world.make_workflow(in_app())
    people = [f"person-{number}" for number in range(100)]
    for _ in range(7):
        await world.trigger(people)
        await world.work()
    world.clock.move(31 * DAY)
    store: Any = Watched(database)
    retention = Retention(store, settings=Settings(), clock=world.clock, pace=quick_pace())
    await retention.run_round()

    assert (await count_rows(database, site.development.id, "notifications"))["notifications"] == 0
    assert retention.deleted["runs"] >= 700
    assert store.units >= 700 / MAX_BATCH


async def test_deletion_goes_on_after_the_store_was_out(
    site: Site, database: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "INTERVAL_SECONDS", 0.01)
    await make_message(database, site.development, now=clock.now())
    clock.move(91 * DAY)
    store: Any = Watched(database)
    store.failures = 2
    retention = Retention(store, settings=Settings(), clock=clock, pace=quick_pace())
    running = asyncio.create_task(Supervisor(pause_seconds=0).run([retention.make_service()]))
    async with asyncio.timeout(30):
        while (await count_rows(database, site.development.id, "messages"))["messages"]:  # noqa: ASYNC110 - no signal
            await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert store.failures == 0
    # The lease is free again.
    await delete_old(database, clock)


async def test_open_inboxes_are_told_that_their_counts_changed(
    site: Site, database: Database, clock: ManualClock
) -> None:
    ada = await make_subscriber(database, site.development)
    bob = await make_subscriber(database, site.development, key="bob")
    for subscriber, read in ((ada, False), (ada, False), (bob, True)):
        await make_message(database, site.development, subscriber=subscriber, now=clock.now(), read=read)
    clock.move(91 * DAY)
    bus = Bus()
    told: list[InboxChange] = []

    def listen(changes: Sequence[InboxChange]) -> None:
        told.extend(changes)

    bus.is_watched = lambda _: True
    bus.listen_to_inboxes(listen)
    await delete_old(database, clock, bus=bus)

    own = [one for one in told if one.environment_id == site.development.id]
    assert {one.subscriber_id for one in own} == {ada.id}


async def test_old_rows_are_counted_and_stay(site: Site, database: Database, clock: ManualClock) -> None:
    for _ in range(3):
        await make_message(database, site.development, now=clock.now())
    clock.move(91 * DAY)
    found = await count_old(database, Settings(), clock.now())

    assert found[site.development.id] == {"runs": 3, "in-app messages": 3}
    assert (await count_rows(database, site.development.id, "messages"))["messages"] == 3


EFFORT = Effort(target_seconds=0.01, busy_share=0.1)


def test_units_become_smaller_when_they_take_too_long_and_larger_when_they_are_short() -> None:
    pace = Pace(EFFORT)
    for _ in range(30):
        pace.note(pace.batch, 0.001)
    largest = pace.batch
    pace.note(3, 0.001)
    for _ in range(30):
        pace.note(pace.batch, 0.02)

    assert (largest, pace.batch) == (MAX_BATCH, MIN_BATCH)


def test_a_unit_that_was_not_full_says_nothing_about_larger_ones() -> None:
    pace = Pace(EFFORT)
    before = pace.batch
    pace.note(before - 1, 0.0)

    assert pace.batch == before


def test_pauses_are_longer_while_others_write_and_never_so_long_that_nothing_is_deleted() -> None:
    pace = Pace(EFFORT, share=0.5)

    assert pace.choose_pause(0.01, 0.0) == pytest.approx(0.01)
    assert pace.choose_pause(0.01, BUSY_SECONDS * 2) == pytest.approx(0.09)
    assert pace.choose_pause(5.0, 5.0) == MAX_PAUSE_SECONDS
