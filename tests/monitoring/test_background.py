"""Every service of a process goes on after something unforeseen, and those who watch the process see it."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from msgspec import structs

from clarion.app import Application, build_application
from clarion.background import FAILING_AFTER, BackgroundService, ServiceName
from clarion.clock import ManualClock
from clarion.db.clock import StoreClock
from clarion.db.port import Database, Dialect
from clarion.http.server.connections import ConnectionLimits, ConnectionTable
from clarion.monitoring.health import FAILING
from clarion.monitoring.heartbeat import list_processes
from clarion.monitoring.status import InstallationStatus
from clarion.providers.sending.gateway import ProviderGateway
from clarion.secret import Secret
from clarion.settings.model import Settings
from clarion.vault import Vault
from tests.monitoring.conftest import TOKEN
from tests.monitoring.support import scrape
from tests.monitoring.test_processes import render

LIMITS = ConnectionLimits(max_connections=50, header_seconds=15, body_seconds=30, idle_seconds=60)
BETWEEN_PROCESSES = {
    ServiceName.MEMBERSHIP,
    ServiceName.SOCKET_HOSTS,
    ServiceName.INBOX_BRIDGE,
    ServiceName.INBOX_ANNOUNCEMENTS,
}
OF_THE_STORE = {ServiceName.STORE_NOTIFICATIONS, ServiceName.STORE_PULSE}
"""Run for as long as a PostgreSQL is open, in commands as well."""


@pytest.fixture
async def application(
    database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock, tmp_path: Path
) -> Application:
    settings = Settings(data_dir=tmp_path, metrics_token=Secret(TOKEN), health_file=tmp_path / "healthy")
    store_clock = await StoreClock.open(database)
    return build_application(settings, database, vault, gateway, clock=clock, store_clock=store_clock)


async def list_services(application: Application, kind: str) -> list[BackgroundService]:
    """The services of a process as `clarion` starts them."""
    services = await application.list_services(kind)
    if kind == "worker":
        return services
    table = ConnectionTable(LIMITS, application.services.clock)
    return [*services, table.make_service(), *application.realtime.list_socket_services(10)]


def make_faulty(service: BackgroundService, fails: Callable[[ServiceName], bool]) -> BackgroundService:
    """The same service with a fault, which is due at once and does not wait long."""

    async def run_once() -> bool | None:
        if fails(service.name):
            raise RuntimeError("unforeseen")
        return await service.run_once()

    interval = None if service.interval is None else 0.01
    return structs.replace(service, run_once=run_once, is_due_at_start=True, interval=interval)


async def stop(running: "asyncio.Task[None]") -> None:
    running.cancel()
    await asyncio.wait([running])


@pytest.mark.parametrize("kind", ["serve", "api", "worker"])
async def test_every_service_is_logged_counted_and_running_again_after_something_unforeseen(
    application: Application, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    services, runs = await list_services(application, kind), Counter[ServiceName]()
    names = {one.name for one in services}

    def fails(name: ServiceName) -> bool:
        runs[name] += 1
        return runs[name] == 1

    states = application.background.states
    running = asyncio.create_task(application.background.run([make_faulty(one, fails) for one in services]))
    async with asyncio.timeout(30):
        while {one for one in names if runs[one] > 1} != names:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)
    was_running = not running.done()
    transport = httpx.ASGITransport(app=application.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://clarion.test") as client:
        metrics, ready = await scrape(client, TOKEN), await client.get("/ready")
    await stop(running)

    assert was_running
    failed = [record.service for record in caplog.records if record.message == "Background work failed"]  # type: ignore[attr-defined]
    assert sorted(failed) == sorted(names)
    assert {one: states[one].restarts for one in names} == dict.fromkeys(names, 1)
    for one in names:
        assert metrics.get("clarion_background_failures_total", service=one) == 1
        assert metrics.get("clarion_background_restarts_total", service=one) == 1
        assert metrics.get("clarion_background_failing", service=one) == 0
    assert ready.json() == {"status": "ready"}


async def test_the_kinds_of_processes_have_all_services_together(application: Application, database: Database) -> None:
    names = {one.name for kind in ("serve", "api", "worker") for one in await list_services(application, kind)}

    assert names == set(ServiceName) - OF_THE_STORE - (
        BETWEEN_PROCESSES if database.dialect is Dialect.SQLITE else set()
    )


async def test_the_services_of_a_store_are_seen_with_those_of_the_process(
    application: Application, database: Database
) -> None:
    known = OF_THE_STORE & application.background.states.keys()

    assert known == (set() if database.dialect is Dialect.SQLITE else OF_THE_STORE)


@pytest.mark.parametrize(
    ("kind", "name", "is_ready"),
    [
        ("worker", ServiceName.LANES, False),
        ("worker", ServiceName.SENDS, False),
        ("worker", ServiceName.SNOOZES, True),
        ("serve", ServiceName.LANES, True),
    ],
)
async def test_a_service_that_keeps_failing_is_told_and_only_a_worker_without_its_work_is_not_ready(
    application: Application, database: Database, kind: str, name: ServiceName, is_ready: bool
) -> None:
    services = [one for one in await list_services(application, kind) if one.name in {name, ServiceName.HEARTBEAT}]
    states = application.background.states
    application.background.pause_seconds = 0.01
    running = asyncio.create_task(
        application.background.run([make_faulty(one, lambda its: its is name) for one in services])
    )
    transport = httpx.ASGITransport(app=application.asgi)
    async with asyncio.timeout(30), httpx.AsyncClient(transport=transport, base_url="http://clarion.test") as client:
        while name not in states or states[name].failures <= FAILING_AFTER:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)
        ready, metrics = await client.get("/ready"), await scrape(client, TOKEN)
        report = None
        while report is None or not report.failing:
            (process, *_) = [one for one in await database.read(list_processes) if one.kind == kind]
            report = process.report
            await asyncio.sleep(0.01)
        shown = render(
            InstallationStatus(
                database=database.dialect, schema="1", needed_schema="1", size_bytes=0, read_at=process.now,
                processes=[process],
            )
        )  # fmt: skip
    await stop(running)

    assert ready.status_code == (200 if is_ready else 503)
    assert ready.json()["failing"] == [name]
    assert ready.json().get("reasons") == (None if is_ready else [f"{FAILING} {name}"])
    assert metrics.get("clarion_background_failing", service=name) == 1
    assert (report.failing, report.is_ready) == ([name], is_ready)
    assert f"failing: {name}" in shown
