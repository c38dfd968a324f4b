"""A running service under attack, and a well-behaved neighbour in another environment of it.

Time is never asserted, because the machine may be busy. What counts is what the service itself reports: blocks of its
event loop that used CPU, its memory, and whether everything that the neighbour sent was done exactly once.
"""

import asyncio
import itertools
import json
import os
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import httpx

from tests.processes import Process

ROUNDS = int(os.environ.get("CLARION_HOSTILE_ROUNDS", "1"))
"""How often each attack is repeated; `make hostile` repeats them more often."""
TENANT_KEY = "key-of-the-hostile-tenant"
NEIGHBOUR_KEY = "key-of-the-neighbour"
KEYS = {"CLARION_DEVELOPMENT_API_KEY": TENANT_KEY, "CLARION_PRODUCTION_API_KEY": NEIGHBOUR_KEY}
MIB = 1024 * 1024

# Twice what the watchdog allows: on a machine that is shared, the same work takes up to twice the CPU time.
_BLOCKED_CPU_MS = 500
_PAUSE_SECONDS = 0.02
_WORKFLOW = {
    "name": "Greeting",
    "workflowId": "greeting",
    "active": True,
    "steps": [{"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hello {{payload.n}}"}}],
}
_numbers = itertools.count(1)


class Target:
    """A process under attack, with its log."""

    def __init__(self, process: Process, log: Path, store: list[str]) -> None:
        self.process = process
        self.store = dict(zip(store[::2], store[1::2], strict=True))
        self._log = log
        parts = urlsplit(process.address)
        self.host, self.port = parts.hostname or "", parts.port or 0

    async def prepare(self) -> None:
        """Create the workflow `greeting` in both environments."""
        for key in (TENANT_KEY, NEIGHBOUR_KEY):
            async with self.process.client(key) as client:
                response = await client.post("/v2/workflows", json=_WORKFLOW)
                assert response.status_code == 201, response.text

    def tenant(self) -> httpx.AsyncClient:
        return self.process.client(TENANT_KEY)

    async def connect(self, source: str = "127.0.0.1") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect from an address of the loopback network."""
        return await asyncio.open_connection(self.host, self.port, local_addr=(source, 0))

    def list_blocks(self) -> list[dict[str, Any]]:
        """The blocks of the event loop in which the process used CPU; others are due to a busy machine."""
        lines = [json.loads(line) for line in self._log.read_text().splitlines() if line.startswith("{")]
        found, stack = [], None
        for line in lines:
            stack = line.get("stack", stack)
            if line["message"] == "Event loop was blocked" and line["cpu_ms"] >= _BLOCKED_CPU_MS:
                found.append({"cpu_ms": line["cpu_ms"], "stack": stack})
        return found

    def memory_bytes(self) -> int:
        return self._read_status("VmRSS")

    def forget_peak_memory(self) -> None:
        """Let the peak be that of the time from now on; earlier tests have used the process too."""
        Path(f"/proc/{self.process.popen.pid}/clear_refs").write_text("5")

    def peak_memory_bytes(self) -> int:
        return self._read_status("VmHWM")

    def open_file_count(self) -> int:
        return len(list(Path(f"/proc/{self.process.popen.pid}/fd").iterdir()))

    def open_socket_count(self) -> int:
        count = 0
        for entry in Path(f"/proc/{self.process.popen.pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                count += str(entry.readlink()).startswith("socket:")
        return count

    def _read_status(self, name: str) -> int:
        status = Path(f"/proc/{self.process.popen.pid}/status").read_text()
        (line,) = [line for line in status.splitlines() if line.startswith(f"{name}:")]
        return int(line.split()[1]) * 1024

    @asynccontextmanager
    async def stalled_store(self) -> AsyncIterator[None]:
        """Keep the store from writing triggers during the body, as a disk that does not respond would."""
        url = self.store.get("--database-url")
        if url is None:
            path = Path(self.store["--data-dir"]) / "clarion.db"
            with closing(sqlite3.connect(path, isolation_level=None)) as store:
                store.execute("BEGIN IMMEDIATE")
                yield
            return
        connection = await asyncpg.connect(url)
        try:
            async with connection.transaction():
                await connection.execute("LOCK TABLE triggers IN EXCLUSIVE MODE")
                yield
        finally:
            await connection.close()

    @asynccontextmanager
    async def beside_neighbour(self) -> AsyncIterator["Neighbour"]:
        """Run a neighbour during the body; at the end all of its triggers are done once, and the loop never blocked."""
        blocks = len(self.list_blocks())
        async with self.process.client(NEIGHBOUR_KEY) as client:
            neighbour = Neighbour(client)
            task = asyncio.create_task(neighbour.run())
            try:
                yield neighbour
            finally:
                neighbour.is_stopping = True
                await task
            assert neighbour.statuses == {201: len(neighbour.transactions)}
            assert await neighbour.count_messages() == dict.fromkeys(neighbour.transactions, 1)
        assert self.list_blocks()[blocks:] == []


class Neighbour:
    """Triggers a workflow, one trigger after the other."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self._name = f"neighbour-{next(_numbers)}"
        self.transactions: list[str] = []
        self.statuses: Counter[int] = Counter()
        self.seconds: list[float] = []
        """How long each trigger took; for figures, never for assertions."""
        self.is_stopping = False

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while not self.is_stopping or not self.transactions:
            transaction = f"{self._name}-{len(self.transactions)}"
            body = {"name": "greeting", "to": self._name, "transactionId": transaction, "payload": {"n": 1}}
            started = loop.time()
            response = await self._client.post("/v1/events/trigger", json=body)
            self.seconds.append(loop.time() - started)
            self.statuses[response.status_code] += 1
            self.transactions.append(transaction)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def wait_for_triggers(self, count: int) -> None:
        """Wait until so many more triggers were answered."""
        wanted = len(self.transactions) + count
        while len(self.transactions) < wanted:  # noqa: ASYNC110 - the task of `run` appends them
            await asyncio.sleep(_PAUSE_SECONDS)

    async def count_messages(self) -> dict[str, int]:
        """How many messages each trigger led to, when there are as many as triggers or their number no longer grows."""
        counts: Counter[str] = Counter()
        for _ in range(300):
            before, counts = counts, await self._read_counts()
            if len(counts) >= len(self.transactions) and counts == before:
                break
            await asyncio.sleep(0.1)
        return dict(counts)

    async def _read_counts(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for page in itertools.count():
            path = f"/v1/messages?subscriberId={self._name}&limit=1000&page={page}"
            listed = (await self._client.get(path)).json()
            counts.update(one["transactionId"] for one in listed["data"])
            if not listed["hasMore"]:
                return counts
        raise AssertionError("unreachable")
