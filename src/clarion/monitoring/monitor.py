"""Monitoring of one process: its port, its heartbeats, its health file."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from clarion.background import BackgroundService, ServiceName, Supervisor
from clarion.clock import Clock
from clarion.db.port import Database
from clarion.http.services import Services
from clarion.monitoring.answers import Answers
from clarion.monitoring.health import HealthFile, Readiness
from clarion.monitoring.heartbeat import Heartbeat
from clarion.monitoring.port import MonitoringPort
from clarion.monitoring.watchdog import LoopWatchdog
from clarion.settings.model import Settings


class Monitor:
    """What those who watch the process get to see."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        services: Services,
        *,
        watchdog: LoopWatchdog,
        background: Supervisor,
        machine: Clock,
    ) -> None:
        self._settings = settings
        clock, self.measures = services.clock, services.measures
        health = Readiness(database, watchdog, background, services.vault)
        self.answers = Answers(database, clock, self.measures, health, settings.metrics_token)
        self.heartbeat = Heartbeat(
            database,
            clock,
            self.measures,
            machine=machine,
            is_ready=self._is_ready,
            list_failing=background.list_failing,
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

    def list_services(self, kind: str) -> list[BackgroundService]:
        """Heartbeats, and the health file if there is one; a worker is not ready while its lanes or sends fail."""
        health = self.answers.health
        if kind == "worker":
            health.vital = frozenset({ServiceName.LANES, ServiceName.SENDS})
        services = [self.heartbeat.make_service(kind, finish=self._leave)]
        if self._settings.health_file is not None:
            services.append(HealthFile(self._settings.health_file, health).make_service())
        return services

    async def _leave(self) -> None:
        self.answers.health.is_stopping = True
        await self.heartbeat.leave()

    async def _is_ready(self) -> bool:
        return not await self.answers.health.list_problems()
