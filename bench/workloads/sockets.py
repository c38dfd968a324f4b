"""Ten thousand open sockets: their memory, a broadcast to all of them, and how soon a single message arrives."""

import asyncio
import itertools
import time
from typing import Any

import asyncpg
from msgspec import Struct

from bench.client import make_request, send_open
from bench.content import ensure_people, ensure_workflow
from bench.figures import Figure, percentile
from bench.processes import cpu_between, cpu_seconds, memory
from bench.socket_clients import PLAIN, SOCKET_IO, SocketClient, close_sockets, open_sockets
from bench.stores import rows_of
from bench.systems import ENCRYPTION_KEYS, SQLITE, Site, System, start_clarion
from bench.workloads import trigger
from clarion.clock import SystemClock
from clarion.db.sqlite.database import connect
from clarion.http.caller import SubscriberSession
from clarion.ids import EnvironmentId, OrganizationId, SubscriberId
from clarion.inbox.sessions.tokens import SessionTokens
from clarion.vault import Vault

NAME = "sockets"
KINDS = (PLAIN, SOCKET_IO)

_SOCKETS = 10_000
_OTHERS = 2000
_WARM_UP = 200
_SETTLE_SECONDS = 3
_TIMEOUT_SECONDS = 120
_RATE = 1000
_SECONDS = 10
_CONNECTED_EVERY = 20
_ENVIRON = {"CLARION_MAX_CONNECTIONS": "2000", "CLARION_MAX_SOCKETS": "12000"}
_PEOPLE = """
    SELECT s.key, s.id, s.environment_id, e.organization_id
    FROM subscribers AS s JOIN environments AS e ON e.id = s.environment_id
"""

_numbers = itertools.count(1)


class Arrivals:
    """When each message arrived at its socket; in a broadcast all messages have the same number."""

    def __init__(self) -> None:
        self.moments: dict[int, list[float]] = {}

    def add(self, number: int, moment: float) -> None:
        self.moments.setdefault(number, []).append(moment)

    async def wait_for(self, numbers: dict[int, int]) -> None:
        """Wait until each number has arrived as often as given; raise if they do not, or if more do."""
        until = time.monotonic() + _TIMEOUT_SECONDS
        while missing := sum(max(0, count - len(self.moments.get(one, ()))) for one, count in numbers.items()):
            if time.monotonic() > until:
                raise RuntimeError(f"{missing} messages did not arrive")
            await asyncio.sleep(0.02)
        if any(len(self.moments[one]) > count for one, count in numbers.items()):
            raise RuntimeError("a message arrived more than once")


class _Opened(Struct, frozen=True):
    clients: list[SocketClient]
    figures: list[Figure]


def workload_name(kind: str) -> str:
    return f"{NAME}, {kind}"


async def measure(site: Site, kind: str) -> list[Figure]:
    figures = []
    for protocol in KINDS:
        store = f"sockets_{protocol.replace('.', '_')}"
        async with start_clarion(kind, site, store, environ=_ENVIRON) as system:
            await ensure_workflow(system, trigger.WORKFLOW, [trigger.IN_APP])
            await ensure_people(system, site.scaled(_SOCKETS) + site.scaled(_OTHERS))
        # Started again, because free memory that creating people left would be used for sockets.
        async with start_clarion(kind, site, store, environ=_ENVIRON) as system:
            figures += await _measure(system, protocol)
    return figures


async def _measure(system: System, kind: str) -> list[Figure]:
    tokens = await list_tokens(system, system.scaled(_SOCKETS))
    arrivals = Arrivals()
    opened = await _open_all(system, kind, tokens, arrivals)
    try:
        figures = [
            *opened.figures,
            *await _measure_latency(system, kind, arrivals),
            *await _measure_broadcast(system, kind, arrivals),
        ]
        if any(one.is_lost for one in opened.clients):
            raise RuntimeError("sockets were lost")
        return figures
    finally:
        close_sockets(opened.clients)


