"""Checks of the processes: which are alive, whether their clocks and versions agree, and whether they take what is due.

Each queue is asked for its oldest item, by an index.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from clarion.clock import HOUR, MINUTE, SECOND, Clock, Millis
from clarion.db.clock import read_time
from clarion.db.port import Connection, Database, Dialect, Row
from clarion.db.query import Query, sql
from clarion.environments.model import Environment
from clarion.ids import EnvironmentId
from clarion.jobs.model import Priority
from clarion.monitoring.doctor.model import Finding, fine, problem, warning
from clarion.vocabulary import Channel, count_text

ALIVE = Millis(MINUTE)
_SMALL_DIFFERENCE = Millis(2 * SECOND)
_LARGE_DIFFERENCE = Millis(30 * SECOND)
_MAX_PROCESSES = 1_000

LIST_PROCESSES = sql("""
    SELECT kind, host, pid, version, seen_at, clock_at FROM processes WHERE seen_at > :since
    ORDER BY seen_at DESC LIMIT :limit
""")
COUNT_WORKERS = sql("SELECT count(*) AS n FROM workers WHERE seen_at > :since")


async def count_alive_workers(database: Database, clock: Clock) -> int:
    """How many processes are alive that do background work."""
    since = await _read_time(database, clock) - ALIVE

    async def count(db: Connection) -> int:
        rows = await db.fetch(LIST_PROCESSES, since=since, limit=_MAX_PROCESSES)
        row = await db.fetch_one(COUNT_WORKERS, since=since)
        worker_count: int = 0 if row is None else row["n"]
        return max(len([one for one in rows if one["kind"] != "api"]), worker_count)

    return await database.read(count)


async def check_processes(database: Database, clock: Clock) -> list[Finding]:
    database_now = await _read_time(database, clock)
    rows = await database.read(lambda db: db.fetch(LIST_PROCESSES, since=database_now - ALIVE, limit=_MAX_PROCESSES))
    findings = [_compare_clocks("this machine", clock.now() - database_now)]
    findings += [
        _compare_clocks(f"process {row['pid']} on {row['host']}", row["clock_at"] - row["seen_at"]) for row in rows
    ]
    processes = count_text(len(rows), "process", "processes")
    wrong = [one for one in findings if one.remedy is not None]
    return [
        *(wrong or [fine("clocks", f"The clocks of {processes} and of this machine agree.")]),
        *_compare_versions(rows),
    ]


async def _read_time(database: Database, clock: Clock) -> Millis:
    return clock.now() if database.dialect is Dialect.SQLITE else await database.read(read_time)


def _compare_clocks(name: str, difference: int) -> Finding:
    if abs(difference) < _SMALL_DIFFERENCE:
        return fine("clocks", f"The clock of {name} is right.")
    direction = "ahead of" if difference > 0 else "behind"
    report = problem if abs(difference) >= _LARGE_DIFFERENCE else warning
    return report(
        "clocks",
        f"The clock of {name} is {abs(difference) / SECOND:.0f} s {direction} the database's.",
        "Synchronize it (NTP): delays, digests, leases and expiry follow it.",
    )


def _compare_versions(rows: Sequence[Row]) -> list[Finding]:
    versions = sorted({row["version"] for row in rows})
    if len(versions) < 2:
        return []
    return [
        warning(
            "versions",
            f"Processes of different versions are alive: {', '.join(versions)}.",
            "Unless an upgrade is under way, restart the older ones with the newer version.",
        )
    ]


LATE = Millis(5 * MINUTE)
"""Longer than retries of claims, leases of sends and restarts take."""
_MAX_ENDPOINTS = 200

OLDEST_DECISION = sql("""
    SELECT due_at AS since FROM jobs WHERE environment_id = :environment_id AND queue = 1
    ORDER BY due_at, id LIMIT 1
""")
OLDEST_SEND = sql("""
    SELECT due_at AS since, status FROM jobs
    WHERE environment_id = :environment_id AND queue = 2 AND type = :channel AND priority = :priority
    ORDER BY due_at, id LIMIT 1
