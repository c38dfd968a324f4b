"""Checks of the processes: which are alive, whether their clocks agree, and whether they are of one version."""

from collections.abc import Sequence

from clarion.clock import MINUTE, SECOND, Clock, Millis
from clarion.db.clock import read_time
from clarion.db.port import Connection, Database, Dialect, Row
from clarion.db.query import sql
from clarion.monitoring.doctor.model import Finding, fine, problem, warning
from clarion.vocabulary import count_text

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
