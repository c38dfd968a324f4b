"""Processes are killed at random moments under load; no accepted trigger is lost, and nothing happens twice.

`CLARION_CHAOS_KILLS` is the number of kills; `make chaos` sets it to fifty on each database.
"""

import asyncio
import os
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from clarion.db.port import Database
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.query import sql
from clarion.db.sqlite.database import SqliteDatabase
from clarion.ids import id_text
from tests.chaos.invariants import find_broken
from tests.processes import Process, Start
from tests.providers.loopback import answering, web_server
from tests.servers import postgres_server

KILLS = int(os.environ.get("CLARION_CHAOS_KILLS", "4"))
PAUSE_SECONDS = 35 if KILLS >= 20 else 2
"""Longer than the lease of a send, where there is time for it."""
CLIENTS = 8
BREATH_SECONDS = 0 if KILLS >= 20 else 0.02
"""Between the triggers of a client: a short run needs requests in flight, not thousands of runs to check afterwards."""
KEY = "chaos-key-of-development"

WORKFLOW = {
    "name": "Chaos",
    "workflowId": "chaos",
    "active": True,
    "steps": [
        {"name": "Inbox", "type": "in_app", "controlValues": {"body": "{{payload.n}}"}},
        {
            "name": "Digest",
            "type": "digest",
            "controlValues": {
                "type": "regular",
                "amount": 1,
                "unit": "seconds",
                "slideUpTo": {"amount": 3, "unit": "seconds"},
                "maxItems": 6,
            },
        },
        {"name": "Mail", "type": "email", "controlValues": {"subject": "{{steps.digest.eventCount}}", "body": "x"}},
        {"name": "After", "type": "in_app", "controlValues": {"body": "after"}},
    ],
}


async def open_store(store: list[str]) -> Database:
    options = dict(zip(store[::2], store[1::2], strict=True))
    if "--database-url" in options:
        return await PostgresDatabase.connect(options["--database-url"], pool_size=2)
    return SqliteDatabase(Path(options["--data-dir"]) / "clarion.db")


async def send_triggers(process: Process, accepted: set[str], stop: asyncio.Event, worker: int) -> None:
    """Send triggers one after the other, and record the accepted ones."""
    async with process.client(KEY) as client:
        number = 0
        while not stop.is_set():
            number += 1
            transaction = f"{process.popen.pid}-{worker}-{number}"
            to: Any = f"person-{random.randrange(5)}" if number % 10 else {"type": "Topic", "topicKey": "crowd"}
            body = {"name": "chaos", "to": to, "transactionId": transaction, "payload": {"n": number}}
            try:
                response = await client.post("/v1/events/trigger", json=body)
            except httpx.HTTPError:
                return
            if response.status_code == 201:
                accepted.add(transaction)
            await asyncio.sleep(BREATH_SECONDS)


MAILBOX = {"providerId": "svc-email", "channel": "email", "active": True}


async def prepare(process: Process, integration: dict[str, Any] | None = None) -> None:
    async with process.client(KEY) as client:
        people = [{"subscriberId": f"person-{n}", "email": f"p{n}@example.com"} for n in range(5)]
        crowd = [{"subscriberId": f"crowd-{n}", "email": f"c{n}@example.com"} for n in range(40)]
        await client.post("/v1/subscribers/bulk", json={"subscribers": people + crowd})
        members = {"subscriberIds": [one["subscriberId"] for one in crowd]}
        await client.post("/v2/topics/crowd/subscriptions", json=members)
        assert (await client.post("/v1/integrations", json=integration or MAILBOX)).status_code == 201
        assert (await client.post("/v2/workflows", json=WORKFLOW)).status_code == 201


async def wait_for_invariants(database: Database) -> dict[str, int]:
    """Return the rules that are still broken after 90 seconds; leases of killed senders last 30 seconds."""
    broken: dict[str, int] = {}
    for _ in range(900):
        broken = await database.scan(find_broken)
        if not broken:
            return {}
        await asyncio.sleep(0.1)
    return broken


@asynccontextmanager
async def counting_provider(received: Counter[str], *, after_seconds: float = 0) -> AsyncIterator[dict[str, Any]]:
    """An integration whose provider counts requests by their idempotency key, and answers after a while."""

    async def respond(request: bytes, writer: asyncio.StreamWriter) -> None:
        head = request.partition(b"\r\n\r\n")[0].decode()
        (key,) = re.findall(r"(?im)^idempotency-key: (\S+)", head)
        received[key] += 1
        await asyncio.sleep(after_seconds)
        await answering(200)(request, writer)

    async with web_server(respond) as server:
        credentials = {"webhookUrl": server.url("/mail"), "secretKey": "s", "from": "news@example.com"}
        yield {"providerId": "email-webhook", "channel": "email", "active": True, "credentials": credentials}


SETTINGS = {"CLARION_DEVELOPMENT_API_KEY": KEY, "CLARION_LOG_LEVEL": "error"}


