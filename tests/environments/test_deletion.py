"""The rows of deleted environments are deleted from all tables in the background, on both databases."""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa

from clarion.clock import ManualClock
from clarion.db.deletion import EFFORTS, KeyedTable, Pace, delete_batch
from clarion.db.port import Connection, Database, Dialect
from clarion.db.query import sql
from clarion.db.schema import metadata
from clarion.engine.worker import list_busy
from clarion.environments.deletion import (
    SETTLES_AFTER,
    TABLES,
    EnvironmentDeleter,
    delete_environment,
    delete_organization,
    try_lock_deletion,
)
from clarion.environments.model import Environment
from clarion.environments.store import find_organization
from clarion.jobs.lanes import ALL_LANES
from clarion.sending.places import list_waiting
from clarion.webhooks.deliveries import list_due_endpoints
from tests.support import Site

ROWS = 5
TABLES_OF_ENVIRONMENTS = [table for table in metadata.sorted_tables if "environment_id" in table.columns]


# Some columns are unique over all environments.
_numbers = itertools.count(1_000_000_000)  # above the numbers that other tests leave in the store


def make_value(column: sa.Column[Any], number: int) -> Any:
    """A value of the column's type, different for each number; the rows need not make sense together."""
    if isinstance(column.type, sa.LargeBinary):
        return os.urandom(column.type.length or 16)
    if isinstance(column.type, sa.Boolean):
        return False
    if isinstance(column.type, sa.SmallInteger):
        return number % 1_000
    if isinstance(column.type, sa.Integer | sa.Float):
        return number
    return f"{column.name}-{number}"


