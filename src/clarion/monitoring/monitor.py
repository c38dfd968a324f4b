"""Monitoring of one process: its port, its heartbeats, its health file."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from clarion.clock import Clock
from clarion.db.port import Database
from clarion.http.operation import Services
from clarion.monitoring.answers import Answers
from clarion.monitoring.health import Health, HealthFile
from clarion.monitoring.heartbeat import Heartbeat
from clarion.monitoring.port import MonitoringPort
from clarion.monitoring.watchdog import LoopWatchdog
from clarion.settings.model import Settings


class Monitor:
    """What those who watch the process get to see."""

    def __init__(
        self, settings: Settings, database: Database, services: Services, watchdog: LoopWatchdog, *, machine: Clock
    ) -> None:
        self._settings = settings
        clock, self.measures = services.clock, services.measures
        health = Health(database, watchdog, services.vault)
        self.answers = Answers(database, clock, self.measures, health, settings.metrics_token)
        self.heartbeat = Heartbeat(
            database,
            clock,
            self.measures,
            machine=machine,
            is_ready=self._is_ready,
            key_ids=sorted(services.vault.key_ids),
        )

    @asynccontextmanager
    async def listen(self, kind: str) -> AsyncIterator[str | None]:
        """Serve the monitoring port while the body runs, if there is one; yields its address."""
        self.answers.kind = kind
        host, port = self._settings.monitor_host, self._settings.monitor_port
        if port is None:
            yield None
            return
        async with MonitoringPort(self.answers).listen(host, port) as bound:
            yield f"http://{f'[{host}]' if ':' in host else host}:{bound}"

    async def run(self, kind: str) -> None:
        """Write heartbeats, and the health file if there is one, until cancelled: then the process is not ready."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self.heartbeat.run(kind))
                if self._settings.health_file is not None:
                    tasks.create_task(HealthFile(self._settings.health_file, self.answers.health).run())
        finally:
            self.answers.health.is_stopping = True

    async def _is_ready(self) -> bool:
        return not await self.answers.health.list_problems()