""")
OLDEST_QUEUED = sql("""
    SELECT created_at AS since FROM triggers
    WHERE environment_id = :environment_id AND state = 'queued' AND priority = :priority ORDER BY id LIMIT 1
""")
OLDEST_SPLITTING = sql("""
    SELECT created_at AS since FROM triggers
    WHERE environment_id = :environment_id AND state = 'splitting' AND priority = :priority ORDER BY id LIMIT 1
""")
OLDEST_CANCELING = sql("""
    SELECT created_at AS since FROM triggers WHERE environment_id = :environment_id AND state = 'canceling'
    ORDER BY id LIMIT 1
""")
OLDEST_PART = sql("""
    SELECT t.created_at AS since FROM (
        SELECT trigger_id FROM trigger_parts WHERE environment_id = :environment_id AND priority = :priority
        ORDER BY trigger_id, id LIMIT 1
    ) AS p JOIN triggers AS t ON t.environment_id = :environment_id AND t.id = p.trigger_id
""")
OLDEST_DELIVERIES = sql("""
    SELECT (
        SELECT d.due_at FROM webhook_deliveries AS d
        WHERE d.environment_id = :environment_id AND d.endpoint_id = e.id AND d.status = 'queued'
        ORDER BY d.due_at, d.id LIMIT 1
    ) AS since FROM webhook_endpoints AS e WHERE e.environment_id = :environment_id AND e.active LIMIT :limit
""")


class Oldest(Struct, frozen=True):
    """The oldest item of a queue."""

    queue: str
    since: Millis


async def check_queues(
    db: Connection, environments: list[Environment], *, now: Millis, worker_count: int | None
) -> list[Finding]:
    """Find queues whose oldest item is late; `worker_count` is None where processes write no heartbeats."""
    findings: list[Finding] = []
    for environment in environments:
        late = [one for one in await list_oldest(db, environment.id) if one.since <= now - LATE]
        findings += [_describe(environment, one, now, worker_count) for one in late]
    return findings or [fine("queues", f"Nothing has been waiting for {LATE // MINUTE} minutes or longer.")]


async def list_oldest(db: Connection, environment_id: EnvironmentId) -> list[Oldest]:
    """The oldest item of each queue of an environment that has any."""
    oldest: list[Oldest] = []
    for queue, query, parameters in _list_questions():
        rows = await db.fetch(query, environment_id=environment_id, **parameters)
        for row in rows:
            if row["since"] is not None:
                name = f"{queue} whose lease is over" if row.get("status") == "running" else queue
                oldest.append(Oldest(name, row["since"]))
    first: dict[str, Oldest] = {}
    for one in sorted(oldest, key=lambda one: one.since):
        first.setdefault(one.queue, one)
    return list(first.values())


def _list_questions() -> Iterator[tuple[str, Query, dict[str, object]]]:
    yield "run", OLDEST_DECISION, {}
    yield "cancellation", OLDEST_CANCELING, {}
    yield "webhook", OLDEST_DELIVERIES, {"limit": _MAX_ENDPOINTS}
    for priority in Priority:
        yield "trigger", OLDEST_QUEUED, {"priority": priority}
        yield "trigger", OLDEST_SPLITTING, {"priority": priority}
        yield "trigger", OLDEST_PART, {"priority": priority}
        for channel in Channel:
            yield f"{channel} send", OLDEST_SEND, {"channel": channel, "priority": priority}


def _describe(environment: Environment, oldest: Oldest, now: Millis, worker_count: int | None) -> Finding:
    if worker_count == 0:
        remedy = "No worker is alive: start `clarion worker`, or `clarion serve`."
    else:
        remedy = (
            "Look whether a worker is running and at its log: errors there name the item. If there are none and it "
            "does not get done, restart the worker; nothing is lost by that."
        )
    return problem(
        "queues", f"In {environment.name}, the oldest {oldest.queue} is due since {_age(now - oldest.since)}.", remedy
    )


def _age(milliseconds: int) -> str:
    if milliseconds >= 2 * HOUR:
        return f"{milliseconds // HOUR} hours"
    if milliseconds >= MINUTE:
        return count_text(milliseconds // MINUTE, "minute", "minutes")
    return count_text(milliseconds // SECOND, "second", "seconds")
