"""SIGTERM while a provider hangs: the process ends with its grace period, and nothing is lost."""

import asyncio
import itertools
import signal
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from clarion.db.port import Database
from clarion.db.query import Query, sql
from tests.chaos.test_kills import open_store
from tests.processes import Process, Start
from tests.providers.loopback import WebServer, answering, web_server

PEOPLE = 300
KEY = "shutdown-key-of-development"
SETTINGS = {"CLARION_DEVELOPMENT_API_KEY": KEY, "CLARION_EGRESS_ALLOW": "127.0.0.0/8", "CLARION_LOG_LEVEL": "error"}
STEP = {"name": "Mail", "type": "email", "controlValues": {"subject": "Hi", "body": "x"}}
WORKFLOW = {"name": "Mail", "workflowId": "mail", "active": True, "steps": [STEP]}
COUNT_STATUSES = sql("SELECT status, count(*) AS n FROM jobs GROUP BY status")
COUNT_ERRORS = sql("SELECT error_id, error_text, count(*) AS n FROM messages GROUP BY error_id, error_text")


class Provider:
    """Reads requests and answers none before it is released."""

    server: WebServer

    def __init__(self) -> None:
        self.is_released = asyncio.Event()
        self.answered = 0

    async def respond(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        await self.is_released.wait()
        self.answered += 1
        await answering(200)(request, writer)

    async def has(self, count: int) -> None:
        async with asyncio.timeout(60):
            while len(self.server.requests) < count:  # noqa: ASYNC110 - the server adds to it
                await asyncio.sleep(0.02)


async def send_to_hanging(process: Process, provider: Provider, people: int = PEOPLE) -> None:
    """Trigger an e-mail for many people, and wait until all of their sends hang."""
    credentials = {"webhookUrl": provider.server.url("/mail"), "secretKey": "s", "from": "news@example.com"}
    account = {"providerId": "email-webhook", "channel": "email", "active": True, "credentials": credentials}
    async with process.client(KEY) as client:
        assert (await client.post("/v1/integrations", json=account)).status_code == 201
        assert (await client.post("/v2/workflows", json=WORKFLOW)).status_code == 201
        for first in range(0, people, 100):
            numbers = range(first, min(first + 100, people))
            to = [{"subscriberId": f"p{n}", "email": f"p{n}@example.com"} for n in numbers]
            answer = await client.post("/v1/events/trigger", json={"name": "mail", "to": to, "payload": {}})
            assert answer.status_code == 201, answer.text
    await provider.has(people)


async def until_it_accepts_nothing(process: Process) -> None:
    async with asyncio.timeout(60), httpx.AsyncClient() as client:
        with suppress(httpx.TransportError):
            for pause in itertools.repeat(0.05):
                await client.get(f"{process.address}/v1/health-check")
                await asyncio.sleep(pause)


async def count(database: Database, query: Query) -> dict[tuple[str | None, ...], int]:
    """Return the numbers of rows by the other columns of a query."""
    rows = await database.read(lambda db: db.fetch(query))
    return {tuple(value for name, value in row.items() if name != "n"): row["n"] for row in rows}


async def test_the_grace_period_holds_while_hundreds_of_sends_hang(start: Start, store: list[str]) -> None:
    provider = Provider()
    async with web_server(provider.respond) as provider.server:
        process = start("serve", *store, **SETTINGS, CLARION_SHUTDOWN_GRACE_SECONDS="1")
        await send_to_hanging(process, provider)

        process.popen.terminate()
        status = await asyncio.to_thread(process.popen.wait, 60)
        was_released = provider.is_released.is_set()
        database = await open_store(store)
        statuses = await count(database, COUNT_STATUSES)
        errors = await count(database, COUNT_ERRORS)
        await database.close()
        provider.is_released.set()

    # Clarion's own time-out for providers would leave another text.
    texts = [text for error_id, text in errors if error_id is not None]
    assert (status, was_released) == (0, False)
    assert len(texts) == 1
    assert "Clarion was stopped before the provider answered" in str(texts[0])
    assert statuses == {("queued",): PEOPLE}
    assert errors == {("possibly_delivered", texts[0]): PEOPLE}


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
async def test_a_second_signal_ends_the_process_at_once(start: Start, tmp_path: Path, second: signal.Signals) -> None:
    provider = Provider()
    async with web_server(provider.respond) as provider.server:
        process = start("serve", "--data-dir", str(tmp_path / "data"), **SETTINGS, CLARION_SHUTDOWN_GRACE_SECONDS="600")
        await send_to_hanging(process, provider, 5)

        process.popen.terminate()
        await until_it_accepts_nothing(process)
        assert process.popen.poll() is None
        process.popen.send_signal(second)
        status = await asyncio.to_thread(process.popen.wait, 60)
        was_released = provider.answered > 0
        provider.is_released.set()

    assert (status, was_released) == (128 + second, False)


async def test_a_send_that_ends_within_the_grace_period_is_recorded(start: Start, tmp_path: Path) -> None:
    provider, store = Provider(), ["--data-dir", str(tmp_path / "data")]
    async with web_server(provider.respond) as provider.server:
        process = start("serve", *store, **SETTINGS, CLARION_SHUTDOWN_GRACE_SECONDS="30")
        await send_to_hanging(process, provider, 5)

        process.popen.terminate()
        await asyncio.sleep(0.3)
        provider.is_released.set()
        status = await asyncio.to_thread(process.popen.wait, 60)
        database = await open_store(store)
        statuses = await count(database, COUNT_STATUSES)
        await database.close()

    assert (status, statuses) == (0, {("completed",): 5})
