"""Processes with traces switched on, shared by tests: one process on SQLite, an API and a worker on PostgreSQL."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from clarion.db.migrations.migrate import migrate_postgres
from tests.monitoring.traces.collector import Collector, open_collector
from tests.processes import Process
from tests.providers.loopback import WebServer, answering, web_server
from tests.servers import empty_database

KEY = "canary-key-of-the-traced-caller"
APPLICATION = "traced-application"
OTHER_KEY = "canary-key-of-another-environment"
SECRETS = {"mail": "canary-webhook-provider-secret", "text": "canary-text-provider-key"}
EMAIL, PHONE = "canary-address@example.com", "+442079460000"
WORKFLOW = {
    "name": "Traced",
    "workflowId": "traced",
    "active": True,
    "steps": [
        {"name": "Inbox", "type": "in_app", "controlValues": {"body": "canary-body-1 {{payload.text}}"}},
        {"name": "Mail", "type": "email", "controlValues": {"subject": "canary-subject", "body": "canary-body-2"}},
        {"name": "Text", "type": "sms", "controlValues": {"body": "canary-body-3 {{payload.text}}"}},
        {"name": "After", "type": "in_app", "controlValues": {"body": "canary-body-4"}},
    ],
}


class Traced:
    """The service, its collector, its logs, and the receivers that its integrations call."""

    def __init__(self, api: Process, collector: Collector, logs: list[Path]) -> None:
        self.api = api
        self.collector = collector
        self._logs = logs
        self.mail: WebServer
        self.text: WebServer
        self.events: WebServer
        self.endpoint_secret: str
        self.monitor_ports: list[int] = []

    def client(self, key: str = KEY) -> httpx.AsyncClient:
        return self.api.client(key)

    def read_logs(self) -> str:
        return "".join(one.read_text() for one in self._logs)

    async def prepare(self, opened: AsyncExitStack) -> None:
        """Open the receivers, with integrations for them, and create a person and a workflow."""
        self.mail = await opened.enter_async_context(web_server(answering(200)))
        self.text = await opened.enter_async_context(web_server(answer_as_infobip))
        self.events = await opened.enter_async_context(web_server(answering(200)))
        mail = {"webhookUrl": self.mail.url("/mail"), "secretKey": SECRETS["mail"], "from": "news@example.com"}
        text = {"apiKey": SECRETS["text"], "baseUrl": self.text.url(""), "from": "Clarion"}
        wanted: list[tuple[str, dict[str, Any]]] = [
            ("/v1/webhooks/endpoints", {"url": self.events.url("/events")}),
            ("/v1/integrations", {"providerId": "email-webhook", "channel": "email", "credentials": mail}),
            ("/v1/integrations", {"providerId": "infobip-sms", "channel": "sms", "credentials": text}),
            ("/v2/workflows", WORKFLOW),
            ("/v2/subscribers", {"subscriberId": "ada", "email": EMAIL, "phone": PHONE}),
        ]
        async with self.client() as client:
            made = [await client.post(path, json={"active": True, **body}) for path, body in wanted]
        assert [one.status_code for one in made] == [201] * 5, [one.text for one in made]
        self.endpoint_secret = made[0].json()["secret"]


async def answer_as_infobip(request: bytes, writer: asyncio.StreamWriter) -> None:
    (sent,) = json.loads(request.partition(b"\r\n\r\n")[2])["messages"]
    answer = {"messages": [{"messageId": sent["destinations"][0]["messageId"], "status": {"groupId": 1}}]}
    await answering(200, json.dumps(answer))(request, writer)


def find_free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@pytest.fixture(scope="session")
async def traced(
    backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Traced]:
    folder = tmp_path_factory.mktemp("traced")
    store = ["--data-dir", str(folder / "data")]
    async with AsyncExitStack() as opened:
        collector = await opened.enter_async_context(open_collector())
        settings = {
            "CLARION_DEVELOPMENT_API_KEY": KEY,
            "CLARION_PRODUCTION_API_KEY": OTHER_KEY,
            "CLARION_DEVELOPMENT_APP_ID": APPLICATION,
            "CLARION_EGRESS_ALLOW": "127.0.0.0/8",
            "CLARION_TRACES_SAMPLE": "0",
            **collector.settings,
        }
        commands = ["serve"]
        if backend == "postgresql":
            url = await opened.enter_async_context(empty_database(request.getfixturevalue("postgres_url")))
            store += ["--database-url", url]
            await migrate_postgres(url)
            commands = ["api", "worker"]
        logs = [folder / command for command in commands]
        ports = [find_free_port() for _ in commands]
        processes = [
            Process([command, *store], settings | {"CLARION_MONITOR_PORT": str(port)}, log=log)
            for command, log, port in zip(commands, logs, ports, strict=True)
        ]
        for process in processes:
            opened.callback(process.close)
        service = Traced(processes[0], collector, logs)
        service.monitor_ports = ports
        await service.prepare(opened)
        yield service
