"""Heartbeats: which processes are alive, and what they report."""

import os
import socket

from clarion import BUILD
from clarion.app import Application
from clarion.clock import MINUTE, SECOND, ManualClock
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.monitoring.heartbeat import FORGET_AFTER, Heartbeat, ProcessReport, ProcessRow, list_processes
from clarion.monitoring.metrics import Measures, MessageOutcome

AGE = sql("UPDATE processes SET seen_at = seen_at - :age WHERE kind = :kind")


async def is_ready() -> bool:
    return True


async def list_kind(database: Database, kind: str) -> list[ProcessRow]:
    return [one for one in await database.read(list_processes) if one.kind == kind]


async def test_a_process_that_beats_is_alive_until_it_leaves(application: Application, database: Database) -> None:
    heartbeat = application.monitor.heartbeat

    await heartbeat.beat("leaving")
    await heartbeat.beat("leaving")
    (found,) = await list_kind(database, "leaving")
    await heartbeat.leave()

    assert found.is_alive
    assert (found.host, found.pid, found.version) == (socket.gethostname(), os.getpid(), BUILD)
    assert found.report.is_ready
    assert await list_kind(database, "leaving") == []


async def test_the_clock_of_a_process_is_written_beside_that_of_the_database(
    database: Database, clock: ManualClock
) -> None:
    heartbeat = Heartbeat(database, clock, Measures(), machine=clock, is_ready=is_ready)

    await heartbeat.beat("late")
    (found,) = await list_kind(database, "late")
    await heartbeat.leave()

    assert found.clock_at == clock.now()
    assert found.clock_offset_seconds == (clock.now() - found.seen_at) / SECOND


async def test_a_process_that_misses_its_beats_is_gone_and_forgotten_later(
    database: Database, clock: ManualClock
) -> None:
    dead, other = (Heartbeat(database, clock, Measures(), machine=clock, is_ready=is_ready) for _ in range(2))
    await dead.beat("dead")
    (found,) = await list_kind(database, "dead")
    await database.transaction(lambda db: db.execute(AGE, age=2 * MINUTE, kind="dead"))
    (late,) = await list_kind(database, "dead")

    await database.transaction(lambda db: db.execute(AGE, age=FORGET_AFTER + MINUTE, kind="dead"))
    await other.beat("other")
    await other.leave()

    assert (found.is_alive, late.is_alive) == (True, False)
    assert await list_kind(database, "dead") == []


async def test_a_report_has_the_counts_of_the_last_minute(database: Database, clock: ManualClock) -> None:
    measures = Measures()
    heartbeat = Heartbeat(database, clock, measures, machine=clock, is_ready=is_ready)
    reports: list[ProcessReport] = []
    for _ in range(30):
        measures.accepted_triggers += 3
        measures.messages["email", MessageOutcome.SENT] += 2
        measures.messages["email", MessageOutcome.FAILED] += 1
        clock.move(10 * SECOND)
        await heartbeat.beat("counting")
        reports += [one.report for one in await list_kind(database, "counting")]
    await heartbeat.leave()

    first, last = reports[0], reports[-1]
    assert (first.seconds, first.accepted) == (10, 3)
    assert last.accepted / last.seconds == 0.3
    assert (last.sent, last.failed) == (last.accepted * 2 // 3, last.accepted // 3)
