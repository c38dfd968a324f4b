"""What more workers bring: a backlog that waits, completed by one, four and eight workers of equal speed.

Each worker gets a fixed share of a core, so that a small machine can run several that do not slow each other down. The
work grows with the number of workers, so that each measurement takes about as long.
"""

import asyncio
import itertools
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from msgspec import Struct

from bench.client import make_request, send_closed
from bench.content import ensure_people, ensure_workflow
from bench.copies import make_topic_members
from bench.figures import Figure
from bench.fleet import Fleet, require_quotas, run_fleet
from bench.processes import cpu_between, cpu_seconds
from bench.systems import POSTGRES, Site, System, start_api
from bench.workloads import trigger
from clarion.clock import SECOND, SystemClock
from clarion.ids import first_id, id_millis

WORKERS = (1, 4, 8)
BACKLOG, FAN_OUT, EVENTS, WINDOWS = "backlog", "fan-out", "digest events", "digest windows"
TITLES = {
    BACKLOG: "Backlog of in-app triggers",
    FAN_OUT: "Fan-out",
    EVENTS: "Events into digest windows",
    WINDOWS: "Closing digest windows",
}
SHARE = 0.1
"""Of a core, for each worker."""

_TRIGGERS_A_WORKER = 5000
_PEOPLE_A_WORKER = 2000
_RECIPIENTS_A_WORKER = 8000
_EVENTS_A_PERSON = 2
_WINDOW_SECONDS = 40
"""Longer than it takes to get all events into their windows."""
_MIN_WINDOW_SECONDS = 10
_DIGEST = "bench-scaling-digest"
_INBOX = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "{{steps.digest.eventCount}}"}}
_BULK = 100
_CONNECTIONS = 8
_POLL_SECONDS = 0.25
_TIMEOUT_SECONDS = 180
_UNCOUNTED_SHARE = 0.1
"""Of the work, at its start: workers that were suspended have to find each other again."""

Accept = Callable[[System], Awaitable[None]]


def workload_name(kind: str, workers: int) -> str:
    return f"{kind}, {workers} worker{'s' if workers > 1 else ''}"


async def measure(site: Site, kind: str) -> list[Figure]:  # noqa: ARG001 - only PostgreSQL has several workers
    require_quotas()
    figures: list[Figure] = []
    async with start_api(site, "scaling") as system:
        await _prepare(system)
        for workers in WORKERS:
            async with run_fleet(system, workers, SHARE) as fleet, open_counter(system) as counter:
                figures += await _measure(fleet, counter)
    return figures


async def _prepare(system: System) -> None:
    await ensure_workflow(system, trigger.WORKFLOW, [trigger.IN_APP])
    window = {
        "type": "regular",
        "amount": max(system.scaled(_WINDOW_SECONDS), _MIN_WINDOW_SECONDS),
        "unit": "seconds",
    }
    await ensure_workflow(system, _DIGEST, [{"name": "Digest", "type": "digest", "controlValues": window}, _INBOX])
    await ensure_people(system, system.scaled(_PEOPLE_A_WORKER) * max(WORKERS))
    recipients = {workers: system.scaled(_RECIPIENTS_A_WORKER) * workers for workers in WORKERS}
    await make_topic_members(
        system, max(recipients.values()), {_topic(workers): count for workers, count in recipients.items()}
    )


async def _measure(fleet: Fleet, counter: "Counter") -> list[Figure]:
    workers = len(fleet.members)
    triggers, people, recipients = (
        fleet.system.scaled(count) * workers for count in (_TRIGGERS_A_WORKER, _PEOPLE_A_WORKER, _RECIPIENTS_A_WORKER)
    )
    events, everyone = people * _EVENTS_A_PERSON, fleet.system.scaled(_PEOPLE_A_WORKER) * max(WORKERS)
    in_app = await _drain(fleet, counter, "messages", triggers, _accept(trigger.WORKFLOW, triggers, people=everyone))
    fan_out = await _drain(fleet, counter, "messages", recipients, _accept_fan_out(_topic(workers)))
    taken = await _drain(fleet, counter, "notifications", events, _accept(_DIGEST, events, people=people))
    closed = await _drain(fleet, counter, "messages", people, _wait_for_windows(counter))
    drained = dict(zip(TITLES, (in_app, fan_out, taken, closed), strict=True))
    return [figure for kind, one in drained.items() for figure in one.figures(workload_name(kind, workers))]


class Drained(Struct, frozen=True, kw_only=True):
    """A completed backlog."""

    per_second: float
    quota_used: float
    """CPU time of the workers as a share of what their quotas allow; less than 1 if something else was the limit."""
    worker_cpu_ms: float
    postgres_cpu_ms: float
    postgres_cores: float

    def figures(self, workload: str) -> list[Figure]:
        def figure(name: str, value: float, unit: str) -> Figure:
            return Figure(workload, POSTGRES, name, value, unit)

        return [
            figure("per_second", self.per_second, "1/s"),
            figure("cpu_worker_ms", self.worker_cpu_ms, "ms"),
            figure("cpu_postgres_ms", self.postgres_cpu_ms, "ms"),
            figure("quota_used", self.quota_used, ""),
            figure("postgres_cores", self.postgres_cores, ""),
        ]


