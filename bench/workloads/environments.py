"""What other environments cost: twenty busy ones that share a worker, and ten thousand idle ones."""

import asyncio
import itertools
from collections.abc import Callable, Sequence

from bench.client import make_request, send_closed, send_open
from bench.content import ensure_inbox, ensure_people, ensure_workflow
from bench.copies import make_idle_environments, make_tenants
from bench.figures import Figure
from bench.processes import cpu_between, cpu_seconds, suspended
from bench.stores import Store, open_store
from bench.systems import Site, System, start_clarion
from bench.workloads import trigger

BUSY, BUSY_BULK, IDLE = "20 environments", "20 environments, bulk", "idle environments"

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

_numbers = itertools.count()


async def measure_busy(site: Site, kind: str) -> list[Figure]:
    """Compare triggers of one environment with the same number of twenty, one a request and a hundred a request."""
    async with start_clarion(kind, site, "tenants") as system:
        tenants = await make_tenants(system, _TENANTS)
        for tenant in tenants:
            await _prepare(tenant)
        return await _measure_busy(system, tenants)


async def _measure_busy(system: System, tenants: Sequence[System]) -> list[Figure]:
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
    count = _count_triggers(system)
    connections = _BULK_CONNECTIONS if len(requests) < count else _CONNECTIONS
    async with open_store(system) as store:
        messages = await store.count_messages()
        before = cpu_seconds(system.groups)
        load = await send_closed(system.address, requests, connections=connections)
        load.require(201)
        await _wait_for_queue(store)
        used = sum(cpu_between(before, cpu_seconds(system.groups)).values())
        completed = await store.count_messages() - messages
    if completed != count:
        raise RuntimeError(f"{completed} of {count} messages came")
    return used * 1000 / count


def _count_triggers(system: System) -> int:
    """Return a number of triggers that gives every environment the same number of bulk requests."""
    share = _TENANTS * _BULK
    return max(system.scaled(_TRIGGERS) // share, 1) * share


async def _wait_for_queue(store: Store) -> None:
    """Wait until no trigger is queued: its message is committed with it."""
    async with asyncio.timeout(_TIMEOUT_SECONDS):
        while await store.has_queued_triggers():  # noqa: ASYNC110 - another process empties it
            await asyncio.sleep(0.05)


def _make_single(tenants: Sequence[System]) -> list[bytes]:
    """Make one request for each trigger, the environments in turn."""
    return [
        make_request("POST", "/v1/events/trigger", key=tenant.key, body=_event(next(_numbers)))
        for _, tenant in zip(range(_count_triggers(tenants[0])), itertools.cycle(tenants), strict=False)
    ]


def _make_bulk(tenants: Sequence[System]) -> list[bytes]:
    return [
        make_request(
            "POST",
            "/v1/events/trigger/bulk",
            key=tenant.key,
            body={"events": [_event(next(_numbers)) for _ in range(_BULK)]},
        )
        for _, tenant in zip(range(_count_triggers(tenants[0]) // _BULK), itertools.cycle(tenants), strict=False)
    ]


def _event(number: int) -> dict[str, object]:
    return {
        "name": trigger.WORKFLOW,
        "to": f"person-{number % _PEOPLE}",
        "payload": {"name": "Ann", "seq": number, "plan": "pro"},
    }


async def measure_idle(site: Site, kind: str) -> list[Figure]:
    """Compare single triggers on a store of few environments with those on a store that has ten thousand more."""
    figures: list[Figure] = []
    async with start_clarion(kind, site, "few") as few, start_clarion(kind, site, "many") as many:
        for system in (few, many):
            await _prepare(system)
        await make_idle_environments(many, site.scaled(_IDLE))
        for _ in range(_QUIET_ROUNDS):
            for system, other, name in ((few, many, "few"), (many, few, "many")):
                with suspended(other.own_groups):
                    figures += await _measure_quiet(system, name)
    return figures


async def _measure_quiet(system: System, name: str) -> list[Figure]:
    """Measure a worker and its database without work, and with a trigger now and then."""
    parts = {part: pids for part, pids in system.groups.items() if part != "api"}
    triggers, idle_seconds = system.scaled(_SINGLE), system.scaled(_IDLE_SECONDS)
    await asyncio.sleep(_SETTLE_SECONDS)
    before = cpu_seconds(parts)
    await asyncio.sleep(idle_seconds)
    resting = cpu_between(before, cpu_seconds(parts))
    requests = [
        make_request("POST", "/v1/events/trigger", key=system.key, body=_event(next(_numbers))) for _ in range(triggers)
    ]
    before = cpu_seconds(parts)
    load = await send_open(system.address, requests, rate=_SINGLE_RATE)
    load.require(201)
    await asyncio.sleep(1)
    used = cpu_between(before, cpu_seconds(parts))
    return [
        Figure(IDLE, system.kind, f"{name}_cpu_ms", sum(used.values()) * 1000 / triggers, "ms"),
        *(
            Figure(IDLE, system.kind, f"{name}_resting_{part}_percent", seconds * 100 / idle_seconds, "%")
            for part, seconds in resting.items()
        ),
    ]
