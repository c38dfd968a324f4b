"""One trigger for all members of a topic."""

import asyncio

from bench.client import make_request, send_closed
from bench.crowd import make_crowd
from bench.figures import Figure
from bench.stores import open_store, wait_for_messages
from bench.systems import System
from bench.usage import cpu_between, cpu_seconds
from bench.workloads.trigger import WORKFLOW

SMALL, LARGE = 10_000, 100_000


async def prepare(system: System) -> None:
    """Create subscribers without preferences, and a topic of each size."""
    await make_crowd(system, LARGE, {_topic(size): size for size in (SMALL, LARGE)})


async def measure_small(system: System) -> list[Figure]:
    return await _measure(system, SMALL)


async def measure_large(system: System) -> list[Figure]:
    return await _measure(system, LARGE)


async def _measure(system: System, size: int) -> list[Figure]:
    body = {
        "name": WORKFLOW,
        "to": {"type": "Topic", "topicKey": _topic(size)},
        "payload": {"name": "Ann", "seq": 0, "plan": "pro"},
    }
    request = make_request("POST", "/v1/events/trigger", key=system.key, body=body)
    async with open_store(system) as store:
        before = cpu_seconds(system.groups)
        load, arrivals = await asyncio.gather(
            send_closed(system.address, [request]), wait_for_messages(store, size, pause=0.1)
        )
        used = cpu_between(before, cpu_seconds(system.groups))
    load.require(201)
    workload = f"fan-out {size}"
    return [
        Figure(workload, system.kind, "cpu_ms", sum(used.values()) * 1000 / size, "ms"),
        *(
            Figure(workload, system.kind, f"cpu_{part}_ms", seconds * 1000 / size, "ms")
            for part, seconds in used.items()
            if len(used) > 1
        ),
        Figure(workload, system.kind, "per_second", size / (arrivals[-1].at - load.began), "1/s"),
    ]


def _topic(size: int) -> str:
    return f"bench-{size}"
