"""Hosts that HTTP steps call: how many calls each may take at once, and their circuits.

The circuit of a host opens after several failures in a row, as that of an integration does. There is no other host to
go to, so that requests wait while it is open: until it lets one of them try, and no longer than `MAX_REST` in all.
A host without a row is healthy.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from clarion.clock import DAY, MINUTE, SECOND, Millis
from clarion.db.port import Connection, Row
from clarion.db.query import Insert, sql
from clarion.ids import EnvironmentId
from clarion.sending.health import CLOSED, Circuit
from clarion.sending.requests.model import HostReport

MAX_HOST_CALLS: Final = 32
"""Of one process and environment, to one host at a time."""
MAX_REST: Final = Millis(15 * MINUTE)
"""How long requests wait for an open circuit; then they are made however it stands."""
MAX_NEXT_LOOK: Final = Millis(10 * SECOND)
"""After this time, a request that waits looks whether the circuit is closed again."""

_COLUMNS = "host, failures, open_until, paused_until"
LIST_HOSTS = sql(f"SELECT {_COLUMNS} FROM http_hosts WHERE environment_id = :environment_id AND host {{any:hosts}}")
LOCK_HOSTS = sql(f"""
    SELECT {_COLUMNS} FROM http_hosts
    WHERE environment_id = :environment_id AND host {{any:hosts}} ORDER BY host {{for_update}}
""")
INSERT_HOSTS = Insert(
    "http_hosts",
    *("environment_id", "host", "failures", "open_until", "paused_until", "changed_at"),
    on_conflict="ON CONFLICT (environment_id, host) DO NOTHING",
)
UPDATE_HOST = sql("""
    UPDATE http_hosts SET failures = :failures, open_until = :open_until, paused_until = :paused_until,
        changed_at = :now
    WHERE environment_id = :environment_id AND host = :host
""")
# Those that failed long ago and were never called again are forgotten too.
DELETE_HEALTHY = sql("""
    DELETE FROM http_hosts
    WHERE environment_id = :environment_id AND (changed_at < :before OR host {any:hosts} AND failures = 0
        AND open_until IS NULL AND COALESCE(paused_until, 0) <= :now)
""")


class HostHealth(Struct, frozen=True, kw_only=True):
    circuit: Circuit = CLOSED
    paused_until: Millis | None = None
    """The end of the pause that the server asked for."""

    def wait_until(self, now: Millis) -> Millis | None:
        """Until when requests wait; None: they are made now."""
        moments = (self.paused_until, self.circuit.open_until)
        return max((one for one in moments if one is not None and one > now), default=None)


HEALTHY: Final = HostHealth()


class CallShares:
    """How many more calls each host of an environment may take now."""

    def __init__(self, in_flight: Counter[str]) -> None:
        self._in_flight = in_flight

    def take(self, host: str) -> bool:
        """Returns whether there is room for one more call, which is counted."""
        has_room = self._in_flight[host] < MAX_HOST_CALLS
        self._in_flight[host] += has_room
        return has_room


async def list_hosts(db: Connection, environment_id: EnvironmentId, hosts: Iterable[str]) -> dict[str, HostHealth]:
    """What is the matter with hosts; those that are healthy are left out."""
    wanted = sorted(set(hosts))
    rows = await db.fetch(LIST_HOSTS, environment_id=environment_id, hosts=wanted) if wanted else []
    return {row["host"]: _health(row) for row in rows}


async def begin_trials(
    db: Connection, environment_id: EnvironmentId, hosts: Sequence[str], now: Millis
) -> dict[str, HostHealth]:
    """Begin a trial of each host whose circuit is half-open; returns these, as they are from now on."""
    known = await _lock(db, environment_id, hosts)
    begun = {
        host: replace(health, circuit=health.circuit.begin_trial(now))
        for host, health in known.items()
        if health.circuit.is_half_open(now)
    }
    await _update(db, environment_id, begun, now)
    return begun


async def record_host_reports(
    db: Connection, environment_id: EnvironmentId, reports: Sequence[HostReport], now: Millis
) -> None:
    """Record what calls showed about their hosts."""
    if not reports:
        return
    hosts = sorted({one.host for one in reports})
    failing = sorted({one.host for one in reports if not one.is_working or one.wait_until is not None})
    if failing:
        await db.insert_many(INSERT_HOSTS, [(environment_id, one, 0, None, None, now) for one in failing])
    health = await _lock(db, environment_id, hosts)
    for report in reports:
        if report.host in health:
            health[report.host] = _apply(health[report.host], report, now)
    await _update(db, environment_id, health, now)
    await db.execute(DELETE_HEALTHY, environment_id=environment_id, hosts=hosts, now=now, before=Millis(now - DAY))


def _apply(health: HostHealth, report: HostReport, now: Millis) -> HostHealth:
    if not report.is_working:
        return replace(health, circuit=health.circuit.count_failure(now, is_trial=report.is_trial))
    until = max(report.wait_until or Millis(0), health.paused_until or Millis(0))
    return HostHealth(paused_until=until or None)


async def _lock(db: Connection, environment_id: EnvironmentId, hosts: Sequence[str]) -> dict[str, HostHealth]:
    rows = await db.fetch(LOCK_HOSTS, environment_id=environment_id, hosts=list(hosts)) if hosts else []
    return {row["host"]: _health(row) for row in rows}


async def _update(
    db: Connection, environment_id: EnvironmentId, changed: Mapping[str, HostHealth], now: Millis
) -> None:
    for host, health in changed.items():
        await db.execute(
            UPDATE_HOST,
            environment_id=environment_id,
            host=host,
            failures=health.circuit.failures,
            open_until=health.circuit.open_until,
            paused_until=health.paused_until,
            now=now,
        )


def _health(row: Row) -> HostHealth:
    circuit = Circuit(failures=row["failures"], open_until=row["open_until"])
    return HostHealth(circuit=circuit, paused_until=row["paused_until"])
