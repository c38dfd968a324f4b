"""Many in-app triggers in one call."""

import asyncio
import itertools

from bench.client import make_request, send_closed
from bench.figures import Figure
from bench.stores import open_store, wait_for_messages
from bench.systems import System
from bench.usage import cpu_between, cpu_seconds
from bench.workloads.trigger import PEOPLE, WORKFLOW

NAME = "bulk"
_CALLS = 60
_EVENTS = 100
_CONNECTIONS = 8

_numbers = itertools.count(1)


async def measure(system: System) -> list[Figure]:
    """Measure CPU time and rate of an event; workflow and subscribers are those of single triggers."""
    requests = [_make_call(system) for _ in range(_CALLS)]
    count = _CALLS * _EVENTS
    async with open_store(system) as store:
        before = cpu_seconds(system.groups)
        load, arrivals = await asyncio.gather(
            send_closed(system.address, requests, connections=_CONNECTIONS), wait_for_messages(store, count)
        )
        used = cpu_between(before, cpu_seconds(system.groups))
    load.require(201)
    return [
        Figure(NAME, system.kind, "cpu_ms", sum(used.values()) * 1000 / count, "ms"),
        Figure(NAME, system.kind, "per_second", count / (arrivals[-1].at - load.began), "1/s"),
    ]


def _make_call(system: System) -> bytes:
    events = [
        {
            "name": WORKFLOW,
            "to": f"person-{number % PEOPLE}",
            "payload": {"name": "Ann", "seq": number, "plan": "pro"},
        }
        for number in itertools.islice(_numbers, _EVENTS)
    ]
    return make_request("POST", "/v1/events/trigger/bulk", key=system.key, body={"events": events})
