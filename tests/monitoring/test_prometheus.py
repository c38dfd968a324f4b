"""Every query of the dashboard and of the alert rules, run by a real Prometheus on the metrics of real processes."""

import asyncio
import signal
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import httpx
import pytest

from clarion.db.migrations.revisions import list_known_revisions
from tests.monitoring.prometheus import (
    RULES,
    Prometheus,
    find_program,
    free_port,
    list_alert_queries,
    list_dashboard_queries,
    prometheus_for,
)
from tests.processes import Process
from tests.providers.loopback import answering, web_server

KEY = "a-key-for-monitoring"
# A signal blocks the event loop, as a defect would.
BLOCKABLE = [
    "-c",
    """
import signal, time
from clarion.__main__ import main
signal.signal(signal.SIGUSR1, lambda *_: time.sleep(2))
main()
""",
]
EMPTY_WHEN_WELL = {"Failed requests A", "Errors of providers A", "Circuits A"}
"""Queries of the dashboard that have series only after a fault."""
MAIL = {"name": "Mail", "type": "email", "controlValues": {"subject": "Hi", "body": "<p>{{payload.n}}</p>"}}
INBOX = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hello"}}
DIGEST = {"name": "Digest", "type": "digest", "controlValues": {"type": "regular", "amount": 1, "unit": "hours"}}
SECONDS = 240


