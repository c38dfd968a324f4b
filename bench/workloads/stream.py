"""The live stream of runs: what a hundred listeners cost the API while a thousand triggers arrive each second."""

import asyncio

from bench.client import send_open
from bench.figures import Figure
from bench.processes import cpu_between, cpu_seconds
from bench.stores import open_store, wait_for_messages
from bench.systems import System
from bench.workloads.trigger import make_triggers

NAME = "stream"

_LISTENERS = 100
_RATE = 1000
_SECONDS = 8
_PAUSE_SECONDS = 0.2
_READ_BYTES = 1 << 20


class _Listeners:
    """Connections that read the stream and count its runs."""

    def __init__(self) -> None:
        self.rows = 0
        self.sampled = 0
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self, system: System, count: int) -> None:
        host, port = system.address.removeprefix("http://").split(":")
        head = f"GET /v1/runs/stream HTTP/1.1\r\nhost: {host}\r\nauthorization: ApiKey {system.key}\r\n\r\n"
        for _ in range(count):
            reader, writer = await asyncio.open_connection(host, int(port), limit=_READ_BYTES)
            writer.write(head.encode())
            await reader.readuntil(b"event: position")
            self._writers.append(writer)
            self._tasks.append(asyncio.create_task(self._count(reader)))

    async def _count(self, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(_READ_BYTES):
            self.rows += data.count(b"event: run\n")
            self.sampled += data.count(b"event: sampled\n")

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        for writer in self._writers:
            writer.close()


async def measure(system: System) -> list[Figure]:
    """Compare the CPU time of the API with and without listeners, at the same rate of triggers."""
    seconds = system.scaled(_SECONDS)
    await load_api(system, seconds)
    without = await load_api(system, seconds)
    count, listeners = system.scaled(_LISTENERS), _Listeners()
    await listeners.open(system, count)
    try:
        with_listeners = await load_api(system, seconds)
    finally:
        listeners.close()
    if not listeners.rows:
        raise RuntimeError("the stream had no runs")
    cost = (with_listeners - without) / seconds
    return [
        Figure(NAME, system.kind, "without_percent", 100 * without / seconds, "%"),
        Figure(NAME, system.kind, "listeners_percent", 100 * cost, "%"),
        Figure(NAME, system.kind, "rows_per_listener", listeners.rows / count / seconds, "1/s"),
    ]


async def load_api(system: System, seconds: int) -> float:
    """Trigger for some seconds, and return the CPU seconds that API processes take for it."""
    groups = {part: pids for part, pids in system.groups.items() if part in ("api", "serve")}
    triggers = make_triggers(system, _RATE * seconds)
    used = cpu_seconds(groups)
    async with open_store(system) as store:
        load, _ = await asyncio.gather(
            send_open(system.address, triggers.requests, rate=_RATE),
            wait_for_messages(store, len(triggers.requests), pause=_PAUSE_SECONDS),
        )
    load.require(201)
    return sum(cpu_between(used, cpu_seconds(groups)).values())
