"""PostgreSQL restarts, connections are cut and processes are stopped: listeners and pools recover by themselves."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from clarion.background import ServiceName, Supervisor
from clarion.db.port import Connection, Database
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.postgres.pulse import Pulse
from clarion.db.query import sql
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId
from clarion.jobs.lanes import ALL_LANES, try_lock_lanes
from tests.faults.proxy import Proxy
from tests.servers import PostgresServer, postgres_server

ENVIRONMENT_ID = EnvironmentId(bytes(range(16)))
CONNECTION = sql("SELECT pg_backend_pid() AS pid")
END_LISTENERS = sql("""
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE 'LISTEN%'
""")
COUNT_LISTENERS = sql("""
    SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'
""")


@asynccontextmanager
async def connect(url: str, *, max_idle_seconds: float = 15) -> AsyncIterator[PostgresDatabase]:
    database = await PostgresDatabase.connect(url, pool_size=2, max_idle_seconds=max_idle_seconds)
    try:
        yield database
    finally:
        await database.close()


async def wait_until_woken(woken: asyncio.Event) -> None:
    async with asyncio.timeout(30):
        await woken.wait()
    woken.clear()


async def wait_until_usable(database: Database) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                await database.read(lambda db: db.fetch_one(CONNECTION))
            except StoreUnavailable:
                await asyncio.sleep(0.05)
            else:
                return


async def count_listeners(database: Database) -> int:
    row = await database.read(lambda db: db.fetch_one(COUNT_LISTENERS))
    return 0 if row is None else int(row["n"])


async def check_listener(other: Database, woken: asyncio.Event) -> None:
    """Check that the listener is woken because notifications may be lost, and then by each notification."""
    await wait_until_woken(woken)
    await other.notify_workers()
    await wait_until_woken(woken)


async def test_a_listening_connection_that_is_cut_is_replaced(fresh_postgres_url: str) -> None:
    woken = asyncio.Event()
    async with connect(fresh_postgres_url) as database, connect(fresh_postgres_url) as other:
        await database.listen_for_work(woken.set)

        await database.read(lambda db: db.fetch(END_LISTENERS))

        await check_listener(other, woken)


async def test_listening_begins_when_postgresql_can_be_reached_again(fresh_postgres_url: str) -> None:
    proxy, woken = Proxy(fresh_postgres_url), asyncio.Event()
    await proxy.open()
    async with connect(proxy.url) as database, connect(fresh_postgres_url) as other:
        await proxy.close()
        await asyncio.gather(*(database.listen(name, lambda _: None, lambda: None) for name in ("first", "second")))
        await database.listen_for_work(woken.set)
        await proxy.open()

        await check_listener(other, woken)
    await proxy.close()


async def test_a_listening_connection_outlives_restarts_of_postgresql() -> None:
    woken = asyncio.Event()
    with postgres_server() as server:
        async with connect(server.url) as database, connect(server.url) as other:
            await database.listen_for_work(woken.set)
            for _ in range(2):
                await restart(server, other)
                await check_listener(other, woken)


async def restart(server: PostgresServer, database: Database) -> None:
    await asyncio.to_thread(server.crash_and_restart)
    await wait_until_usable(database)


async def test_listening_goes_on_after_an_unexpected_error(
    fresh_postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    woken = asyncio.Event()

    def fail() -> None:
        raise RuntimeError("unexpected")

    async with connect(fresh_postgres_url) as database, connect(fresh_postgres_url) as other:
        database.background.pause_seconds = 0.01
        state = database.background.states[ServiceName.STORE_NOTIFICATIONS]
        await database.listen("failing", lambda _: None, fail)
        await database.listen_for_work(woken.set)

        await database.read(lambda db: db.fetch(END_LISTENERS))

        await check_listener(other, woken)

    assert (state.failures, state.restarts) == (1, 1)
    assert "Background work failed" in caplog.messages


class UnansweredConnection:
    """A connection on which a unit of work waits until it is cut."""

    def __init__(self) -> None:
        self.is_cut = asyncio.Event()

    def terminate(self) -> None:
        self.is_cut.set()


async def test_a_store_is_not_taken_for_lost_after_an_unexpected_error(caplog: pytest.LogCaptureFixture) -> None:
    background, connection = Supervisor(pause_seconds=0.01), UnansweredConnection()

    async def ask() -> None:
        raise OSError

    async def fail() -> None:
        raise RuntimeError("unexpected")

    pulse = Pulse(ask, fail, background)
    pulse.begin(connection)
    async with asyncio.timeout(30):
        await connection.is_cut.wait()
        pulse.end(connection)
        while not background.states[ServiceName.STORE_PULSE].restarts:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)
    was_lost = pulse.is_lost
    await pulse.close()

    assert not was_lost
    assert background.states[ServiceName.STORE_PULSE].failures == 1
    assert "Background work failed" in caplog.messages


async def test_a_process_is_not_woken_by_its_own_notifications(fresh_postgres_url: str) -> None:
    woken: list[str] = []
    async with connect(fresh_postgres_url) as first, connect(fresh_postgres_url) as second:
        await first.listen_for_work(lambda: woken.append("first"))
        is_second_woken = asyncio.Event()
        await second.listen_for_work(is_second_woken.set)

        await first.notify_workers()
        await wait_until_woken(is_second_woken)
        # Notifications arrive in order: if the first one had an effect, it would be seen before this one.
        await second.notify_workers()
        async with asyncio.timeout(30):
            while not woken:  # noqa: ASYNC110 - set by a callback
                await asyncio.sleep(0.01)

    assert woken == ["first"]


@pytest.mark.parametrize("is_lost", [True, False], ids=["being replaced", "just opened"])
async def test_a_listening_connection_ends_when_the_database_is_closed(fresh_postgres_url: str, is_lost: bool) -> None:
    async with connect(fresh_postgres_url) as observer:
        async with connect(fresh_postgres_url) as database:
            await database.listen_for_work(lambda: None)
            if is_lost:
                await database.read(lambda db: db.fetch(END_LISTENERS))

        async with asyncio.timeout(30):
            while await count_listeners(observer):  # noqa: ASYNC110 - PostgreSQL does not report it
                await asyncio.sleep(0.05)


@pytest.mark.parametrize("is_frozen", [True, False], ids=["the process is stopped", "the unit hangs"])
async def test_a_unit_that_does_nothing_for_long_loses_its_locks(postgres_url: str, is_frozen: bool) -> None:
    async def lock(db: Connection) -> bool:
        return bool(await try_lock_lanes(db, ENVIRONMENT_ID, ALL_LANES))

    async def idle(db: Connection) -> None:
        assert await lock(db)
        if is_frozen:
            time.sleep(0.5)  # noqa: ASYNC251 - as a process that is stopped: its event loop stands still as well
        else:
            await asyncio.sleep(0.5)
        await lock(db)

    async with connect(postgres_url, max_idle_seconds=0.1) as database, connect(postgres_url) as other:
        with pytest.raises(StoreUnavailable):
            await database.transaction(idle)

        assert await other.transaction(lock)
        assert await database.transaction(lock)


async def test_a_unit_that_is_too_late_to_commit_reports_the_store_as_unavailable(postgres_url: str) -> None:
    async def idle(db: Connection) -> None:
        await db.fetch_one(CONNECTION)
        await asyncio.sleep(0.5)

    async with connect(postgres_url, max_idle_seconds=0.1) as database:
        with pytest.raises(StoreUnavailable):
            await database.transaction(idle)
        await database.transaction(lambda db: db.fetch_one(CONNECTION))


async def test_a_connection_that_the_driver_has_lost_track_of_is_replaced(postgres_url: str) -> None:
    async def lose_track(db: Connection) -> None:
        await db.fetch_one(CONNECTION)
        # As asyncpg raises it from COMMIT if the server ends the session in that moment, which cannot be timed here.
        raise asyncpg.InternalClientError("cannot switch to state 15; another operation (2) is in progress")

    async with connect(postgres_url) as database:
        before = await database.read(lambda db: db.fetch_one(CONNECTION))
        with pytest.raises(StoreUnavailable):
            await database.transaction(lose_track)
        assert await database.read(lambda db: db.fetch_one(CONNECTION)) != before
