"""Sandboxes: everything can be written, and nothing of it reaches the store."""

import asyncio
import threading
from collections.abc import Awaitable

import apsw
import asyncpg
import pytest

from clarion.cache import Caches
from clarion.db.port import Connection, Database, Dialect, Sandbox
from clarion.db.query import sql
from clarion.db.sandbox import HIDDEN_TABLES
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId
from tests.support import Site

INSERT = sql("""
    INSERT INTO throttle_passes (environment_id, throttle_id, passed_at, job_id, subscriber_id)
    VALUES (:environment_id, :environment_id, :passed_at, :environment_id, :environment_id)
""")
LIST = sql("SELECT passed_at FROM throttle_passes WHERE environment_id = :environment_id ORDER BY passed_at")
RENAME = sql("UPDATE environments SET name = 'Other' WHERE id = :environment_id")


async def list_passes(db: Connection, environment_id: EnvironmentId) -> list[int]:
    return [row["passed_at"] for row in await db.fetch(LIST, environment_id=environment_id)]


async def test_a_sandbox_sees_what_it_copies_and_writes_and_leaves_the_store_as_it_was(
    database: Database, site: Site
) -> None:
    here = site.development.id
    await database.transaction(lambda db: db.execute(INSERT, environment_id=here, passed_at=1))
    await database.transaction(lambda db: db.execute(INSERT, environment_id=here, passed_at=2))

    async def work(db: Sandbox) -> list[list[int]]:
        seen = [await list_passes(db, here)]
        copied = await db.copy("throttle_passes", "t.environment_id = :e AND t.passed_at > :after", e=here, after=1)
        assert copied == 1
        seen.append(await list_passes(db, here))
        await db.execute(INSERT, environment_id=here, passed_at=3)
        seen.append(await list_passes(db, here))
        rows = await db.fetch_stored("SELECT passed_at FROM stored.throttle_passes WHERE environment_id = :e", e=here)
        return [*seen, sorted(row["passed_at"] for row in rows)]

    for _ in range(2):
        assert await database.sandbox(here, work) == [[], [2], [2, 3], [1, 2]]
    assert await database.read(lambda db: list_passes(db, here)) == [1, 2]


async def test_a_sandbox_cannot_write_what_it_does_not_hide(database: Database, site: Site) -> None:
    async def rename(db: Sandbox) -> None:
        await db.execute(RENAME, environment_id=site.development.id)

    with pytest.raises((StoreUnavailable, apsw.ReadOnlyError, asyncpg.ReadOnlySQLTransactionError)):
        await database.sandbox(site.development.id, rename)
    # The next one works again.
    assert await database.sandbox(site.development.id, lambda db: list_passes(db, site.development.id)) == []


async def test_all_hidden_tables_can_be_copied_whole(database: Database, site: Site) -> None:
    async def copy_all(db: Sandbox) -> list[int]:
        return [await db.copy(table, "t.environment_id = :e", e=site.development.id) for table in HIDDEN_TABLES]

    assert len(await database.sandbox(site.development.id, copy_all)) == len(HIDDEN_TABLES)


async def test_a_failing_sandbox_is_forgotten_too(database: Database, site: Site) -> None:
    async def fail(db: Sandbox) -> None:
        await db.execute(INSERT, environment_id=site.development.id, passed_at=1)
        raise LookupError("on purpose")

    with pytest.raises(LookupError):
        await database.sandbox(site.development.id, fail)
    assert await database.sandbox(site.development.id, lambda db: list_passes(db, site.development.id)) == []


async def test_a_part_of_a_sandbox_that_fails_is_undone_alone(database: Database, site: Site) -> None:
    here = site.development.id

    async def insert_and_fail(db: Connection) -> None:
        await db.execute(INSERT, environment_id=here, passed_at=2)
        # One that the statement itself refuses, too: PostgreSQL's transaction would be lost with it.
        await db.execute(INSERT, environment_id=here, passed_at=2)

    async def work(db: Sandbox) -> list[int]:
        await db.transaction(lambda inner: inner.execute(INSERT, environment_id=here, passed_at=1))
        with pytest.raises((apsw.ConstraintError, asyncpg.UniqueViolationError)):
            await db.transaction(insert_and_fail)
        await db.transaction(lambda inner: inner.execute(INSERT, environment_id=here, passed_at=3))
        return await list_passes(db, here)

    assert await database.sandbox(here, work) == [1, 3]
    assert await database.read(lambda db: list_passes(db, here)) == []


async def test_a_sandbox_of_one_environment_works_beside_that_of_another(database: Database, site: Site) -> None:
    """Each waits until the other has written, which only both together can bring to an end."""
    in_threads, in_tasks = threading.Barrier(2, timeout=30), asyncio.Barrier(2)

    def run(environment_id: EnvironmentId, passed_at: int) -> Awaitable[list[int]]:
        async def work(db: Sandbox) -> list[int]:
            await db.execute(INSERT, environment_id=environment_id, passed_at=passed_at)
            if db.dialect is Dialect.SQLITE:
                in_threads.wait()
            else:
                await in_tasks.wait()
            return await list_passes(db, environment_id)

        return database.sandbox(environment_id, work)

    async with asyncio.timeout(30):
        here, there = await asyncio.gather(run(site.development.id, 1), run(site.production.id, 2))

    assert (here, there) == ([1], [2])


async def test_a_sandbox_has_caches_of_its_own(database: Database, site: Site) -> None:
    """What it loads may come from rows that are forgotten, and must not be taken for the store's."""

    async def get_caches(db: Connection) -> Caches:
        return db.caches

    inside = await database.sandbox(site.development.id, get_caches)

    assert inside is not await database.read(get_caches)
    assert inside is not await database.transaction(get_caches)
    assert inside is not await database.scan(get_caches)
