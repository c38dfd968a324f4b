"""Sandboxes: everything can be written, and nothing of it reaches the store."""

from contextlib import ExitStack

import apsw
import asyncpg
import pytest

from clarion.db import sandbox
from clarion.db.port import Connection, Database, Sandbox
from clarion.db.query import sql
from clarion.db.sandbox import HIDDEN_TABLES, Turns
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
        assert await database.sandbox(work) == [[], [2], [2, 3], [1, 2]]
    assert await database.read(lambda db: list_passes(db, here)) == [1, 2]


async def test_a_sandbox_cannot_write_what_it_does_not_hide(database: Database, site: Site) -> None:
    async def rename(db: Sandbox) -> None:
        await db.execute(RENAME, environment_id=site.development.id)

    with pytest.raises((StoreUnavailable, apsw.ReadOnlyError, asyncpg.ReadOnlySQLTransactionError)):
        await database.sandbox(rename)
    # The next one works again.
    assert await database.sandbox(lambda db: list_passes(db, site.development.id)) == []


async def test_all_hidden_tables_can_be_copied_whole(database: Database, site: Site) -> None:
    async def copy_all(db: Sandbox) -> list[int]:
        return [await db.copy(table, "t.environment_id = :e", e=site.development.id) for table in HIDDEN_TABLES]

    assert len(await database.sandbox(copy_all)) == len(HIDDEN_TABLES)


async def test_a_failing_sandbox_is_forgotten_too(database: Database, site: Site) -> None:
    async def fail(db: Sandbox) -> None:
        await db.execute(INSERT, environment_id=site.development.id, passed_at=1)
        raise LookupError("on purpose")

    with pytest.raises(LookupError):
        await database.sandbox(fail)
    assert await database.sandbox(lambda db: list_passes(db, site.development.id)) == []


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

    assert await database.sandbox(work) == [1, 3]
    assert await database.read(lambda db: list_passes(db, here)) == []


def test_sandboxes_rest_so_that_they_take_a_small_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("clarion.db.sandbox.time.monotonic", lambda: now)
    turns = Turns()
    ends = []
    for _ in range(100):
        now += turns.rest_seconds
        with turns.working():
            now += 0.0625
        ends.append(now)

    # The allowance, and the one that exceeds it, need no rest.
    assert ends[:5] == [0.0625, 0.125, 0.1875, 0.25, 0.3125]
    assert sum(0.0625 for end in ends if end > ends[5]) / (ends[-1] - ends[5]) == pytest.approx(sandbox.SHARE)


def test_a_slow_sandbox_does_not_keep_the_next_one_waiting_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("clarion.db.sandbox.time.monotonic", lambda: now)
    turns = Turns()
    for took, rest in ((1, sandbox.LONGEST_REST), (5, 5)):
        with turns.working():
            now += took
        assert turns.rest_seconds == rest


def test_a_sandbox_does_not_wait_behind_too_many() -> None:
    turns = Turns()
    with ExitStack() as stack:
        for _ in range(sandbox.MAX_WAITING):
            stack.enter_context(turns.waiting())
        with pytest.raises(StoreUnavailable, match="Too many simulations"):
            stack.enter_context(turns.waiting())
