"""Events beside a million open waits: an idle service, events that nobody waits for, and events that runs wait for.

All are measured before and after the store is filled with waits, and compared with triggers of the same rounds.
"""

import asyncio
import itertools
import sqlite3
from contextlib import closing
from typing import Any

import asyncpg

from bench.client import make_request, send_closed
from bench.content import ensure_inbox, ensure_people, ensure_workflow
from bench.figures import Figure
from bench.processes import cpu_between, cpu_seconds
from bench.systems import Site, System, start_clarion

NAME = "waits"
_WAITS = 1_000_000
_COUNT = 500
_ROUNDS = 3
_IDLE_SECONDS = 6
_CONNECTIONS = 8
_SETTLE_SECONDS = 1.0
_IN_APP = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Order {{payload.order}} is paid"}}
_WAIT = {
    "name": "Wait",
    "type": "wait_for",
    "controlValues": {
        "event": "order.paid",
        "match": [{"path": "order", "value": "{{payload.order}}"}],
        "timeout": {"amount": 60, "unit": "days"},
    },
}
_KINDS = ("trigger", "unmatched event", "waiting trigger", "matched event")
_numbers = itertools.count(1)

_FILL_SQLITE = """
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2)
    INSERT INTO event_waits (environment_id, job_id, subscriber_id, lane, event, rule, since, until, missed)
    SELECT ?1, randomblob(16), randomblob(16), n % 32, 'order.paid', '{"pairs":[["order","1"]]}', 1, 4102444800000, 0
    FROM numbers
"""
_FILL_POSTGRES = """
    INSERT INTO event_waits (environment_id, job_id, subscriber_id, lane, event, rule, since, until, missed)
    SELECT $1, gen_random_uuid(), gen_random_uuid(), n % 32, 'order.paid', '{"pairs":[["order","1"]]}', 1,
        4102444800000, 0
    FROM generate_series(1, $2::bigint) AS n
"""


def figure_name(kind: str, *, filled: bool) -> str:
    return f"{kind.replace(' ', '_')}_cpu_ms_{'filled' if filled else 'empty'}"


async def measure(site: Site, kind: str) -> list[Figure]:
    figures = []
    async with start_clarion(kind, site, NAME) as system:
        await ensure_inbox(system)
        await ensure_people(system, system.scaled(_COUNT))
        await ensure_workflow(system, "bench-plain", [_IN_APP])
        await ensure_workflow(system, "bench-waits", [_WAIT, _IN_APP])
        figures += await _measure(system, filled=False)
        me = await system.request("GET", "/v1/environments/me")
        environment, count = me["_id"], system.scaled(_WAITS)
        folder, url = system.folder, system.database_url
    if url is None:
        with closing(sqlite3.connect(folder / "clarion.db")) as store:
            store.execute(_FILL_SQLITE, (bytes.fromhex(environment.replace("-", "")), count))
            store.commit()
    else:
        connection = await asyncpg.connect(url)
        await connection.execute(_FILL_POSTGRES, environment, count)
        await connection.execute("VACUUM (ANALYZE) event_waits")
        await connection.close()
    async with start_clarion(kind, site, NAME) as system:
        return figures + await _measure(system, filled=True)


async def _measure(system: System, *, filled: bool) -> list[Figure]:
    await asyncio.sleep(_SETTLE_SECONDS)
    before = cpu_seconds(system.groups)
    await asyncio.sleep(_IDLE_SECONDS)
    idle = sum(cpu_between(before, cpu_seconds(system.groups)).values()) / _IDLE_SECONDS * 100
    figures = [Figure(NAME, system.kind, f"idle_percent_{'filled' if filled else 'empty'}", idle, "%")]
    for number in range(_ROUNDS + 1):
        order = next(_numbers)
        for kind in _KINDS:
            used = await _measure_kind(system, kind, order)
            if number:  # The first round fills caches.
                figures.append(Figure(NAME, system.kind, figure_name(kind, filled=filled), used, "ms"))
    return figures


async def _measure_kind(system: System, kind: str, order: int) -> float:
    """Return the CPU time of one request of the kind, with what follows from it in the background."""
    count = system.scaled(_COUNT)
    requests = [_make_request(system, kind, f"person-{number}", order) for number in range(count)]
    before = cpu_seconds(system.groups)
    load = await send_closed(system.address, requests, connections=_CONNECTIONS)
    load.require(201)
    await asyncio.sleep(_SETTLE_SECONDS)
    return sum(cpu_between(before, cpu_seconds(system.groups)).values()) / count * 1_000


def _make_request(system: System, kind: str, person: str, order: int) -> bytes:
    path, body = "/v1/events/trigger", dict[str, Any](to=person)
    match kind:
        case "trigger":
            body |= {"name": "bench-plain", "payload": {"order": order}}
        case "waiting trigger":
            body |= {"name": "bench-waits", "payload": {"order": order}}
        case _:
            path = "/v1/events/emit"
            body |= {"name": "order.paid", "data": {"order": order}}
    return make_request("POST", path, key=system.key, body=body)
