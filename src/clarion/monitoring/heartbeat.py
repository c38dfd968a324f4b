"""Heartbeats: each process says in the store that it is alive, and what it has done in the last minute."""

import logging
import os
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

import msgspec
from msgspec import Struct

from clarion import BUILD
from clarion.background import BackgroundService, ServiceName
from clarion.clock import MINUTE, SECOND, Clock, Millis
from clarion.db.clock import NOW
from clarion.db.port import Connection, Database, Dialect, Row
from clarion.db.query import Query, sql
from clarion.ids import new_id
from clarion.monitoring.metrics import Measures, MessageOutcome

# On SQLite there is one process, and its disk may sleep while there is nothing to do.
INTERVAL = {Dialect.SQLITE: Millis(30 * SECOND), Dialect.POSTGRES: Millis(10 * SECOND)}
FORGET_AFTER = Millis(10 * MINUTE)
"""How long a process that died stays listed, for those who wonder where it is."""
_MISSED = 3


def _for_each_database(text: str) -> dict[Dialect, Query]:
    return {dialect: sql(text.replace("{now}", now)) for dialect, now in NOW.items()}


BEAT = _for_each_database("""
    INSERT INTO processes (id, kind, host, pid, version, started_at, seen_at, clock_at, report)
    VALUES (:id, :kind, :host, :pid, :version, :started_at, {now}, :clock_at, :report)
    ON CONFLICT (id) DO UPDATE
    SET seen_at = EXCLUDED.seen_at, clock_at = EXCLUDED.clock_at, report = EXCLUDED.report
""")
DELETE_DEAD = _for_each_database("DELETE FROM processes WHERE seen_at < {now} - :age")
LIST_PROCESSES = _for_each_database("""
    SELECT id, kind, host, pid, version, started_at, seen_at, clock_at, report, {now} AS now
    FROM processes ORDER BY kind, started_at, id
""")
LEAVE = sql("DELETE FROM processes WHERE id = :id")

log = logging.getLogger(__name__)