async def under_load(process: Process, accepted: set[str], harm: Callable[[], None]) -> None:
    """Trigger for a while, then do harm while requests are in flight.

    The first accepted trigger starts the time: on a busy machine a process may take seconds to answer.
    """
    stop, before = asyncio.Event(), len(accepted)
    load = [asyncio.create_task(send_triggers(process, accepted, stop, number)) for number in range(CLIENTS)]
    async with asyncio.timeout(60):
        while len(accepted) == before:  # noqa: ASYNC110 - the tasks above add to it
            await asyncio.sleep(0.01)
    await asyncio.sleep(random.uniform(0.0, 1.0))
    await asyncio.to_thread(harm)
    await asyncio.sleep(random.uniform(0.0, 0.3))
    stop.set()
    await asyncio.gather(*load)


async def find_lost(process: Process, accepted: set[str]) -> list[str]:
    """Return accepted transactions without a run."""
    async with process.client(KEY) as client:
        return [
            transaction
            for transaction in accepted
            if not (await client.get("/v1/notifications", params={"transactionId": transaction})).json()["data"]
        ]


async def check_store(process: Process, store: list[str], accepted: set[str]) -> None:
    database = await open_store(store)
    try:
        # No process lived long enough to update the statistics, and the checks below join large tables.
        await database.update_statistics()
        assert await wait_for_invariants(database) == {}
    finally:
        await database.close()
    assert len(accepted) > 0
    assert await find_lost(process, accepted) == []


async def test_a_whole_installation_survives_being_killed(start: Start, store: list[str]) -> None:
    accepted: set[str] = set()
    process = start("serve", *store, **SETTINGS)
    await prepare(process)
    for _ in range(KILLS):
        await under_load(process, accepted, process.kill)
        process = start("serve", *store, **SETTINGS)
    await check_store(process, store, accepted)


COUNT_RUNNING = sql("SELECT count(*) AS n FROM jobs WHERE status = 'running'")
LIST_SENT = sql("SELECT id FROM messages WHERE channel = 'email' AND status = 'sent'")
# A busy machine may make the provider answer too late; such a send is repeated with its key.
COUNT_UNCONFIRMED = sql("""
    SELECT COALESCE(sum((length(details) - length(replace(details, :text, ''))) / length(:text)), 0) AS n FROM jobs
""")
UNCONFIRMED = "Unconfirmed by the provider, which knows a second try"


async def count_running(database: Database) -> int:
    row = await database.read(lambda db: db.fetch_one(COUNT_RUNNING))
    return int(row["n"]) if row else 0


async def count_unconfirmed(database: Database) -> int:
    row = await database.read(lambda db: db.fetch_one(COUNT_UNCONFIRMED, text=UNCONFIRMED))
    return int(row["n"]) if row else 0


async def list_sent(database: Database) -> set[str]:
    return {id_text(row["id"]) for row in await database.read(lambda db: db.fetch(LIST_SENT))}


async def test_several_processes_survive_each_others_deaths_and_pauses(
    start: Start, run_command: Any, fresh_postgres_url: str, tmp_path: Path
) -> None:
    """One API and four workers; their provider takes an idempotency key and counts what it gets."""
    store = ["--data-dir", str(tmp_path / "data"), "--database-url", fresh_postgres_url]
    settings = SETTINGS | {"CLARION_EGRESS_ALLOW": "127.0.0.0/8"}
    accepted: set[str] = set()
    run_command("migrate", *store)
    api = start("api", *store, **settings)
    workers = [start("worker", *store, **settings) for _ in range(4)]
    database = await open_store(store)
    received: Counter[str] = Counter()
    repeatable = 0
    async with counting_provider(received) as integration:
        await prepare(api, integration)
        for number in range(KILLS):
            if number % 3 == 0:
                await under_load(api, accepted, api.kill)
                api = start("api", *store, **settings)
                continue
            victim = workers.pop(0)
            await under_load(api, accepted, victim.kill if number % 3 == 1 else victim.pause)
            # What a dead worker had in flight is sent again; so is what a paused one is late to record.
            repeatable += await count_running(database)
            if number % 3 == 1:
                workers.append(start("worker", *store, **settings))
            else:
                await asyncio.sleep(PAUSE_SECONDS)
                victim.resume()
                workers.append(victim)
        await check_store(api, store, accepted)
        sent, unconfirmed = await list_sent(database), await count_unconfirmed(database)
    await database.close()
    # Each message is known to the provider by one key, so that it delivers each once.
    assert received.keys() == sent
    assert received.total() - len(received) <= repeatable + unconfirmed


async def test_crashes_of_postgresql_lose_nothing(start: Start, tmp_path_factory: pytest.TempPathFactory) -> None:
    with postgres_server() as server:
        store = ["--data-dir", str(tmp_path_factory.mktemp("data")), "--database-url", server.url]
        accepted: set[str] = set()
        process = start("serve", *store, **SETTINGS)
        await prepare(process)
        for _ in range(max(KILLS // 4, 2)):
            await under_load(process, accepted, server.crash_and_restart)
        await check_store(process, store, accepted)
        assert process.stop() == 0
