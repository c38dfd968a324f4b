"""Transactions, reads and parameters, on both databases."""

import asyncio
import sqlite3
import threading
import weakref
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clarion.clock import Millis
from clarion.db.migrations.migrate import migrate_sqlite
from clarion.db.port import Connection, Database
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.query import Insert, sql
from clarion.db.sqlite.database import SqliteDatabase
from clarion.db.sqlite.json_functions import json_matches
from clarion.errors import StoreUnavailable
from clarion.ids import EnvironmentId, new_id
from clarion.jobs.lanes import ALL_LANES, try_lock_lanes

INSERT = sql("INSERT INTO organizations (id, name, created_at) VALUES (:id, :name, 0)")
ORGANIZATIONS = Insert("organizations", "id", "name", "created_at")
FIND = sql("SELECT name FROM organizations WHERE id = :id")
COUNT = sql("SELECT count(*) AS n FROM organizations WHERE name = :name")


async def insert(db: Connection, id_: bytes, name: str) -> None:
    await db.execute(INSERT, id=id_, name=name)


async def count(database: Database, name: str) -> int:
    row = await database.read(lambda db: db.fetch_one(COUNT, name=name))
    return 0 if row is None else int(row["n"])


async def find_name(database: Database, id_: bytes) -> str | None:
    row = await database.read(lambda db: db.fetch_one(FIND, id=id_))
    return None if row is None else str(row["name"])


def unique() -> bytes:
    return new_id(Millis(1))


@pytest.mark.parametrize("place", [0, 1, 7, 20])
async def test_a_failed_unit_leaves_nothing_and_the_others_commit(database: Database, place: int) -> None:
    name = unique().hex()

    async def fail(db: Connection) -> None:
        await insert(db, unique(), name)
        raise KeyError(name)

    units: list[Any] = [database.transaction(lambda db: insert(db, unique(), name)) for _ in range(20)]
    units[place:place] = [database.transaction(fail), database.transaction(fail)]
    results = await asyncio.gather(*units, return_exceptions=True)

    assert [type(one) for one in results if one is not None] == [KeyError, KeyError]
    assert await count(database, name) == 20


@pytest.mark.parametrize("place", [0, 5])
async def test_a_row_that_is_refused_undoes_its_whole_unit(database: Database, place: int) -> None:
    name, twice = unique().hex(), unique()

    async def insert_twice(db: Connection) -> None:
        await insert(db, unique(), name)
        await db.insert_many(ORGANIZATIONS, [(id_, name, 0) for id_ in (unique(), twice, unique(), twice, unique())])

    units: list[Any] = [database.transaction(lambda db: insert(db, unique(), name)) for _ in range(10)]
    units.insert(place, database.transaction(insert_twice))
    results = await asyncio.gather(*units, return_exceptions=True)

    assert [place for place, one in enumerate(results) if one is not None] == [place]
    assert await count(database, name) == 10


async def test_committed_rows_are_visible_to_all_readers(database: Database) -> None:
    id_ = unique()
    await database.transaction(lambda db: insert(db, id_, "seen"))

    read = await database.read(lambda db: db.fetch_one(FIND, id=id_))
    scanned = await database.scan(lambda db: db.fetch_one(FIND, id=id_))

    assert read is not None
    assert read["name"] == "seen"
    assert scanned is not None


async def test_a_scan_sees_one_snapshot(database: Database) -> None:
    name = unique().hex()

    async def twice(db: Connection) -> list[Any]:
        return [await db.fetch_one(COUNT, name=name) for _ in range(2)]

    first, second = await database.scan(twice)

    assert first["n"] == second["n"] == 0


async def test_a_list_parameter_matches_its_members(database: Database) -> None:
    ids = [unique() for _ in range(5)]
    await asyncio.gather(*(database.transaction(partial(insert, id_=id_, name="listed")) for id_ in ids[:3]))
    query = sql("SELECT id FROM organizations WHERE id {any:ids}")

    found = await database.read(lambda db: db.fetch(query, ids=ids))

    assert sorted(row["id"] for row in found) == sorted(ids[:3])
    assert await database.read(lambda db: db.fetch(query, ids=[])) == []


async def test_many_rows_are_updated_with_their_own_values(database: Database) -> None:
    ids = [unique() for _ in range(3)]
    await asyncio.gather(*(database.transaction(partial(insert, id_=id_, name="old")) for id_ in ids))
    query = sql("""
        UPDATE organizations SET name = name || :name, created_at = :now {each: id uuid, name text} WHERE id = :id
    """)
    rows = [{"id": id_, "name": f"-{number}", "now": 7} for number, id_ in enumerate(ids[:2])]

    await database.transaction(lambda db: db.execute_many(query, rows))

    assert [await find_name(database, id_) for id_ in ids] == ["old-0", "old-1", "old"]


