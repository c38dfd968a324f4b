"""The deletion of an environment goes on after a kill, in real processes."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from clarion.clock import SystemClock
from clarion.db.open import migrate_store, open_store
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.environments.bootstrap import prepare_store
from clarion.environments.deletion import delete_environment
from clarion.environments.store import list_environments
from clarion.ids import SubscriberKey
from clarion.settings.model import Settings
from clarion.subscribers.store import upsert_subscriber
from tests.processes import Start

PEOPLE = 2_000
COUNT = sql("""
    SELECT count(*) AS n FROM subscribers
    WHERE environment_id IN (SELECT id FROM environments WHERE deleted_at IS NOT NULL)
""")


@pytest.fixture
async def database(store: list[str]) -> AsyncIterator[Database]:
    """A store with an environment that has many people and is deleted."""
    names = [one.removeprefix("--").replace("-", "_") for one in store[::2]]
    settings = Settings.load({}, **dict(zip(names, store[1::2], strict=True)))
    clock = SystemClock()
    await migrate_store(settings)
    database = await open_store(settings)
    await prepare_store(database, settings, clock)

    async def fill_and_delete(db: Connection) -> None:
        development, _ = await list_environments(db)
        for number in range(PEOPLE):
            await upsert_subscriber(db, development.id, SubscriberKey(f"person-{number}"), {}, clock.now())
        await delete_environment(db, development, clock.now())

    await database.transaction(fill_and_delete)
    yield database
    await database.close()


async def wait_until(database: Database, is_reached: Callable[[int], bool]) -> None:
    """Wait until so many people are left."""
    async with asyncio.timeout(60):
        while not is_reached(await count(database)):  # noqa: ASYNC110 - another process does it
            await asyncio.sleep(0.01)


async def count(database: Database) -> int:
    row = await database.scan(lambda db: db.fetch_one(COUNT))
    return 0 if row is None else int(row["n"])


async def test_a_killed_process_leaves_a_deletion_that_the_next_one_finishes(
    start: Start, database: Database, store: list[str]
) -> None:
    assert await count(database) == PEOPLE

    killed = start("serve", *store)
    await wait_until(database, lambda left: left < PEOPLE)
    killed.kill()
    assert await count(database) < PEOPLE
    process = start("serve", *store)
    await wait_until(database, lambda left: left == 0)
    async with process.client(killed.keys["Production"]) as client:
        listed = (await client.get("/v1/environments")).json()

    assert [one["name"] for one in listed] == ["Production"]
