"""The time from sending a trigger to its committed message, when the system is not overloaded.

The store is queried every few milliseconds, and a message counts as committed when a query finds it. The times are too
long by up to `_PAUSE_SECONDS` and the length of a query, which also waits for a core, and never too short.
"""

import asyncio

from bench.client import send_open
from bench.figures import Figure, percentile
from bench.stores import open_store, wait_for_messages
from bench.systems import BASELINE, System
from bench.workloads.trigger import make_triggers, read_number, run_burst

NAME = "latency"
_PAUSE_SECONDS = 0.004
_SECONDS = 5
_SHARES = {"quarter": 0.25, "half": 0.5}


async def measure(system: System) -> list[Figure]:
    """Measure at a quarter and at half of the rate that a burst reaches now."""
    count = 200 if system.kind == BASELINE else 2000
    load, arrivals = await run_burst(system, count)
    peak_rate = count / (arrivals[-1].at - load.began)
    figures = []
    for name, share in _SHARES.items():
        figures += await _measure_at(system, name, peak_rate * share)
    return figures


async def _measure_at(system: System, name: str, rate: float) -> list[Figure]:
    triggers = make_triggers(system, int(rate * _SECONDS))
    async with open_store(system) as store:
        load, arrivals = await asyncio.gather(
            send_open(system.address, triggers.requests, rate=rate),
            wait_for_messages(store, len(triggers.requests), pause=_PAUSE_SECONDS),
        )
    load.require(201)
    seconds = [one.at - load.sent[read_number(one.content) - triggers.first] for one in arrivals]
    return [
        Figure(NAME, system.kind, f"{name}_rate", rate, "1/s"),
        Figure(NAME, system.kind, f"{name}_p50_ms", percentile(seconds, 0.5) * 1000, "ms"),
        Figure(NAME, system.kind, f"{name}_p99_ms", percentile(seconds, 0.99) * 1000, "ms"),
    ]
