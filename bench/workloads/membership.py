"""Workers that come and go under load: a fifth worker starts, then one of five is killed.

The rate must follow the number of workers within seconds, and nothing may be lost or happen twice.
"""

import asyncio
import itertools
import math
import time
from bisect import bisect_left
from collections.abc import Sequence

import asyncpg

from bench.client import make_request, send_closed
from bench.content import ensure_people, ensure_workflow
from bench.figures import Figure
from bench.fleet import Fleet, require_quotas, run_fleet
from bench.processes import cpu_between, cpu_seconds
from bench.systems import POSTGRES, Site, System, start_api
from bench.workloads import trigger
from bench.workloads.scaling import Counter, open_counter
from clarion.clock import SECOND, SystemClock
from clarion.db.postgres.database import PostgresDatabase
from clarion.ids import id_millis
from clarion.jobs.lanes import LANES, lane_of
from tests.chaos.invariants import find_broken

NAME = "membership"

_WORKERS = 4
_SHARE = 0.05
_PHASE_SECONDS = 14
_SETTLED_SECONDS = 4
"""Of each phase, at its end: the rate that the workers have reached."""
_TRIGGERS = 90_000
_MIN_TRIGGERS = 20_000
"""A worker takes as long to start in a small measurement, and the others go on meanwhile."""
_PEOPLE = 4000
_BULK = 100
_CONNECTIONS = 8
_WINDOW_MILLISECONDS = 2000
_STEP_MILLISECONDS = 250
_RECOVERED_SHARE = 0.9


async def measure(site: Site, kind: str) -> list[Figure]:  # noqa: ARG001 - only PostgreSQL has several workers
    require_quotas()
    async with start_api(site, NAME) as system:
        await ensure_workflow(system, trigger.WORKFLOW, [trigger.IN_APP])
        await ensure_people(system, _PEOPLE)
        async with run_fleet(system, _WORKERS, _SHARE) as fleet, open_counter(system) as counter:
            figures = await _measure(fleet, counter)
        return [*figures, Figure(NAME, POSTGRES, "broken_rules", await _count_broken(system), "")]


async def _measure(fleet: Fleet, counter: Counter) -> list[Figure]:
    scaled = fleet.system.scaled
    triggers = max(scaled(_TRIGGERS), _MIN_TRIGGERS)
    phase, settled_seconds = scaled(_PHASE_SECONDS), scaled(_SETTLED_SECONDS)
    counter.start("messages")
    with fleet.at_rest():
        await _accept(fleet.system, triggers)
    await asyncio.sleep(phase)
    before = SystemClock().now()
    newcomer = await fleet.add_member()
    joined = SystemClock().now()
    await asyncio.sleep(phase - settled_seconds)
    share = await _share_of(newcomer.pid, settled_seconds)
    killed = SystemClock().now()
    victim = fleet.members.pop(0)
    victim.kill()
    await asyncio.sleep(phase)
    ended, completed = SystemClock().now(), await counter.count()
    if completed >= triggers:
        raise RuntimeError(f"{triggers} triggers were complete before the end; more are needed on this machine")
    fleet.lift_quotas()
    await counter.wait_for(triggers)
    arrivals = await _list_arrivals(fleet.system)
    moments = [moment for moment, _ in arrivals]
    settled = settled_seconds * SECOND
    four = rate_between(moments, before - settled, before)
    five = rate_between(moments, killed - settled, killed)
    return [
        Figure(NAME, POSTGRES, "four_workers_per_second", four, "1/s"),
        Figure(NAME, POSTGRES, "five_workers_per_second", five, "1/s"),
        Figure(NAME, POSTGRES, "after_the_kill_per_second", rate_between(moments, ended - settled, ended), "1/s"),
        Figure(NAME, POSTGRES, "newcomer_quota_used", share / _SHARE, ""),
        Figure(NAME, POSTGRES, "start_recovery_seconds", recovery_seconds(moments, joined, four * 5 / 4), "s"),
        Figure(NAME, POSTGRES, "kill_recovery_seconds", recovery_seconds(moments, killed, four), "s"),
        Figure(NAME, POSTGRES, "silence_before_seconds", longest_silence(arrivals, before - settled, before), "s"),
        Figure(NAME, POSTGRES, "silence_after_kill_seconds", longest_silence(arrivals, killed, ended), "s"),
    ]


async def _list_arrivals(system: System) -> list[tuple[int, int]]:
    """Return when each message was made, in ascending order, and the lane of its person."""
    connection = await asyncpg.connect(system.database_url)
    try:
        rows = await connection.fetch("""
            SELECT m.id, s.key FROM messages AS m
            JOIN subscribers AS s ON s.environment_id = m.environment_id AND s.id = m.subscriber_id ORDER BY m.id
        """)
    finally:
        await connection.close()
    return [(id_millis(row["id"].bytes), lane_of(row["key"])) for row in rows]


async def _accept(system: System, count: int) -> None:
    numbers = iter(range(count))
    requests = []
    while batch := list(itertools.islice(numbers, _BULK)):
        events = [
            {
                "name": trigger.WORKFLOW,
                "to": f"person-{number % _PEOPLE}",
                "payload": {"name": "Ann", "seq": number, "plan": "pro"},
            }
            for number in batch
        ]
        requests.append(make_request("POST", "/v1/events/trigger/bulk", key=system.key, body={"events": events}))
    (await send_closed(system.address, requests, connections=_CONNECTIONS)).require(201)


async def _share_of(pid: int, seconds: float) -> float:
    """Measure how much of a core a process uses."""
    before, began = cpu_seconds({"worker": [pid]}), time.monotonic()
    await asyncio.sleep(seconds)
    return cpu_between(before, cpu_seconds({"worker": [pid]}))["worker"] / (time.monotonic() - began)


def rate_between(moments: Sequence[int], after: int, until: int) -> float:
    """Return the rate per second between two times; moments are milliseconds in ascending order."""
    return (bisect_left(moments, until) - bisect_left(moments, after)) * SECOND / (until - after)


def recovery_seconds(moments: Sequence[int], since: int, rate: float) -> float:
    """Return after how many seconds a window begins that reaches most of the expected rate; infinite if none does."""
    for start in range(since, moments[-1] - _WINDOW_MILLISECONDS, _STEP_MILLISECONDS):
        if rate_between(moments, start, start + _WINDOW_MILLISECONDS) >= _RECOVERED_SHARE * rate:
            return (start - since) / SECOND
    return math.inf


def longest_silence(arrivals: Sequence[tuple[int, int]], after: int, until: int) -> float:
    """Return for how many seconds at most a lane completed nothing; arrivals are times in ascending order and lanes."""
    last = dict.fromkeys(range(LANES), after)
    longest = 0
    for moment, lane in arrivals:
        if after <= moment < until:
            longest = max(longest, moment - last[lane])
            last[lane] = moment
    return max(longest, until - min(last.values())) / SECOND


async def _count_broken(system: System) -> int:
    """Count the violated rules in the store after all work is done."""
    assert system.database_url is not None
    connection = await asyncpg.connect(system.database_url)
    await connection.execute("ANALYZE")
    await connection.close()
    database = await PostgresDatabase.connect(system.database_url, pool_size=2)
    try:
        return sum((await database.scan(find_broken)).values())
    finally:
        await database.close()
