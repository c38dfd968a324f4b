"""Processes whose files, connections and database fail; a test restarts none of them.

Other faults have tests elsewhere: idle connections and slow senders in `tests/hostile/test_connections.py`, bursts
while the store stalls in `tests/hostile/test_bursts.py`, crashes of processes and of PostgreSQL in `tests/chaos`.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import asyncpg
import httpx
import pytest

from clarion.db.migrations.migrate import migrate_postgres
from tests.faults.proxy import Proxy
from tests.hostile.target import KEYS, TENANT_KEY, Target
from tests.processes import Process
from tests.servers import empty_database

JSON = {"CLARION_LOG_FORMAT": "json"}


class Accepted:
    """Triggers that one person gets, each with the status that it was answered with."""

    def __init__(self, client: httpx.AsyncClient, person: str) -> None:
        self._client = client
        self._person = person
        self.statuses: dict[str, int] = {}

    async def trigger(self, name: str, text: str = "") -> httpx.Response:
        transaction = f"{self._person}-{name}"
        body = {"name": "greeting", "to": self._person, "transactionId": transaction, "payload": {"n": text}}
        response = await self._client.post("/v1/events/trigger", json=body)
        self.statuses[name] = response.status_code
        return response

    async def wait_until_done(self) -> None:
        """Wait until each accepted trigger has exactly one message, and no other trigger has any."""
        wanted = [f"{self._person}-{one}" for one, status in self.statuses.items() if status == 201]
        found: list[str] = []
        for _ in range(300):
            path = f"/v1/messages?subscriberId={self._person}&limit=1000"
            listed = await self._client.get(path)
            found = [one["transactionId"] for one in listed.json()["data"]]
            if sorted(found) == sorted(wanted):
                return
            await asyncio.sleep(0.1)
        raise AssertionError(f"{len(wanted)} triggers were accepted, and there are {len(found)} messages")


async def wait_for_status(status: int, ask: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
    """Ask until the answer has the status."""
    for _ in range(300):
        response = await ask()
        if response.status_code == status:
            return response
        await asyncio.sleep(0.1)
    raise AssertionError(f"no answer had the status {status}, but {response.status_code}: {response.text}")


@pytest.fixture(scope="session")
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Target]:
    """`clarion serve` on SQLite."""
    folder = tmp_path_factory.mktemp("faults")
    store = ["--data-dir", str(folder / "data")]
    process = Process(["serve", *store], KEYS | JSON, log=folder / "log")
    target = Target(process, folder / "log", store)
    await target.prepare()
    yield target
    process.close()


class Cluster:
    """An API and a worker that reach their PostgreSQL through a proxy; the API has a pool of two connections."""

    def __init__(self, api: Process, worker: Process, proxy: Proxy, url: str) -> None:
        self.processes = (api, worker)
        self.proxy = proxy
        self.url = url
        """Of the database itself."""

    def client(self) -> httpx.AsyncClient:
        return self.processes[0].client(TENANT_KEY)

    async def run_sql(self, text: str) -> None:
        connection = await asyncpg.connect(self.url, server_settings={"default_transaction_read_only": "off"})
        try:
            await connection.execute(text)
        finally:
            await connection.close()

    def is_running(self) -> bool:
        return all(one.popen.poll() is None for one in self.processes)


@pytest.fixture(scope="session")
async def cluster(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    async with AsyncExitStack() as opened:
        url = await opened.enter_async_context(empty_database(postgres_url))
        await migrate_postgres(url)
        proxy = Proxy(url)
        await proxy.open()
        opened.push_async_callback(proxy.close)
        store = ["--data-dir", str(folder / "data"), "--database-url", proxy.url]
        settings = KEYS | JSON | {"CLARION_DATABASE_POOL_SIZE": "2"}
        processes = []
        for command in ("api", "worker"):
            # In a thread, because the proxy runs on this loop.
            process = await asyncio.to_thread(Process, [command, *store], settings, log=folder / command)
            opened.callback(process.close)
            processes.append(process)
        await Target(processes[0], folder / "api", store).prepare()
        api, worker = processes
        yield Cluster(api, worker, proxy, url)
