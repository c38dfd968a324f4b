"""Liveness and readiness, on the port of the API and in a file."""

import asyncio
import threading
from pathlib import Path

import pytest

from clarion.app import Application
from clarion.background import Supervisor
from clarion.db.migrations.revisions import list_known_revisions
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.monitoring.health import LAGGING, STOPPING, UNREACHABLE, HealthFile, Readiness
from clarion.monitoring.watchdog import LoopWatchdog
from tests.support import Api

SET_REVISION = sql("UPDATE alembic_version SET version_num = :revision")


class UnreachableStore:
    """Delegates to a database, but cannot be read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, work: object) -> None:
        await asyncio.Event().wait()


async def test_probes_need_no_key_and_tell_no_secrets(api: Api) -> None:
    live = await api.get("/live", headers={"Authorization": ""})
    ready = await api.get("/ready", headers={"Authorization": ""})

    assert (live.status_code, live.json()) == (200, {"status": "alive"})
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})
    assert (await api.head("/ready")).content == b""
    assert (await api.post("/ready")).status_code == 404


async def test_a_process_that_is_stopping_is_alive_but_not_ready(api: Api, application: Application) -> None:
    application.monitor.answers.health.is_stopping = True

    ready = await api.get("/ready")

    assert ready.status_code == 503
    assert ready.json() == {"status": "not ready", "reasons": [STOPPING]}
    assert (await api.get("/live")).status_code == 200


async def test_a_store_of_another_schema_is_not_ready(api: Api, database: Database) -> None:
    async def set_revision(revision: str) -> None:
        await database.transaction(lambda db: db.execute(SET_REVISION, revision=revision))

    needed = list_known_revisions()[-1]
    await set_revision("9999")
    try:
        ready = await api.get("/ready")
    finally:
        await set_revision(needed)

    assert ready.status_code == 503
    assert ready.json()["reasons"] == [f"The store has schema 9999, and this version needs {needed}"]


async def test_a_store_that_does_not_answer_is_not_ready(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clarion.monitoring.health._STORE_SECONDS", 0.01)
    health = Readiness(UnreachableStore(database), LoopWatchdog(), Supervisor())  # type: ignore[arg-type]

    assert await health.list_problems() == [UNREACHABLE]


async def test_a_loop_that_was_blocked_a_moment_ago_is_not_ready(database: Database) -> None:
    watchdog = LoopWatchdog()
    health = Readiness(database, watchdog, Supervisor())
    with watchdog.watch():
        threading.Event().wait(1.5)
        await asyncio.to_thread(wait_until_counted, watchdog)

    assert await health.list_problems() == [LAGGING]


def wait_until_counted(watchdog: LoopWatchdog) -> None:
    while watchdog.find_recent_lag() < 1:
        threading.Event().wait(0.01)


async def test_the_file_exists_while_the_process_is_ready(database: Database, tmp_path: Path) -> None:
    health, path = Readiness(database, LoopWatchdog(), Supervisor()), tmp_path / "healthy"
    file = HealthFile(path, health)

    await file.update()
    was_there = path.exists()
    health.is_stopping = True
    await file.update()

    assert was_there
    assert not path.exists()


async def test_the_file_is_removed_when_the_process_ends(database: Database, tmp_path: Path) -> None:
    path = tmp_path / "healthy"
    file = HealthFile(path, Readiness(database, LoopWatchdog(), Supervisor()))
    task = asyncio.create_task(Supervisor().run([file.make_service()]))
    while not path.exists():  # noqa: ASYNC110 - another task makes it
        await asyncio.sleep(0.01)

    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert not path.exists()
