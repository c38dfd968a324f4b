"""Events race with the steps that wait for them, and processes are killed meanwhile: each pair comes together once.

`CLARION_EVENT_PAIRS` is the number of pairs; `make chaos` sets it to ten thousand.
"""

import asyncio
import os
import random
from pathlib import Path
from typing import Any

import httpx
import pytest

from clarion.db.port import Database
from clarion.db.query import sql
from tests.chaos.test_kills import KEY, SETTINGS, open_store
from tests.processes import Process, Start

PAIRS = int(os.environ.get("CLARION_EVENT_PAIRS", "300"))
SPREAD_SECONDS = 0.1
"""An event is emitted up to this long after its trigger was accepted, which is about when its step is reached."""
CLIENTS = 16
PATIENCE = 1_200

WAIT = {"event": "ready", "match": [{"path": "n", "value": "{{payload.n}}"}], "since": "trigger"}
WORKFLOW = {
    "name": "Race",
    "workflowId": "race",
    "active": True,
    "steps": [
        {
            "name": "Wait",
            "type": "wait_for",
            "controlValues": {**WAIT, "timeout": {"amount": 1, "unit": "hours"}},
        },
        {"name": "Inbox", "type": "in_app", "controlValues": {"body": "{{steps.wait.data.n}}"}},
    ],
}
LIST_MESSAGES = sql("""
    SELECT s.key, m.content FROM messages AS m
    JOIN subscribers AS s ON s.environment_id = m.environment_id AND s.id = m.subscriber_id
""")
COUNT_LEFT = sql("""
    SELECT (SELECT count(*) FROM event_waits) AS waits,
        (SELECT count(*) FROM emitted_events WHERE pending = 1) AS pending,
        (SELECT count(*) FROM jobs WHERE status NOT IN ('completed', 'skipped')) AS jobs
""")


async def send(client: httpx.AsyncClient, path: str, body: dict[str, Any], stop: asyncio.Event) -> None:
    """Send a request until it is answered: its transaction or its id keeps it from being done twice."""
    async with asyncio.timeout(60):
        while not stop.is_set():
            try:
                response = await client.post(path, json=body)
            except httpx.HTTPError:
                await asyncio.sleep(0.05)
                continue
            if response.status_code == 201:
                return
            assert response.status_code >= 500, response.text
            await asyncio.sleep(0.05)


async def race(client: httpx.AsyncClient, number: int, stop: asyncio.Event) -> None:
    """Trigger a run that waits, and emit its event about when the step is reached."""
    # Some people have several runs that wait for different events.
    person = f"person-{number % max(PAIRS // 2, 1)}"
    trigger = {"name": "race", "to": person, "transactionId": f"race-{number}", "payload": {"n": number}}
    await send(client, "/v1/events/trigger", trigger, stop)
    await asyncio.sleep(random.uniform(0, SPREAD_SECONDS))
    event = {"name": "ready", "to": person, "data": {"n": number}, "id": str(number)}
    await send(client, "/v1/events/emit", event, stop)


async def race_all(process: Process, *, first: int = 0, last: int = PAIRS, stop: asyncio.Event | None = None) -> None:
    ends = stop or asyncio.Event()
    numbers = iter(range(first, last))

    async def work(client: httpx.AsyncClient) -> None:
        for number in numbers:
            await race(client, number, ends)

    async with process.client(KEY) as client:
        await asyncio.gather(*(work(client) for _ in range(CLIENTS)))


async def prepare(process: Process) -> None:
    people = [{"subscriberId": f"person-{number}"} for number in range(max(PAIRS // 2, 1))]
    async with process.client(KEY) as client:
        for start in range(0, len(people), 500):
            response = await client.post("/v1/subscribers/bulk", json={"subscribers": people[start : start + 500]})
            assert response.status_code < 300, response.text
        response = await client.post("/v2/workflows", json=WORKFLOW)
        assert response.status_code == 201, response.text


async def check_pairs(database: Database) -> None:
    """Every event let exactly its own run go on, once, and nothing is left."""
    for _ in range(PATIENCE):
        left = await database.read(lambda db: db.fetch_one(COUNT_LEFT))
        if left is not None and not any(dict(left).values()):
            break
        await asyncio.sleep(0.1)
    assert left is not None
    assert dict(left) == {"waits": 0, "pending": 0, "jobs": 0}
    rows = await database.scan(lambda db: db.fetch(LIST_MESSAGES))
    assert sorted(int(row["content"]) for row in rows) == list(range(PAIRS))
    assert all(row["key"] == f"person-{int(row['content']) % max(PAIRS // 2, 1)}" for row in rows)


async def test_four_workers_match_each_event_once(
    start: Start, run_command: Any, fresh_postgres_url: str, tmp_path: Path
) -> None:
    store = ["--data-dir", str(tmp_path / "data"), "--database-url", fresh_postgres_url]
    run_command("migrate", *store)
    api = start("api", *store, **SETTINGS)
    workers = [start("worker", *store, **SETTINGS) for _ in range(4)]
    await prepare(api)

    await race_all(api, first=0, last=PAIRS // 2)
    for victim in workers[:2]:
        racing = asyncio.create_task(race_all(api, first=PAIRS // 2, last=PAIRS)) if victim is workers[0] else None
        await asyncio.sleep(random.uniform(0, 0.5))
        await asyncio.to_thread(victim.kill)
        workers.append(start("worker", *store, **SETTINGS))
        if racing is not None:
            await racing

    database = await open_store(store)
    try:
        await check_pairs(database)
    finally:
        await database.close()


@pytest.mark.parametrize("place", ["before", "between"])
async def test_an_event_survives_the_death_of_the_process_that_took_it(
    start: Start, store: list[str], place: str
) -> None:
    """Half of the pairs are under way when the process is killed."""
    process = start("serve", *store, **SETTINGS)
    await prepare(process)
    stop = asyncio.Event()
    racing = asyncio.create_task(race_all(process, stop=stop))
    await asyncio.sleep(random.uniform(0, 0.2) if place == "before" else random.uniform(0.2, 1.0))
    await asyncio.to_thread(process.kill)
    stop.set()
    await racing
    process = start("serve", *store, **SETTINGS)

    await race_all(process)

    database = await open_store(store)
    try:
        await check_pairs(database)
    finally:
        await database.close()