class Outside:
    """The provider and the receiver of webhooks, which answer with a status, after a while."""

    def __init__(self) -> None:
        self.statuses = {"/mail": 200, "/hook": 200}
        self.delay_seconds = 0.0
        self.delayed_count = 0

    async def respond(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        path = request.split(b" ", 2)[1].decode()
        status = self.statuses[path]
        if path == "/mail" and self.delay_seconds:
            self.delayed_count += 1
            await asyncio.sleep(self.delay_seconds)
        await answering(status)(request, writer)


class Installation:
    """Processes on one store that are watched on the same port, one after the other."""

    def __init__(self, folder: Path, port: int, outside: Outside) -> None:
        self._folder = folder
        self.port = port
        self.outside = outside
        self.process: Process | None = None

    async def start(self, kind: str) -> Process:
        environ = {
            "CLARION_DATA_DIR": str(self._folder / "data"),
            "CLARION_DEVELOPMENT_API_KEY": KEY,
            "CLARION_EGRESS_ALLOW": "127.0.0.0/8",
            "CLARION_MONITOR_PORT": str(self.port),
            "CLARION_LOG_LEVEL": "error",
        }
        self.process = await asyncio.to_thread(Process, [kind], environ, entry=BLOCKABLE)
        return self.process

    @property
    def client(self) -> httpx.AsyncClient:
        assert self.process is not None
        return self.process.client(KEY)

    def change_store(self, *statements: str) -> int:
        """Run statements; returns how many rows they changed."""
        with closing(sqlite3.connect(self._folder / "data" / "clarion.db", timeout=30)) as connection:
            for one in statements:
                connection.execute(one)
            connection.commit()
            return connection.total_changes

    async def trigger(self, name: str, count: int = 1) -> None:
        to = [{"subscriberId": f"p{n}", "email": f"p{n}@example.com"} for n in range(count)]
        async with self.client as client:
            body = {"name": name, "to": to, "payload": {"n": 1}}
            assert (await client.post("/v1/events/trigger", json=body)).status_code == 201

    async def hold_up_writers(self, is_seen: Callable[[], Awaitable[bool]]) -> None:
        """Lock the store, with many requests waiting, until that is seen."""
        async with self.client as client:
            while not await is_seen():
                with closing(sqlite3.connect(self._folder / "data" / "clarion.db", isolation_level=None)) as connection:
                    connection.execute("BEGIN IMMEDIATE")
                    people = [client.post("/v2/subscribers", json={"subscriberId": f"held-{n}"}) for n in range(60)]
                    held = asyncio.gather(*people, return_exceptions=True)
                    # Long enough for requests to be slow.
                    await asyncio.sleep(3)
                    for _ in range(8):
                        await asyncio.sleep(0.5)
                        if await is_seen():
                            break
                    connection.execute("ROLLBACK")
                await held


@pytest.fixture
async def outside() -> AsyncIterator[tuple[Outside, str]]:
    made = Outside()
    async with web_server(made.respond) as server:
        yield made, server.url("")


@pytest.fixture
async def installation(tmp_path: Path, outside: tuple[Outside, str]) -> AsyncIterator[Installation]:
    find_program("prometheus")
    made = Installation(tmp_path, free_port(), outside[0])
    await made.start("serve")
    async with made.client as client:
        credentials = {"webhookUrl": f"{outside[1]}/mail", "secretKey": "s", "from": "news@example.com"}
        integration = {"providerId": "email-webhook", "channel": "email", "active": True, "identifier": "mail"}
        assert (await client.post("/v1/integrations", json=integration | {"credentials": credentials})).is_success
        assert (await client.post("/v1/webhooks/endpoints", json={"url": f"{outside[1]}/hook"})).is_success
        for name, steps in {"welcome": [INBOX, MAIL], "digest": [DIGEST, INBOX]}.items():
            body = {"name": name, "workflowId": name, "active": True, "steps": steps}
            assert (await client.post("/v2/workflows", json=body)).is_success
    yield made
    if made.process is not None:
        made.process.close()


@pytest.fixture
def prometheus(installation: Installation, tmp_path: Path) -> Iterator[Prometheus]:
    with prometheus_for(installation.port, tmp_path) as made:
        yield made


async def has_had_data(prometheus: Prometheus, query: str) -> bool:
    """Whether a query has returned data within the last minutes: some faults last for a moment only."""
    return bool(await asyncio.to_thread(prometheus.query, f"max_over_time(({query})[5m:1s])"))


async def wait_for_data(
    prometheus: Prometheus, queries: dict[str, str], meanwhile: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Evaluate queries until each has returned data at some moment."""
    missing = dict(queries)
    try:
        async with asyncio.timeout(SECONDS):
            while missing:
                if meanwhile is not None:
                    await meanwhile()
                await asyncio.sleep(0.3)
                missing = {k: v for k, v in missing.items() if not await has_had_data(prometheus, v)}
    except TimeoutError:
        pytest.fail(f"no data for {missing}")


async def break_everything(installation: Installation, prometheus: Prometheus) -> None:
    """Make everything go wrong that can go wrong while the process runs."""
    outside, process = installation.outside, installation.process
    assert process is not None
    # Runs that take longer than ten seconds, because their provider does.
    outside.delay_seconds = 11
    await installation.trigger("welcome", 20)
    while outside.delayed_count < 20:  # noqa: ASYNC110 - the provider counts
        await asyncio.sleep(0.1)
    outside.delay_seconds = 0
    outside.statuses = {"/mail": 400, "/hook": 500}
    await installation.trigger("welcome", 3)
    await asyncio.sleep(1)
    outside.statuses["/mail"] = 503
    await installation.trigger("welcome", 12)
    await installation.hold_up_writers(partial(has_had_data, prometheus, list_alert_queries()["ClarionStoreBusy"]))
    process.popen.send_signal(signal.SIGUSR1)
    # What a worker leaves that died in the middle of a send.
    lapsed = "UPDATE jobs SET status = 'running', due_at = 1 WHERE id IN ({} LIMIT 3)"
    retried = "SELECT id FROM jobs WHERE queue = 2 AND status = 'queued' AND attempt > 0"
    while not installation.change_store(lapsed.format(retried)):  # noqa: ASYNC110 - another process changes it
        await asyncio.sleep(0.1)
    # Requests that fail, and background work that does.
    installation.change_store(
        "ALTER TABLE topics RENAME TO topics_away", "ALTER TABLE early_reports RENAME TO early_reports_away"
    )
    async with installation.client as client:
        assert (await client.get("/v2/topics")).status_code == 500
    installation.change_store("UPDATE alembic_version SET version_num = '0000'")


def repair(installation: Installation) -> None:
    revision = list_known_revisions()[-1]
    installation.change_store(
        "ALTER TABLE topics_away RENAME TO topics",
        "ALTER TABLE early_reports_away RENAME TO early_reports",
        f"UPDATE alembic_version SET version_num = '{revision}'",
    )


async def test_every_query_of_dashboard_and_alerts_has_data_on_real_output(
    installation: Installation, prometheus: Prometheus
) -> None:
    dashboard, alerts = list_dashboard_queries(), list_alert_queries()

    async def use() -> None:
        await installation.trigger("welcome", 2)
        await installation.trigger("digest")
        async with installation.client as client:
            await client.post("/v2/subscribers", json={"subscriberId": "ada"})

    # All is well: the dashboard has data, but for faults, and no rule fires.
    await wait_for_data(prometheus, {k: v for k, v in dashboard.items() if k not in EMPTY_WHEN_WELL}, use)
    for query in [*(dashboard[name] for name in EMPTY_WHEN_WELL), *alerts.values()]:
        assert prometheus.query(query) == [], query

    without_process = {"ClarionDown", "ClarionNoWorker", "ClarionBacklogOld"}
    during_faults = {name: query for name, query in alerts.items() if name not in without_process}
    during_faults |= {name: dashboard[name] for name in EMPTY_WHEN_WELL}

    async def list_topics() -> None:
        async with installation.client as client:
            await client.get("/v2/topics")

    breaking = asyncio.create_task(break_everything(installation, prometheus))
    # A rate needs requests that fail in more than one interval.
    await wait_for_data(prometheus, during_faults, list_topics)
    await breaking
    repair(installation)

    await asyncio.to_thread(check_names, f"http://127.0.0.1:{installation.port}")
    assert installation.process is not None
    await asyncio.to_thread(installation.process.stop)
    await wait_for_data(prometheus, {"ClarionDown": alerts["ClarionDown"]})
    # Triggers are accepted and nobody works on them.
    installation.process.close()
    await installation.start("api")
    await installation.trigger("welcome")
    installation.change_store("UPDATE triggers SET created_at = created_at - 120000 WHERE state <> 'done'")
    left = {name: alerts[name] for name in ("ClarionNoWorker", "ClarionBacklogOld")}
    await wait_for_data(prometheus, left)


def test_the_rules_are_valid() -> None:
    checked = subprocess.run(
        [find_program("promtool"), "check", "rules", "--lint-fatal", str(RULES)],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )

    assert checked.returncode == 0, checked.stdout + checked.stderr


def check_names(address: str) -> None:
    """Names of metrics follow the conventions of Prometheus."""
    text = httpx.get(f"{address}/metrics").text
    checked = subprocess.run(
        [find_program("promtool"), "check", "metrics"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )

    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")
