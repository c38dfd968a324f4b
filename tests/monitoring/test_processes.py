"""Real processes are watched: by their monitoring port, by a file, and by `clarion status`."""

import asyncio
import io
import json
import re
import subprocess
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from rich.console import Console

from clarion.cli.status import render_status
from clarion.db.migrations.migrate import migrate_postgres, migrate_sqlite
from clarion.db.sqlite.database import connect
from clarion.errors import SettingsError, StoreUnavailable
from clarion.monitoring.answers import Answers
from clarion.monitoring.port import MonitoringPort
from clarion.monitoring.status import InstallationStatus, read_status
from clarion.secret import Secret
from clarion.settings.model import Settings
from tests.cli.support import run_here
from tests.monitoring.support import Metrics
from tests.processes import Process, Start

Run = Callable[..., subprocess.CompletedProcess[str]]
WORKFLOW = {
    "name": "Welcome",
    "workflowId": "welcome",
    "active": True,
    "steps": [{"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hello"}}],
}


def find_monitor(process: Process) -> str:
    found = re.search(r"Monitoring: (http://[\d.:]+)/metrics", process.output)
    assert found, process.output
    return found[1]


def settings_of(store: list[str]) -> Settings:
    options = dict(zip(store[::2], store[1::2], strict=True))
    return Settings.load({}, data_dir=options["--data-dir"], database_url=options.get("--database-url"))


def render(status: InstallationStatus) -> str:
    console = Console(width=200, file=io.StringIO(), record=True)
    console.print(render_status(status))
    return console.export_text()


async def wait_until(
    read: Callable[[], Coroutine[Any, Any, InstallationStatus]], is_done: Callable[[InstallationStatus], bool]
) -> InstallationStatus:
    async with asyncio.timeout(60):
        while not is_done(status := await read()):  # noqa: ASYNC110 - another process does it
            await asyncio.sleep(0.1)
    return status


async def test_status_shows_a_process_that_runs_and_that_it_was_stopped(
    start: Start, run_command: Run, store: list[str]
) -> None:
    process, settings = start("serve", *store), settings_of(store)

    running = await wait_until(lambda: read_status(settings), lambda status: bool(status.alive))
    shown = await asyncio.to_thread(run_command, "status", *store)
    assert process.stop() == 0
    stopped = await asyncio.to_thread(run_command, "status", "--json", *store)

    (one,) = running.processes
    assert (one.kind, one.pid, one.report.is_ready) == ("serve", process.popen.pid, True)
    assert running.is_current
    assert running.size_bytes > 10_000
    assert re.search(rf"serve .* {process.popen.pid} .* ready ", render(running))
    assert (shown.returncode, stopped.returncode) == (0, 1)
    document = json.loads(stopped.stdout)
    assert (document["running"], document["processes"]) == (False, [])
    assert document["backlog"]["lane"] == {"count": 0, "isCapped": False, "oldestSeconds": 0.0}


