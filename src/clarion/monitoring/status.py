"""An installation at a glance, read from its store: it works while the service runs and while it does not."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from clarion.clock import Millis
from clarion.db.clock import read_time
from clarion.db.migrations.revisions import list_known_revisions
from clarion.db.open import find_revision, open_store, store_path
from clarion.db.port import Connection, Dialect
from clarion.db.query import sql
from clarion.monitoring.backlog import Queue, QueueBacklog, count_sends_under_way
from clarion.monitoring.heartbeat import ProcessRow, list_processes
from clarion.monitoring.store_state import FailingIntegration, StoreState, read_store_state
from clarion.settings.model import Settings

_DATABASE_BYTES = sql("SELECT pg_database_size(current_database()) AS bytes")


class Rates(Struct, frozen=True, kw_only=True, rename="camel"):
    """Per second, of about the last minute, from the reports of the processes that are alive."""

    requests: float = 0
    accepted: float = 0
    completed: float = 0
    sent: float = 0
    failed: float = 0


class InstallationStatus(Struct, frozen=True, kw_only=True):
    database: Dialect
    schema: str | None
    """None if the store is empty."""
    needed_schema: str
    size_bytes: int
    read_at: Millis
    """By the clock of the database."""
    processes: Sequence[ProcessRow] = ()
    sends_under_way: int = 0
    state: StoreState | None = None
    """None if the store has not the schema of this version."""

    @property
    def alive(self) -> list[ProcessRow]:
        return [one for one in self.processes if one.is_alive]

    @property
    def is_working(self) -> bool:
        """Whether a process runs on a store of this version's schema."""
        return self.is_current and bool(self.alive)

    @property
    def is_current(self) -> bool:
        return self.schema == self.needed_schema

    @property
    def rates(self) -> Rates:
        reports = [one.report for one in self.alive if one.report.seconds > 0]
        return Rates(
            requests=sum(one.requests / one.seconds for one in reports),
            accepted=sum(one.accepted / one.seconds for one in reports),
            completed=sum(one.completed / one.seconds for one in reports),
            sent=sum(one.sent / one.seconds for one in reports),
            failed=sum(one.failed / one.seconds for one in reports),
        )

    @property
    def open_circuits(self) -> list[FailingIntegration]:
        return [] if self.state is None else [one for one in self.state.failing if one.is_open]

    def waiting(self, queue: Queue) -> QueueBacklog:
        return QueueBacklog() if self.state is None else self.state.backlog[queue]


async def read_status(settings: Settings) -> InstallationStatus:
    """Read the status; raises StoreUnavailable if the store does not exist or cannot be reached."""
    revision, needed = await find_revision(settings), list_known_revisions()[-1]
    database = await open_store(settings)
    try:
        path = store_path(settings) if settings.database_url is None else None

        async def read(db: Connection) -> InstallationStatus:
            now, size = await read_time(db), await _read_size(db, path)
            is_current = revision == needed
            return InstallationStatus(
                database=db.dialect,
                schema=revision,
                needed_schema=needed,
                size_bytes=size,
                read_at=now,
                processes=await list_processes(db) if is_current else (),
                sends_under_way=await count_sends_under_way(db, now) if is_current else 0,
                state=await read_store_state(db, now) if is_current else None,
            )

        return await database.scan(read)
    finally:
        await database.close()


async def _read_size(db: Connection, path: Path | None) -> int:
    if path is None:
        row = await db.fetch_one(_DATABASE_BYTES)
        return int(row["bytes"]) if row else 0
    files = [path, *(path.with_name(f"{path.name}-{part}") for part in ("wal", "shm"))]
    return sum(one.stat().st_size for one in files if one.exists())


def status_document(status: InstallationStatus) -> dict[str, object]:
    """The status as JSON, for scripts."""
    state = status.state
    return {
        "running": bool(status.alive),
        "store": {
            "database": status.database,
            "schema": status.schema,
            "neededSchema": status.needed_schema,
            "isCurrent": status.is_current,
            "sizeBytes": status.size_bytes,
        },
        "processes": [_process_document(one) for one in status.processes],
        "backlog": {
            queue: {
                "count": status.waiting(queue).count,
                "isCapped": status.waiting(queue).is_capped,
                "oldestSeconds": status.waiting(queue).seconds(status.read_at),
            }
            for queue in Queue
        },
        "sendsUnderWay": status.sends_under_way,
        "rates": status.rates,
        "openCircuits": [
            {"providerId": one.provider_id, "identifier": one.identifier, "failures": one.failures}
            for one in status.open_circuits
        ],
        "openDigestWindows": 0 if state is None else state.open_windows,
        "deadLetters": 0 if state is None else state.dead_letters,
    }


def _process_document(process: ProcessRow) -> dict[str, object]:
    return {
        "kind": process.kind,
        "host": process.host,
        "pid": process.pid,
        "version": process.version,
        "isAlive": process.is_alive,
        "isReady": process.report.is_ready,
        "startedAt": process.started_at,
        "seenSecondsAgo": (process.now - process.seen_at) / 1000,
        "clockOffsetSeconds": process.clock_offset_seconds,
        "report": process.report,
    }