WINDOWS = Insert(
    "digest_windows",
    *("environment_id", "id", "subscriber_id", "generation", "leader_id", "closes_at", "last_event_at"),
    on_conflict="ON CONFLICT DO NOTHING",
    types=("uuid", "uuid", "uuid", "integer", "uuid", "bigint", "bigint"),
)
LIST_WINDOWS = sql(f"SELECT {', '.join(WINDOWS.columns)} FROM digest_windows WHERE environment_id = :id ORDER BY id")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(
        st.tuples(
            st.sampled_from([b"a" * 16, b"b" * 16]),
            st.integers(0, 1),
            st.sampled_from([None, b"c" * 16, b"d" * 16]),
            st.sampled_from([None, 0, 1]),
            st.integers(0, 1),
        ),
        max_size=5,
    )
)
async def test_rows_inserted_together_are_read_as_they_were_given(
    database: Database, values: list[tuple[Any, ...]]
) -> None:
    environment_id = unique()
    rows = [(environment_id, unique(), *one) for one in values]

    if rows:
        inserted = await database.transaction(lambda db: db.insert_many(WINDOWS, [*rows, rows[0]]))
        assert inserted == len(rows)
    stored = await database.read(lambda db: db.fetch_values(LIST_WINDOWS, id=environment_id))

    assert [tuple(one) for one in stored] == rows


async def test_settings_and_locks_of_a_unit_end_with_it_on_postgresql(postgres_url: str) -> None:
    database = await PostgresDatabase.connect(postgres_url, pool_size=1)
    environment_id = EnvironmentId(unique())
    setting = sql("SELECT current_setting('random_page_cost') AS cost, pg_backend_pid() AS connection")
    before = await database.read(lambda db: db.fetch_one(setting))

    async def fail(db: Connection) -> None:
        await try_lock_lanes(db, environment_id, ALL_LANES)
        raise KeyError(environment_id)

    with pytest.raises(KeyError):
        await database.transaction(fail)
    after = await database.read(lambda db: db.fetch_one(setting))

    assert before == after
    assert await database.transaction(lambda db: try_lock_lanes(db, environment_id, ALL_LANES))
    await database.close()


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-10, 10)
    | st.sampled_from([0.5, 1.0, -2.5])
    | st.sampled_from(["", "a", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(document=st.dictionaries(st.sampled_from("abc"), json_values, max_size=3), pattern=json_values)
async def test_json_matches_the_same_in_both_databases(database: Database, document: Any, pattern: Any) -> None:
    texts = {"document": msgspec.json.encode(document).decode(), "pattern": msgspec.json.encode(pattern).decode()}
    query = sql("SELECT json_matches(:document, :pattern) AS found")

    row = await database.read(lambda db: db.fetch_one(query, **texts))

    assert row is not None
    assert bool(row["found"]) is json_matches(**texts)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ({}, True),
        ({"a": {"b": 1}}, True),
        ({"a": {"b": 1.0}}, True),
        ({"a": {"b": True}}, False),
        ({"list": [1, 2]}, True),
        ({"list": [1]}, False),
        ({"missing": None}, False),
        ({"nothing": None}, True),
    ],
)
def test_objects_match_by_containment_and_the_rest_by_equality(pattern: Any, found: bool) -> None:
    document = {"a": {"b": 1, "c": 2}, "list": [1, 2], "nothing": None}

    assert json_matches(msgspec.json.encode(document).decode(), msgspec.json.encode(pattern).decode()) is found


async def test_sqlite_units_that_arrive_together_share_commits(tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"
    migrate_sqlite(path)
    database = SqliteDatabase(path)
    commits: list[str] = []

    def note(_cursor: Any, text: str, _values: Any) -> bool:
        if text == "COMMIT":
            commits.append(text)
        return True

    database._write_connection.exec_trace = note

    await asyncio.gather(*(database.transaction(lambda db: insert(db, unique(), "x")) for _ in range(500)))
    await database.close()

    assert 0 < len(commits) < 50


async def test_sqlite_units_that_shared_a_commit_are_freed_by_the_next(tmp_path: Path) -> None:
    migrate_sqlite(tmp_path / "clarion.db")
    database = SqliteDatabase(tmp_path / "clarion.db")
    is_filled = threading.Event()

    async def wait_for_others(_db: Connection) -> None:
        is_filled.wait()

    works = [partial(insert, id_=unique(), name="together") for _ in range(3)]
    alive = [weakref.ref(work) for work in works]
    tasks = [asyncio.ensure_future(database.transaction(wait_for_others))]
    tasks += [asyncio.ensure_future(database.transaction(work)) for work in works]
    await asyncio.sleep(0)
    is_filled.set()
    await asyncio.gather(*tasks)
    del works, tasks

    await database.transaction(partial(insert, id_=unique(), name="alone"))
    left = [ref() for ref in alive if ref() is not None]
    await database.close()

    assert left == []


async def test_a_full_disk_is_reported_as_unavailable_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"
    migrate_sqlite(path)
    database = SqliteDatabase(path)
    await database.transaction(lambda db: insert(db, b"1" * 16, "kept"))
    pages = database._write_connection.pragma("page_count")
    database._write_connection.execute(f"PRAGMA max_page_count = {pages}")

    with pytest.raises(StoreUnavailable):
        await database.transaction(lambda db: insert(db, b"2" * 16, "x" * 1_000_000))

    assert await count(database, "kept") == 1
    await database.close()


async def test_a_unit_that_awaits_anything_else_is_a_programming_error(tmp_path: Path) -> None:
    path = tmp_path / "clarion.db"
    migrate_sqlite(path)
    database = SqliteDatabase(path)

    async def wait(_db: Connection) -> None:
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="awaited something other"):
        await database.transaction(wait)
    await database.close()


def test_the_embedded_store_survives_power_loss_by_its_settings(tmp_path: Path) -> None:
    from clarion.db.sqlite.database import connect

    connection = connect(tmp_path / "x.db")
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("synchronous") == 2
    connection.close()
    # Migrations run with the standard library's driver.
    assert sqlite3.sqlite_version_info >= (3, 38)
