"""Looks for work that is due and that no process takes. Each queue is asked for its oldest item, by an index."""

from collections.abc import Iterator

from msgspec import Struct

from clarion.clock import HOUR, MINUTE, SECOND, Millis
from clarion.db.port import Connection
from clarion.db.query import Query, sql
from clarion.environments.model import Environment
from clarion.ids import EnvironmentId
from clarion.jobs.model import Priority
from clarion.monitoring.doctor.model import Finding, fine, problem
from clarion.vocabulary import Channel, count_text

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
