"""The time from sending a trigger to its committed message, when the system is not overloaded.

The store is queried every few milliseconds, and a message counts as committed when a query finds it. The times are too
long by up to `_PAUSE_SECONDS` and the length of a query, which also waits for a core, and never too short.
"""

import asyncio
import math

from bench.client import send_open
from bench.figures import Figure, percentile
from bench.stores import open_store, wait_for_messages
from bench.systems import BASELINE, System
from bench.workloads.trigger import make_triggers, read_number, run_burst

NAME = "latency"
_PAUSE_SECONDS = 0.004
_SECONDS = 5
_SHARE = 0.5


async def measure(system: System) -> list[Figure]:
    """Measure at half of the rate that a burst reaches now."""
    count = system.scaled(200 if system.kind == BASELINE else 2000)
    load, arrivals = await run_burst(system, count)
    rate = _SHARE * count / (arrivals[-1].at - load.began)
    triggers = make_triggers(system, math.ceil(rate * system.scaled(_SECONDS)))
    async with open_store(system) as store:
        load, arrivals = await asyncio.gather(
            send_open(system.address, triggers.requests, rate=rate),
            wait_for_messages(store, len(triggers.requests), pause=_PAUSE_SECONDS),
        )
    load.require(201)
    seconds = [one.at - load.sent[read_number(one.content) - triggers.first] for one in arrivals]
    return [
        Figure(NAME, system.kind, "half_rate", rate, "1/s"),
        Figure(NAME, system.kind, "half_p50_ms", percentile(seconds, 0.5) * 1000, "ms"),
        Figure(NAME, system.kind, "half_p99_ms", percentile(seconds, 0.99) * 1000, "ms"),
    ]
