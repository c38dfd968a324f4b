"""Requests of an inbox: pages of the feed, and marking messages as read."""

from collections.abc import Sequence
from itertools import cycle, islice

from bench.client import make_request, send_closed
from bench.figures import Figure, percentile
from bench.systems import System
from bench.usage import cpu_between, cpu_seconds
from bench.workloads.trigger import PEOPLE

_COUNT = 2000
_CONNECTIONS = 16


async def measure(system: System) -> list[Figure]:
    """Measure both for the subscribers of single triggers, who have messages."""
    keys = [f"person-{number}" for number in range(PEOPLE)]
    feeds = [make_request("GET", _feed(key), key=system.key) for key in islice(cycle(keys), _COUNT)]
    marks = [
        make_request("POST", f"/v1/subscribers/{key}/messages/mark-as", key=system.key, body=body)
        for key, body in islice(cycle(await _marks(system, keys)), _COUNT)
    ]
    return [*await _measure("feed", system, feeds, 200), *await _measure("mark-as", system, marks, 201)]


async def _measure(workload: str, system: System, requests: Sequence[bytes], status: int) -> list[Figure]:
    before = cpu_seconds(system.groups)
    load = await send_closed(system.address, requests, connections=_CONNECTIONS)
    used = cpu_between(before, cpu_seconds(system.groups))
    load.require(status)
    return [
        Figure(workload, system.kind, "cpu_ms", sum(used.values()) * 1000 / len(requests), "ms"),
        Figure(workload, system.kind, "per_second", load.rate, "1/s"),
        Figure(workload, system.kind, "p50_ms", percentile(load.seconds, 0.5) * 1000, "ms"),
        Figure(workload, system.kind, "p99_ms", percentile(load.seconds, 0.99) * 1000, "ms"),
    ]


async def _marks(system: System, keys: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """Return two opposite changes of each subscriber's newest message, so that repeating them changes it every time."""
    newest = [(key, (await system.request("GET", _feed(key)))["data"][0]["_id"]) for key in keys]
    return [(key, {"messageId": found, "markAs": mark}) for mark in ("read", "unread") for key, found in newest]


def _feed(key: str) -> str:
    return f"/v1/subscribers/{key}/notifications/feed?limit=10"