async def _drain(fleet: Fleet, counter: "Counter", table: str, count: int, accept: Accept) -> Drained:
    """Let work gather while the workers are suspended, then measure how they complete it."""
    counter.start(table)
    with fleet.at_rest():
        await accept(fleet.system)
    before, began = cpu_seconds(fleet.groups), time.monotonic()
    await counter.wait_for(count)
    used, seconds = cpu_between(before, cpu_seconds(fleet.groups)), time.monotonic() - began
    moments = await counter.list_moments()
    return Drained(
        per_second=rate_of(moments),
        quota_used=used["worker"] / (seconds * fleet.share * len(fleet.members)),
        worker_cpu_ms=used["worker"] * 1000 / count,
        postgres_cpu_ms=used["postgres"] * 1000 / count,
        postgres_cores=used["postgres"] / seconds,
    )


def rate_of(moments: Sequence[int]) -> float:
    """Return the rate per second of milliseconds in ascending order, without the first tenth."""
    first = int(len(moments) * _UNCOUNTED_SHARE)
    return (len(moments) - 1 - first) * 1000 / max(moments[-1] - moments[first], 1)


@asynccontextmanager
async def open_counter(system: System) -> AsyncIterator["Counter"]:
    connection = await asyncpg.connect(system.database_url)
    try:
        yield Counter(connection, await connection.fetchval("SELECT id FROM environments WHERE name = 'Development'"))
    finally:
        await connection.close()


class Counter:
    """Counts new rows of one table; ids are ordered by time, and several workers commit them in another order."""

    def __init__(self, connection: Any, environment_id: uuid.UUID) -> None:
        self._connection = connection
        self._scope = "environment_id = $1 AND id > $2"
        self._environment_id = environment_id
        self._table = "messages"
        self._after = uuid.UUID(int=0)

    def start(self, table: str) -> None:
        """Count rows of this table from now on."""
        self._table = table
        self._after = uuid.UUID(bytes=first_id(SystemClock().now()))

    async def count(self) -> int:
        query = f"SELECT count(*) FROM {self._table} WHERE {self._scope}"
        return int(await self._connection.fetchval(query, self._environment_id, self._after))

    async def wait_for(self, count: int) -> None:
        """Wait for exactly this number of rows."""
        until = time.monotonic() + _TIMEOUT_SECONDS
        while (found := await self.count()) < count:
            if time.monotonic() > until:
                raise RuntimeError(f"only {found} of {count} {self._table} came")
            await asyncio.sleep(_POLL_SECONDS)
        if found > count:
            raise RuntimeError(f"{found} {self._table} came where {count} were due")

    async def list_moments(self) -> list[int]:
        """Return when the rows were made, as milliseconds in ascending order: the beginning of their unit of work."""
        query = f"SELECT id FROM {self._table} WHERE {self._scope} ORDER BY id"
        rows = await self._connection.fetch(query, self._environment_id, self._after)
        return [id_millis(row["id"].bytes) for row in rows]

    async def find_last_window(self) -> int:
        """Return when the last open digest window ends, in milliseconds."""
        return int(await self._connection.fetchval("SELECT max(closes_at) FROM digest_windows"))


def _accept(workflow: str, count: int, *, people: int) -> Accept:
    async def accept(system: System) -> None:
        numbers = iter(range(count))
        requests = []
        while batch := list(itertools.islice(numbers, _BULK)):
            events = [
                {"name": workflow, "to": f"person-{number % people}", "payload": _payload(number)} for number in batch
            ]
            requests.append(make_request("POST", "/v1/events/trigger/bulk", key=system.key, body={"events": events}))
        (await send_closed(system.address, requests, connections=_CONNECTIONS)).require(201)

    return accept


def _accept_fan_out(topic: str) -> Accept:
    async def accept(system: System) -> None:
        body = {"name": trigger.WORKFLOW, "to": {"type": "Topic", "topicKey": topic}, "payload": _payload(0)}
        await system.request("POST", "/v1/events/trigger", body)

    return accept


def _wait_for_windows(counter: Counter) -> Accept:
    """Wait until all windows have ended; no worker can close one meanwhile."""

    async def wait(_: System) -> None:
        ends_at = await counter.find_last_window()
        await asyncio.sleep(max(ends_at - SystemClock().now(), 0) / SECOND)

    return wait


def _payload(number: int) -> dict[str, Any]:
    return {"name": "Ann", "seq": number, "plan": "pro"}


def _topic(workers: int) -> str:
    return f"bench-scaling-{workers}"