async def fill(db: Connection, table: sa.Table, environment: Environment, count: int) -> None:
    columns = [one for one in table.columns if one.computed is None]
    names = [one.name for one in columns]
    statement = sql(f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({', '.join(f':{one}' for one in names)})")
    for number in itertools.islice(_numbers, count):
        values = {one.name: make_value(one, number) for one in columns}
        await db.execute(statement, **values | {"environment_id": environment.id})


async def count_rows(database: Database, environment: Environment) -> dict[str, int]:
    """How many rows the environment has, by table."""

    async def count(db: Connection) -> dict[str, int]:
        found = {}
        for table in TABLES_OF_ENVIRONMENTS:
            query = sql(f"SELECT count(*) AS n FROM {table.name} WHERE environment_id = :environment_id")
            row = await db.fetch_one(query, environment_id=environment.id)
            found[table.name] = 0 if row is None else int(row["n"])
        return found

    return await database.scan(count)


async def fill_all(database: Database, environment: Environment, count: int = ROWS) -> None:
    async def fill_tables(db: Connection) -> None:
        for table in TABLES_OF_ENVIRONMENTS:
            await fill(db, table, environment, count)

    await database.transaction(fill_tables)


async def delete(database: Database, environment: Environment, clock: ManualClock) -> None:
    await database.transaction(lambda db: delete_environment(db, environment, clock.now()))


async def exists(database: Database, environment: Environment) -> bool:
    find = sql("SELECT id FROM environments WHERE id = :environment_id")
    return await database.read(lambda db: db.fetch_one(find, environment_id=environment.id)) is not None


@pytest.fixture(autouse=True)
async def _cleaned(
    request: pytest.FixtureRequest, database: Database, site: Site, clock: ManualClock
) -> AsyncIterator[None]:
    """Rows that make no sense must not be left to other tests."""
    yield
    for environment in (site.development, site.production):
        await delete(database, environment, clock)
    clock.move(SETTLES_AFTER)
    for _ in range(2):
        await EnvironmentDeleter(database, clock=clock).work()


@pytest.fixture
def deleter(database: Database, clock: ManualClock) -> EnvironmentDeleter:
    return EnvironmentDeleter(database, clock=clock, pace=Pace(EFFORTS[database.dialect], batch=2))


def test_the_list_of_tables_is_that_of_the_schema() -> None:
    declared = {one.name: (one.key, one.is_by_environment) for one in TABLES}
    keys = {table.name: [one.name for one in table.primary_key.columns] for table in TABLES_OF_ENVIRONMENTS}

    assert declared == {
        name: (tuple(one for one in key if one != "environment_id"), key[0] == "environment_id")
        for name, key in keys.items()
    }


async def test_after_a_deletion_no_table_has_a_row_of_the_environment(
    database: Database, site: Site, clock: ManualClock, deleter: EnvironmentDeleter
) -> None:
    for environment in (site.development, site.production):
        await fill_all(database, environment)
    kept = await count_rows(database, site.production)
    assert min(kept.values()) >= ROWS
    await delete(database, site.development, clock)

    await deleter.work()

    assert set((await count_rows(database, site.development)).values()) == {0}
    assert await count_rows(database, site.production) == kept
    if database.dialect is Dialect.SQLITE:
        orphans = sql(
            "SELECT rowid AS id FROM subscriber_search WHERE rowid NOT IN (SELECT search_row FROM subscribers)"
        )
        assert not await database.scan(lambda db: db.fetch(orphans))


async def test_the_environment_itself_goes_when_late_writes_cannot_come_any_more(
    database: Database, site: Site, clock: ManualClock, deleter: EnvironmentDeleter
) -> None:
    await delete(database, site.development, clock)
    for _ in range(2):
        await deleter.work()
    clock.move(SETTLES_AFTER - 1)
    await deleter.work()
    assert await exists(database, site.development)
    await fill_all(database, site.development, 1)

    clock.move(1)
    await deleter.work()
    assert await exists(database, site.development)
    assert set((await count_rows(database, site.development)).values()) == {0}
    await deleter.work()

    assert not await exists(database, site.development)
    assert await exists(database, site.production)


async def test_an_organization_goes_with_the_last_of_its_environments(
    database: Database, site: Site, clock: ManualClock, deleter: EnvironmentDeleter
) -> None:
    organization_id = site.development.organization_id
    await database.transaction(lambda db: delete_organization(db, organization_id, clock.now()))
    await deleter.work()
    before = await database.read(lambda db: find_organization(db, organization_id))
    clock.move(SETTLES_AFTER)

    await deleter.work()
    await deleter.work()

    assert before is not None
    assert await database.read(lambda db: find_organization(db, organization_id)) is None


async def test_a_deletion_that_was_stopped_goes_on_where_it_was(
    database: Database, site: Site, clock: ManualClock
) -> None:
    await fill_all(database, site.development)
    before = sum((await count_rows(database, site.development)).values())
    await delete(database, site.development, clock)

    stopped = asyncio.create_task(
        EnvironmentDeleter(database, clock=clock, pace=Pace(EFFORTS[database.dialect], batch=1)).work()
    )
    while sum((await count_rows(database, site.development)).values()) > before - 3 * ROWS:
        assert not stopped.done()
    stopped.cancel()
    await asyncio.gather(stopped, return_exceptions=True)
    left = sum((await count_rows(database, site.development)).values())
    await EnvironmentDeleter(database, clock=clock).work()

    assert 0 < left < before
    assert set((await count_rows(database, site.development)).values()) == {0}


async def test_a_process_leaves_a_deletion_to_the_one_that_does_it(
    database: Database, site: Site, clock: ManualClock, deleter: EnvironmentDeleter
) -> None:
    if database.dialect is Dialect.SQLITE:
        return
    await fill_all(database, site.development)
    await delete(database, site.development, clock)

    async def work_beside(db: Connection) -> bool:
        is_locked = await try_lock_deletion(db, site.development.id)
        await deleter.work()
        return is_locked

    assert await database.transaction(work_beside)

    assert (await count_rows(database, site.development))["messages"] == ROWS


async def test_workers_leave_the_work_of_a_deleted_environment(
    database: Database, site: Site, clock: ManualClock
) -> None:
    update = "UPDATE {} WHERE environment_id = :environment_id"
    due = ["triggers SET state = 'queued', lane = 0", "jobs SET queue = 2, type = 'email', priority = 1, due_at = 0"]

    async def look(db: Connection) -> set[bytes]:
        now = clock.now()
        busy = {bytes(one.environment_id) for one in await list_busy(db, ALL_LANES, now)}
        sending = {bytes(one.queue.environment_id) for one in await list_waiting(db, now)}
        posting = {bytes(environment_id) for environment_id, _ in await list_due_endpoints(db, now)}
        return (busy & sending & posting) if site.development.id in busy else busy | sending | posting

    async def make_due(db: Connection) -> None:
        for name in ("triggers", "jobs", "webhook_endpoints", "webhook_deliveries"):
            await fill(db, metadata.tables[name], site.development, 1)
        for one in [*due, "webhook_endpoints SET active = TRUE"]:
            await db.execute(sql(update.format(one)), environment_id=site.development.id)
        link = sql("""
            UPDATE webhook_deliveries SET status = 'queued', due_at = 0, endpoint_id = (
                SELECT id FROM webhook_endpoints WHERE environment_id = :environment_id
            ) WHERE environment_id = :environment_id
        """)
        await db.execute(link, environment_id=site.development.id)

    await database.transaction(make_due)
    assert site.development.id in await database.read(look)

    await delete(database, site.development, clock)

    assert site.development.id not in await database.read(look)


async def test_a_batch_ends_behind_its_last_row_and_the_next_one_begins_there(database: Database, site: Site) -> None:
    table = KeyedTable("preferences", ("subscriber_id", "workflow_id", "channel"))
    await database.transaction(lambda db: fill(db, metadata.tables["preferences"], site.development, 5))
    delete_two = partial(delete_batch, table=table, environment_id=site.development.id, limit=2)

    first = await database.transaction(partial(delete_two, after=None))
    second = await database.transaction(partial(delete_two, after=first.last))
    third = await database.transaction(partial(delete_two, after=second.last))

    assert [one.deleted for one in (first, second, third)] == [2, 2, 1]
    assert third.last is None
