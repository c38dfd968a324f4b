"""The minimum cost of a trigger: an HTTP exchange with no work behind it, and its rows written by the bare driver."""

import asyncio
import contextlib
import itertools
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import asyncpg

from bench.client import send_closed
from bench.figures import Figure
from bench.processes import cpu_between, cpu_seconds
from bench.stores import open_store
from bench.systems import FLOOR_HTTP, SQLITE, System, make_database
from bench.workloads.trigger import CONNECTIONS, NAME, PEOPLE, make_triggers
from clarion.clock import SystemClock
from clarion.db.migrations.migrate import migrate_postgres
from clarion.db.sqlite.database import connect
from clarion.ids import new_id

_COUNT = 6000
_BATCH = 128
_ID_NAMES = {
    "idempotency_keys": "key_id",
    "triggers": "trigger_id",
    "notifications": "notification_id",
    "jobs": "job_id",
    "messages": "message_id",
}
"""The tables in which an in-app trigger writes a row, and the column by which other tables refer to that row."""

Rows = dict[str, list[tuple[Any, ...]]]
"""Rows of each table, ready for the driver."""


async def measure(system: System) -> list[Figure]:
    """Measure the HTTP floor on its own server, or the storage floor with rows that the given system has written."""
    if system.kind == FLOOR_HTTP:
        return await _measure_http(system)
    async with open_store(system) as store:
        samples = {table: await store.sample_rows(table, PEOPLE) for table in _ID_NAMES}
    count = system.scaled(_COUNT)
    batches = list(_batches(samples, count, as_uuid=system.kind != SQLITE))
    columns = {table: list(rows[0]) for table, rows in samples.items()}
    if system.kind == SQLITE:
        seconds, cpu = await _write_sqlite(system.folder / "clarion.db", columns, batches)
    else:
        seconds, cpu = await _write_postgres(system, columns, batches)
    return _figures(f"floor storage {system.kind}", count, seconds, cpu)


async def _measure_http(system: System) -> list[Figure]:
    triggers = make_triggers(system, system.scaled(_COUNT))
    before = cpu_seconds(system.groups)
    load = await send_closed(system.address, triggers.requests, connections=CONNECTIONS)
    used = cpu_between(before, cpu_seconds(system.groups))
    load.require(201)
    return _figures(system.kind, len(triggers.requests), load.ended - load.began, sum(used.values()))


def _figures(system: str, count: int, seconds: float, cpu: float) -> list[Figure]:
    return [
        Figure(NAME, system, "cpu_ms", cpu * 1000 / count, "ms"),
        Figure(NAME, system, "per_second", count / seconds, "1/s"),
    ]


def _batches(samples: dict[str, list[dict[str, Any]]], count: int, *, as_uuid: bool) -> Iterator[Rows]:
    """Yield rows like the sampled ones, with new ids, for `count` triggers; they are made before the measurement."""
    for start in range(0, count, _BATCH):
        numbers = range(start, min(start + _BATCH, count))
        renewed = [_renew(samples, number, as_uuid=as_uuid) for number in numbers]
        yield {table: [rows[table] for rows in renewed] for table in _ID_NAMES}


def _renew(samples: dict[str, list[dict[str, Any]]], number: int, *, as_uuid: bool) -> dict[str, tuple[Any, ...]]:
    now = SystemClock().now()
    ids: dict[str, Any] = {name: new_id(now) for name in _ID_NAMES.values()}
    if as_uuid:
        ids = {name: uuid.UUID(bytes=value) for name, value in ids.items()}
    renewed = {}
    for table, own in _ID_NAMES.items():
        row = samples[table][number % len(samples[table])]
        fresh = ids | _unique(table) | {"id": ids[own]}
        renewed[table] = tuple(fresh.get(column, value) for column, value in row.items())
    return renewed


def _unique(table: str) -> dict[str, Any]:
    """Return new values for the unique columns other than ids."""
    if table == "idempotency_keys":
        return {"digest": uuid.uuid4().bytes}
    return {"transaction_key": f"txn_{uuid.uuid4().hex}"} if table == "triggers" else {}


async def _write_sqlite(store: Path, columns: dict[str, list[str]], batches: Sequence[Rows]) -> tuple[float, float]:
    """Write into a copy of the store, so that the indexes are as large as those of Clarion."""
    path = store.with_name("floor.db")
    for left in path.parent.glob(f"{path.name}*"):
        left.unlink()
    await asyncio.to_thread(_copy_sqlite, store, path)
    statements = {
        table: f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(itertools.repeat('?', len(names)))})"
        for table, names in columns.items()
    }
    with contextlib.closing(connect(path)) as connection:
        began, cpu = time.perf_counter(), time.process_time()
        for rows in batches:
            connection.execute("BEGIN IMMEDIATE")
            for table, statement in statements.items():
                connection.executemany(statement, rows[table])
            connection.execute("COMMIT")
        return time.perf_counter() - began, time.process_time() - cpu


def _copy_sqlite(store: Path, path: Path) -> None:
    with (
        contextlib.closing(connect(store, read_only=True)) as source,
        contextlib.closing(connect(path)) as copy,
        copy.backup("main", source, "main") as backup,
    ):
        backup.step()


async def _write_postgres(
    system: System, columns: dict[str, list[str]], batches: Sequence[Rows]
) -> tuple[float, float]:
    assert system.server is not None
    server = {"postgres": system.groups["postgres"]}
    url = await make_database(system.server, "floor", recreate=True)
    await migrate_postgres(url)
    connection = await asyncpg.connect(url)
    try:
        before, began, cpu = cpu_seconds(server), time.perf_counter(), time.process_time()
        for rows in batches:
            async with connection.transaction():
                for table, names in columns.items():
                    await connection.copy_records_to_table(table, records=rows[table], columns=names)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        return seconds, cpu + sum(cpu_between(before, cpu_seconds(server)).values())
    finally:
        await connection.close()
