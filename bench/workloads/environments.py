"""What other environments cost: twenty busy ones that share a worker, and ten thousand idle ones."""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack

from bench.client import make_request, send_closed, send_open
from bench.content import ensure_inbox, ensure_people, ensure_workflow
from bench.figures import Figure
from bench.stores import Store, open_store
from bench.systems import CLARION, POSTGRES, SQLITE, Site, System, clarion_on_postgres, clarion_on_sqlite
from bench.tenants import make_idle_environments, make_tenants, make_waiting_jobs
from bench.usage import cpu_between, cpu_seconds, suspended
from bench.workloads import trigger

BUSY, BUSY_BULK, IDLE, WAITING = "20 environments", "20 environments, bulk", "idle environments", "waiting environments"

_TENANTS = 20
_ROUNDS = 3
_TRIGGERS = 4000
_PEOPLE = 200
_BULK = 100
_CONNECTIONS = 128
_BULK_CONNECTIONS = 20

_IDLE = 10_000
_QUIET_ROUNDS = 2
_SINGLE = 300
_SINGLE_RATE = 40
_SETTLE_SECONDS = 3
_IDLE_SECONDS = 10
_TIMEOUT_SECONDS = 120
_DELAY = "bench-delay"

_numbers = itertools.count()


async def measure(site: Site) -> list[Figure]:
    figures = []
    for kind in CLARION:
        async with _start(kind, site, "tenants") as system:
            figures += await _measure_busy(system)
    return figures + await _measure_idle(site)


def _start(kind: str, site: Site, name: str) -> AbstractAsyncContextManager[System]:
    if kind == SQLITE:
        return clarion_on_sqlite(site.folder / f"{name}-sqlite")
    return clarion_on_postgres(site.folder / name, site.server, database=name)


async def _measure_busy(system: System) -> list[Figure]:
    """Compare triggers of one environment with the same number of twenty, one a request and a hundred a request."""
    tenants = await make_tenants(system, _TENANTS)
    for tenant in tenants:
        await _prepare(tenant)
    loads: dict[str, Callable[[Sequence[System]], list[bytes]]] = {BUSY: _make_single, BUSY_BULK: _make_bulk}
    figures = []
    for number, (workload, make) in itertools.product(range(_ROUNDS + 1), loads.items()):
        alone = await _run(system, make(tenants[:1]))
        shared = await _run(system, make(tenants))
        if number:  # The first round fills caches.
            figures += [
                Figure(workload, system.kind, "alone_cpu_ms", alone, "ms"),
                Figure(workload, system.kind, "shared_cpu_ms", shared, "ms"),
            ]
    return figures


async def _prepare(tenant: System) -> None:
    await ensure_inbox(tenant)
    await ensure_workflow(tenant, trigger.WORKFLOW, [trigger.IN_APP])
    await ensure_people(tenant, _PEOPLE)


async def _run(system: System, requests: list[bytes]) -> float:
    """Send everything, wait until it is complete, and return the CPU time of a trigger in milliseconds."""
    connections = _BULK_CONNECTIONS if len(requests) < _TRIGGERS else _CONNECTIONS
    async with open_store(system) as store:
        messages = await store.count_messages()
        before = cpu_seconds(system.groups)
        load = await send_closed(system.address, requests, connections=connections)
        load.require(201)
        await _wait_for_queue(store)
        used = sum(cpu_between(before, cpu_seconds(system.groups)).values())
        completed = await store.count_messages() - messages
    if completed != _TRIGGERS:
        raise RuntimeError(f"{completed} of {_TRIGGERS} messages came")
    return used * 1000 / _TRIGGERS


async def _wait_for_queue(store: Store) -> None:
    """Wait until no trigger is queued: its message is committed with it."""
    async with asyncio.timeout(_TIMEOUT_SECONDS):
        while await store.has_queued_triggers():  # noqa: ASYNC110 - another process empties it
            await asyncio.sleep(0.05)


def _make_single(tenants: Sequence[System]) -> list[bytes]:
    """Make one request for each trigger, the environments in turn."""
    return [
        make_request("POST", "/v1/events/trigger", key=tenant.key, body=_event(next(_numbers)))
        for _, tenant in zip(range(_TRIGGERS), itertools.cycle(tenants), strict=False)
    ]


def _make_bulk(tenants: Sequence[System]) -> list[bytes]:
    return [
        make_request(
            "POST",
            "/v1/events/trigger/bulk",
            key=tenant.key,
            body={"events": [_event(next(_numbers)) for _ in range(_BULK)]},
        )
        for _, tenant in zip(range(_TRIGGERS // _BULK), itertools.cycle(tenants), strict=False)
    ]


def _event(number: int) -> dict[str, object]:
    return {
        "name": trigger.WORKFLOW,
        "to": f"person-{number % _PEOPLE}",
        "payload": {"name": "Ann", "seq": number, "plan": "pro"},
    }


async def _measure_idle(site: Site) -> list[Figure]:
    """Compare single triggers on a store of few environments with those on stores that have ten thousand more."""
    figures: list[Figure] = []
    async with AsyncExitStack() as started:
        few, idle, waiting = [
            await started.enter_async_context(_start(POSTGRES, site, name)) for name in ("few", "idle", "waiting")
        ]
        for system in (few, idle, waiting):
            await _prepare(system)
        await make_idle_environments(idle, _IDLE)
        await _make_waiting(waiting)
        others = {
            one.folder: [other.own_groups for other in (few, idle, waiting) if other is not one]
            for one in (few, idle, waiting)
        }
        for _ in range(_QUIET_ROUNDS):
            for system, workload, name in ((few, IDLE, "few"), (idle, IDLE, "many"), (waiting, WAITING, "many")):
                with suspended(*others[system.folder]):
                    figures += await _measure_quiet(system, workload, name)
    return figures


async def _make_waiting(system: System) -> None:
    step = {"name": "Delay", "type": "delay", "controlValues": {"type": "regular", "amount": 1, "unit": "days"}}
    await ensure_workflow(system, _DELAY, [step, trigger.IN_APP])
    body = {"name": _DELAY, "to": "person-0", "payload": {}}
    await system.request("POST", "/v1/events/trigger", body)
    await asyncio.sleep(_SETTLE_SECONDS)
    await make_waiting_jobs(system, await make_idle_environments(system, _IDLE))


async def _measure_quiet(system: System, workload: str, name: str) -> list[Figure]:
    """Measure a worker and its database without work, and with a trigger now and then."""
    parts = {part: pids for part, pids in system.groups.items() if part != "api"}
    await asyncio.sleep(_SETTLE_SECONDS)
    before = cpu_seconds(parts)
    await asyncio.sleep(_IDLE_SECONDS)
    resting = cpu_between(before, cpu_seconds(parts))
    requests = [
        make_request("POST", "/v1/events/trigger", key=system.key, body=_event(next(_numbers))) for _ in range(_SINGLE)
    ]
    before = cpu_seconds(parts)
    load = await send_open(system.address, requests, rate=_SINGLE_RATE)
    load.require(201)
    await asyncio.sleep(1)
    used = cpu_between(before, cpu_seconds(parts))
    return [
        Figure(workload, system.kind, f"{name}_cpu_ms", sum(used.values()) * 1000 / _SINGLE, "ms"),
        *(
            Figure(workload, system.kind, f"{name}_resting_{part}_percent", seconds * 100 / _IDLE_SECONDS, "%")
            for part, seconds in resting.items()
        ),
    ]
