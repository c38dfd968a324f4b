"""One trigger for all members of a topic."""

import asyncio

from bench.client import make_request, send_closed
from bench.copies import make_topic_members
from bench.figures import Figure
from bench.processes import cpu_between, cpu_seconds
from bench.stores import open_store, wait_for_messages
from bench.systems import System
from bench.workloads.trigger import WORKFLOW

NAME = "fan-out 100000"
_MEMBERS = 100_000
_TOPIC = "bench-fan-out"


async def prepare(system: System) -> None:
    """Create subscribers without preferences, who are the members of a topic."""
    count = system.scaled(_MEMBERS)
    await make_topic_members(system, count, {_TOPIC: count})


async def measure(system: System) -> list[Figure]:
    """Measure CPU time and rate of a recipient."""
    count = system.scaled(_MEMBERS)
    body = {
        "name": WORKFLOW,
        "to": {"type": "Topic", "topicKey": _TOPIC},
        "payload": {"name": "Ann", "seq": 0, "plan": "pro"},
    }
    request = make_request("POST", "/v1/events/trigger", key=system.key, body=body)
    async with open_store(system) as store:
        before = cpu_seconds(system.groups)
        load, arrivals = await asyncio.gather(
            send_closed(system.address, [request]), wait_for_messages(store, count, pause=0.1)
        )
        used = cpu_between(before, cpu_seconds(system.groups))
    load.require(201)
    return [
        Figure(NAME, system.kind, "cpu_ms", sum(used.values()) * 1000 / count, "ms"),
        *(
            Figure(NAME, system.kind, f"cpu_{part}_ms", seconds * 1000 / count, "ms")
            for part, seconds in used.items()
            if len(used) > 1
        ),
        Figure(NAME, system.kind, "per_second", count / (arrivals[-1].at - load.began), "1/s"),
    ]
