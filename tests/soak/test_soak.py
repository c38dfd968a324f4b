"""Hours of mixed load in minutes, by a clock that runs faster: memory and store stay flat, and every invariant holds.

`make soak` runs twenty minutes on each database, in which four days pass; the default is a few seconds on SQLite, which
shows that it runs. `CLARION_SOAK_SECONDS` is the duration.
"""

import asyncio
import os
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from clarion.db.migrations.migrate import migrate_postgres
from clarion.db.port import Database
from clarion.environments.options import DataKind
from tests.chaos.test_kills import open_store, wait_for_invariants
from tests.processes import Process
from tests.providers.loopback import web_server
from tests.servers import empty_database
from tests.soak.load import APPLICATION, KEY, Load, answer_now_and_then, prepare
from tests.soak.samples import Sample, find_growth, measure_memory, measure_store, render

SECONDS = float(os.environ.get("CLARION_SOAK_SECONDS", "3"))
FACTOR = float(os.environ.get("CLARION_SOAK_FACTOR", "288"))
"""Twenty minutes are four days: data that is kept for a day comes and goes three times."""
IS_LONG = SECONDS >= 60
STORES = ["sqlite", "postgresql"] if IS_LONG else ["sqlite"]
SAMPLES = 30 if IS_LONG else 3
ENTRY = ["-m", "tests.soak.process"]
DAYS = SECONDS * FACTOR / 86_400


class Soaked:
    def __init__(self, processes: list[Process], database: Database, data_dir: Path, url: str | None) -> None:
        self.processes = processes
        self.database = database
        self.data_dir = data_dir
        self.url = url

    async def sample(self, load: Load, started: float) -> Sample:
        seconds, load.seconds = load.seconds or [0.0], []
        store_mb, rows = await measure_store(self.database, self.data_dir, self.url)
        return Sample(
            at_seconds=asyncio.get_running_loop().time() - started,
            memory_mb=measure_memory(self.processes),
            store_mb=store_mb,
            rows=rows,
            triggers=len(load.accepted),
            p50_ms=statistics.median(seconds) * 1000,
            p99_ms=sorted(seconds)[int(len(seconds) * 0.99)] * 1000,
        )


@asynccontextmanager
async def open_soaked(store: str, folder: Path, request: pytest.FixtureRequest) -> AsyncIterator[Soaked]:
    environ = {
        "CLARION_DEVELOPMENT_API_KEY": KEY,
        "CLARION_DEVELOPMENT_APP_ID": APPLICATION,
        "CLARION_EGRESS_ALLOW": "127.0.0.0/8",
        "CLARION_LOG_LEVEL": "warning",
        "CLARION_MIN_RETENTION": "audit=1",
        "SOAK_START": str(time.time_ns() // 1_000_000),
        "SOAK_FACTOR": str(FACTOR),
    }
    arguments, commands, url = [str(folder / "data")], ["serve"], None
    async with AsyncExitStack() as opened:
        if store == "postgresql":
            url = await opened.enter_async_context(empty_database(request.getfixturevalue("postgres_url")))
            await migrate_postgres(url)
            arguments.append(url)
            commands = ["api", "worker"]
        processes = []
        for command in commands:
            log = folder / f"{command}.log"
            processes.append(Process([command, *arguments], environ, log=log, entry=ENTRY))
            opened.callback(processes[-1].close)
        options = ["--data-dir", arguments[0], *([] if url is None else ["--database-url", url])]
        database = await open_store(options)
        opened.push_async_callback(database.close)
        yield Soaked(processes, database, folder / "data", url)


async def keep_one_day(process: Process) -> None:
    """Keep every kind of data for a day, or for as long as it has to be."""
    async with process.client(KEY) as client:
        me = (await client.get("/v1/environments/me")).json()
        days = {kind.value: 5 if kind is DataKind.WEBHOOKS else 1 for kind in DataKind}
        response = await client.patch(f"/v1/environments/{me['_id']}", json={"retentionDays": days})
        assert response.status_code == 200, response.text


def list_growth(samples: list[Sample]) -> dict[str, str]:
    """What has grown in the last third, where it must not: data comes and goes after a day."""
    found = {"memory": find_growth(samples, lambda one: one.memory_mb, factor=1.15, slack=20)}
    if DAYS >= 3:
        found["store"] = find_growth(samples, lambda one: one.store_mb, factor=1.3, slack=40)
        for name in samples[0].rows:
            found[name] = find_growth(samples, lambda one, name=name: one.rows[name], factor=1.3, slack=500)  # type: ignore[misc]
    return {name: text for name, text in found.items() if text}


async def list_lost(process: Process, transactions: list[str]) -> list[str]:
    async with process.client(KEY) as client:
        return [
            one
            for one in transactions
            if not (await client.get("/v1/notifications", params={"transactionId": one})).json()["data"]
        ]


@pytest.mark.parametrize("store", STORES)
async def test_memory_and_store_are_flat_under_mixed_load_and_every_invariant_holds(
    store: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    async with web_server(answer_now_and_then) as provider, open_soaked(store, tmp_path, request) as soaked:
        await prepare(soaked.processes[0], provider.url("/mail"))
        await keep_one_day(soaked.processes[0])
        load, samples = Load(soaked.processes[0]), list[Sample]()
        running = asyncio.create_task(load.run())
        started = asyncio.get_running_loop().time()
        for _ in range(SAMPLES):
            await asyncio.sleep(SECONDS / SAMPLES)
            samples.append(await soaked.sample(load, started))
            # Only the number of calls matters here, and they would take memory for hours.
            provider.requests.clear()
        load.stop()
        await running
        broken = await wait_for_invariants(soaked.database)
        lost = await list_lost(soaked.processes[0], load.accepted[-200:])
        print(f"{store}: {DAYS:.1f} days in {SECONDS:.0f} s, {load.events} socket events\n{render(samples)}")  # noqa: T201

    assert load.refused == []
    assert len(load.accepted) > SECONDS
    assert load.events > 0
    assert (broken, lost) == ({}, [])
    if IS_LONG:
        assert list_growth(samples) == {}