async def _open_all(system: System, kind: str, tokens: list[str], arrivals: Arrivals) -> _Opened:
    close_sockets(await open_sockets(system.address, kind, tokens[:_WARM_UP], arrivals.add))
    await asyncio.sleep(_SETTLE_SECONDS)
    host = {part: pids for part, pids in system.groups.items() if part in ("api", "serve")}
    resting, used = _resident(host), cpu_seconds(system.groups)
    clients = await open_sockets(system.address, kind, tokens, arrivals.add)
    connecting = sum(cpu_between(used, cpu_seconds(system.groups)).values())
    await asyncio.sleep(_SETTLE_SECONDS)
    each = (_resident(host) - resting) / len(clients)
    return _Opened(
        clients,
        [
            Figure(workload_name(kind), system.kind, "memory_kb", each / 1024, "KB"),
            Figure(workload_name(kind), system.kind, "connect_cpu_ms", connecting * 1000 / len(clients), "ms"),
        ],
    )


async def _measure_latency(system: System, kind: str, arrivals: Arrivals) -> list[Figure]:
    """Trigger for people who are not connected, and now and then for one who is."""
    first, connected, others = next(_numbers) * 1_000_000, system.scaled(_SOCKETS), system.scaled(_OTHERS)
    requests, awaited = [], {}
    for number in range(first, first + _RATE * system.scaled(_SECONDS)):
        is_connected = number % _CONNECTED_EVERY == 0
        person = number % connected if is_connected else connected + number % others
        if is_connected:
            awaited[number] = 1
        requests.append(make_request("POST", "/v1/events/trigger", key=system.key, body=_event(number, person)))
    load = await send_open(system.address, requests, rate=_RATE)
    load.require(201)
    await arrivals.wait_for(awaited)
    seconds = [arrivals.moments[number][0] - load.sent[number - first] for number in awaited]
    return [
        Figure(workload_name(kind), system.kind, "arrival_p50_ms", percentile(seconds, 0.5) * 1000, "ms"),
        Figure(workload_name(kind), system.kind, "arrival_p99_ms", percentile(seconds, 0.99) * 1000, "ms"),
    ]


async def _measure_broadcast(system: System, kind: str, arrivals: Arrivals) -> list[Figure]:
    number, count = next(_numbers) * 1_000_000, system.scaled(_SOCKETS)
    event: dict[str, Any] = _event(number, 0)
    del event["to"]
    before, began = cpu_seconds(system.groups), time.time()
    await system.request("POST", "/v1/events/trigger/broadcast", event)
    await arrivals.wait_for({number: count})
    used = sum(cpu_between(before, cpu_seconds(system.groups)).values())
    return [
        Figure(workload_name(kind), system.kind, "broadcast_seconds", max(arrivals.moments[number]) - began, "s"),
        Figure(workload_name(kind), system.kind, "broadcast_cpu_ms", used * 1000 / count, "ms"),
    ]


def _event(number: int, person: int) -> dict[str, Any]:
    return {
        "name": trigger.WORKFLOW,
        "to": f"person-{person}",
        "payload": {"name": "Ann", "seq": number, "plan": "pro"},
    }


def _resident(groups: dict[str, Any]) -> int:
    return sum(found.resident for found in memory(groups).values())


async def list_tokens(system: System, count: int) -> list[str]:
    """Return the tokens of the first people, in the order of their numbers."""
    if system.kind == SQLITE:
        connection = connect(system.folder / "clarion.db", read_only=True)
        rows = rows_of(connection.execute(_PEOPLE))
        connection.close()
    else:
        opened = await asyncpg.connect(system.database_url)
        rows = [{name: _raw(value) for name, value in row.items()} for row in await opened.fetch(_PEOPLE)]
        await opened.close()
    tokens = SessionTokens(Vault.parse(ENCRYPTION_KEYS), SystemClock())
    found = {
        row["key"]: tokens.issue(
            SubscriberSession(subscriber_id=SubscriberId(row["id"]), epoch=0),
            EnvironmentId(row["environment_id"]),
            OrganizationId(row["organization_id"]),
        )
        for row in rows
    }
    return [found[f"person-{number}"] for number in range(count)]


def _raw(value: Any) -> Any:
    return value if isinstance(value, str) else value.bytes