class ProcessReport(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a process says of itself; the counts are those of about the last minute."""

    interval_seconds: float = 30
    """Of its heartbeats."""
    is_ready: bool = True
    failing: list[str] = []
    """Background work that keeps failing."""
    encryption_key_ids: list[str] | None = None
    """Of the keys that it has; None from a process that does not say."""
    seconds: float = 0
    """How long the time is that the counts are of."""
    requests: int = 0
    accepted: int = 0
    completed: int = 0
    sent: int = 0
    failed: int = 0


class ProcessRow(Struct, frozen=True, kw_only=True):
    """A process as the store knows it."""

    kind: str
    host: str
    pid: int
    version: str
    started_at: Millis
    seen_at: Millis
    """By the clock of the database."""
    clock_at: Millis
    """The same moment, by the clock of its machine."""
    report: ProcessReport
    now: Millis
    """By the clock of the database."""
    is_alive: bool

    @property
    def clock_offset_seconds(self) -> float:
        """How far the clock of its machine is ahead of the database's."""
        return (self.clock_at - self.seen_at) / SECOND


async def list_processes(db: Connection) -> list[ProcessRow]:
    """The processes that are alive, and those that died within the last minutes."""
    return [_process_row(row, db.dialect) for row in await db.fetch(LIST_PROCESSES[db.dialect])]


def _process_row(row: Row, dialect: Dialect) -> ProcessRow:
    report = msgspec.json.decode(row["report"], type=ProcessReport)
    return ProcessRow(
        kind=row["kind"],
        host=row["host"],
        pid=row["pid"],
        version=row["version"],
        started_at=row["started_at"],
        seen_at=row["seen_at"],
        clock_at=row["clock_at"],
        report=report,
        now=row["now"],
        is_alive=is_recent(row["now"] - row["seen_at"], report) and _may_exist(row, dialect),
    )


def is_recent(age: int, report: ProcessReport) -> bool:
    """Whether a process whose last heartbeat is so many milliseconds old has missed few others."""
    return age <= _MISSED * report.interval_seconds * SECOND


def _may_exist(row: Row, dialect: Dialect) -> bool:
    """Whether a process is still there, where that can be found out: beside a file it ran on this machine."""
    if dialect is not Dialect.SQLITE or row["host"] != socket.gethostname():
        return True
    try:
        os.kill(row["pid"], 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


class _Counts(Struct, frozen=True):
    at: Millis
    values: Sequence[int] = (0, 0, 0, 0, 0)


class Heartbeat:
    """The heartbeats of this process."""

    def __init__(  # noqa: PLR0913 - what it is composed of
        self,
        database: Database,
        clock: Clock,
        measures: Measures,
        *,
        machine: Clock,
        is_ready: Callable[[], Awaitable[bool]],
        list_failing: Callable[[], Sequence[str]] = list,
        key_ids: Sequence[str] = (),
    ) -> None:
        self._database = database
        self._clock = clock
        self._machine = machine
        self._measures = measures
        self._is_ready = is_ready
        self._list_failing = list_failing
        self._key_ids = list(key_ids)
        self._interval = INTERVAL[database.dialect]
        self._started_at = clock.now()
        self._id = new_id(self._started_at)
        self._has_warned = False
        # As many as cover a minute, and the one before.
        self._counts = deque([_Counts(self._started_at)], maxlen=MINUTE // self._interval + 1)

    def make_service(self, kind: str, *, finish: Callable[[], Awaitable[None]]) -> BackgroundService:
        """Heartbeats, and a warning before the first one if another process serves the same file."""

        async def beat() -> None:
            if not self._has_warned:
                await self.warn_of_others()
                self._has_warned = True
            await self.beat(kind)

        return BackgroundService(
            name=ServiceName.HEARTBEAT, run_once=beat, interval=self._interval / SECOND, finish=finish
        )

    async def warn_of_others(self) -> None:
        """Log a warning if another process serves the same file: no process hears there of the other's work."""
        if self._database.dialect is not Dialect.SQLITE:
            return
        here = (socket.gethostname(), os.getpid())
        for process in await self._database.read(list_processes):
            if process.is_alive and (process.host, process.pid) != here:
                fields = {"kind": process.kind, "host": process.host, "pid": process.pid}
                log.warning("Another process serves this SQLite store; run one, or use PostgreSQL", extra=fields)

    async def beat(self, kind: str) -> None:
        report = self._report(is_ready=await self._is_ready())
        values = {
            "id": self._id,
            "kind": kind,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "version": BUILD,
            "started_at": self._started_at,
            "report": msgspec.json.encode(report).decode(),
        }

        async def write(db: Connection) -> None:
            await db.execute(BEAT[db.dialect], **values, clock_at=self._machine.now())
            await db.execute(DELETE_DEAD[db.dialect], age=FORGET_AFTER)

        await self._database.transaction(write)

    async def leave(self) -> None:
        await self._database.transaction(lambda db: db.execute(LEAVE, id=self._id))

    def _report(self, *, is_ready: bool) -> ProcessReport:
        measures, before = self._measures, self._counts[0]
        present = _Counts(
            self._clock.now(),
            (
                sum(one.seconds.count for one in measures.operations.values()),
                measures.accepted_triggers,
                measures.completed_runs,
                measures.count_messages(MessageOutcome.SENT),
                measures.count_messages(MessageOutcome.FAILED),
            ),
        )
        self._counts.append(present)
        requests, accepted, completed, sent, failed = (
            now - then for now, then in zip(present.values, before.values, strict=True)
        )
        return ProcessReport(
            interval_seconds=self._interval / SECOND,
            is_ready=is_ready,
            failing=list(self._list_failing()),
            encryption_key_ids=self._key_ids,
            seconds=(present.at - before.at) / SECOND,
            requests=requests,
            accepted=accepted,
            completed=completed,
            sent=sent,
            failed=failed,
        )