async def test_status_says_what_is_the_matter_with_a_store(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    with pytest.raises(StoreUnavailable, match="There is no store"):
        await read_status(settings)
    migrate_sqlite(tmp_path / "clarion.db")

    stopped = render(await read_status(settings))

    with closing(connect(tmp_path / "clarion.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0000'")
    old = await asyncio.to_thread(run_here, "status", "--data-dir", str(tmp_path))
    assert (old.exit_code, "run `clarion migrate`" in old.output) == (1, True)
    assert "No process is running" in stopped
    assert "Open circuits: none" in stopped


async def test_a_worker_is_watched_by_its_port_and_its_file(
    start: Start, fresh_postgres_url: str, tmp_path: Path
) -> None:
    store = ["--data-dir", str(tmp_path), "--database-url", fresh_postgres_url]
    await migrate_postgres(fresh_postgres_url)
    file, settings = tmp_path / "healthy", settings_of(store)
    api = await asyncio.to_thread(start, "api", *store, CLARION_MONITOR_PORT="0")
    environ = {"CLARION_MONITOR_PORT": "0", "CLARION_HEALTH_FILE": str(file)}
    worker = await asyncio.to_thread(start, "worker", *store, **environ)
    async with api.client(api.keys["Development"]) as client:
        assert (await client.post("/v2/workflows", json=WORKFLOW)).status_code == 201
        assert (await client.post("/v1/events/trigger", json={"name": "welcome", "to": "ada"})).status_code == 201

    async with httpx.AsyncClient(base_url=find_monitor(worker), timeout=30) as client:
        live, ready = await client.get("/live"), await client.get("/ready")
        worked = await wait_for(client, "clarion_runs_completed_total")
        unknown, posted = await client.get("/v2/subscribers"), await client.post("/ready")
    accepted = Metrics((await get(f"{find_monitor(api)}/metrics")).text)
    status = await wait_until(lambda: read_status(settings), lambda status: len(status.alive) == 2 and file.exists())
    assert await asyncio.to_thread(worker.stop) == 0

    assert (live.status_code, ready.status_code, unknown.status_code, posted.status_code) == (200, 200, 404, 405)
    assert worked.get("clarion_messages_total", channel="in_app", outcome="sent") == 1
    assert worked.get("clarion_build_info", kind="worker", version="0.1.0") == 1
    assert worked.get("clarion_database_connections_limit") == 10
    assert accepted.get("clarion_triggers_accepted_total") == 1
    assert [one.kind for one in status.processes] == ["api", "worker"]
    assert not file.exists()


async def test_metrics_are_on_a_port_of_their_own_which_answers_until_the_process_has_ended(
    start: Start, tmp_path: Path
) -> None:
    process = start("serve", "--data-dir", str(tmp_path / "data"), CLARION_MONITOR_PORT="0")
    monitor = find_monitor(process)
    public, own = await get(f"{process.address}/metrics"), await get(f"{monitor}/metrics")
    host, _, port = process.address.removeprefix("http://").partition(":")
    # A request whose body is still to come keeps the process from ending at once.
    _, writer = await asyncio.open_connection(host, int(port))
    head = f"POST /v2/subscribers HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey {process.keys['Development']}\r\n"
    writer.write(f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode())
    await writer.drain()
    # Answered later than that request was read.
    await get(f"{process.address}/ready")

    process.popen.terminate()
    ready = await get(f"{monitor}/ready")
    while ready.status_code == 200:
        ready = await get(f"{monitor}/ready")
    live = await get(f"{monitor}/live")
    writer.close()

    assert (public.status_code, own.status_code) == (404, 200)
    assert monitor.startswith("http://127.0.0.1:")
    assert ready.status_code == 503
    assert "The process is stopping" in ready.json()["reasons"]
    assert live.status_code == 200


async def test_a_port_that_is_taken_is_named() -> None:
    answers: Answers = None  # type: ignore[assignment]
    async with MonitoringPort(answers).listen("127.0.0.1", 0) as port:
        with pytest.raises(SettingsError, match="CLARION_MONITOR_PORT"):
            await MonitoringPort(answers).listen("127.0.0.1", port).__aenter__()


@pytest.mark.parametrize(
    ("setting", "value"),
    [("MONITOR_PORT", "70000"), ("MONITOR_HOST", "not a host"), ("METRICS_TOKEN", "short"), ("HEALTH_FILE", "/no/x")],
)
def test_settings_that_cannot_work_are_refused_by_name(setting: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"CLARION_{setting}"):
        Settings.load({f"CLARION_{setting}": value})


def test_the_token_is_a_secret() -> None:
    settings = Settings.load({"CLARION_METRICS_TOKEN": "a-token-for-prometheus"})

    assert settings.metrics_token == Secret("a-token-for-prometheus")
    assert "a-token" not in repr(settings)


async def get(url: str) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await client.get(url, timeout=30)


async def wait_for(client: httpx.AsyncClient, name: str) -> Metrics:
    async with asyncio.timeout(60):
        while True:
            metrics = Metrics((await client.get("/metrics")).text)
            if metrics.get(name):
                return metrics
            await asyncio.sleep(0.1)
