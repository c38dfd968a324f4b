"""PostgreSQL's statistics are updated soon after a table has grown, and not again and again."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from clarion.db.port import Connection
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.query import sql

GROW = sql("""
    INSERT INTO organizations (id, name, created_at)
    SELECT gen_random_uuid(), 'Name', 0 FROM generate_series(1, :count)
""")
# A connection tells others once a second at most how much it has changed, unless it is asked to.
SHOW_CHANGES = sql("SELECT pg_stat_force_next_flush()")
COUNT = sql("SELECT analyze_count FROM pg_stat_user_tables WHERE relname = 'organizations'")


@pytest.fixture
async def database(migrated_postgres_url: str) -> AsyncIterator[PostgresDatabase]:
    database = await PostgresDatabase.connect(migrated_postgres_url, pool_size=1)
    yield database
    await database.close()


async def grow(database: PostgresDatabase, count: int) -> None:
    async def work(db: Connection) -> None:
        await db.execute(GROW, count=count)
        await db.fetch(SHOW_CHANGES)

    await database.transaction(work)


async def count_updates(database: PostgresDatabase) -> int:
    row = await database.read(lambda db: db.fetch_one(COUNT))
    assert row is not None
    return int(row["analyze_count"])


async def test_a_table_is_analyzed_when_it_has_grown_and_again_at_four_times_its_size(
    database: PostgresDatabase,
) -> None:
    counts = []
    for rows in (900, 600, 600, 3000, 2000):
        await grow(database, rows)
        await database.update_statistics()
        counts.append(await count_updates(database))

    assert counts == [0, 1, 1, 1, 2]


async def test_tables_are_examined_after_some_commits(database: PostgresDatabase) -> None:
    await grow(database, 1500)
    counts = []
    for _ in range(3):
        await database.update_statistics(min_commits=2)
        counts.append(await count_updates(database))
        await grow(database, 1)

    assert counts == [0, 1, 1]


async def test_a_table_that_is_locked_is_left_for_later(database: PostgresDatabase, migrated_postgres_url: str) -> None:
    """As one whose index another process builds."""
    await grow(database, 1500)
    other = await asyncpg.connect(migrated_postgres_url)
    async with other.transaction():
        await other.execute("LOCK TABLE organizations IN SHARE UPDATE EXCLUSIVE MODE")
        await database.update_statistics()
        assert await count_updates(database) == 0
    await other.close()

    await database.update_statistics()
    assert await count_updates(database) == 1
