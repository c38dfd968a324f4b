"""An application with a token for its metrics, and an engine that counts into the same measures."""

from pathlib import Path

import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway
from clarion.secret import Secret
from clarion.settings.model import Settings
from clarion.vault import Vault
from tests.engine.support import World
from tests.monitoring.support import Metrics, scrape
from tests.support import Api

TOKEN = "a-token-for-prometheus"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, metrics_token=Secret(TOKEN))


class WatchedWorld(World):
    """A world whose metrics can be read."""

    async def metrics(self) -> Metrics:
        return await scrape(self.api, TOKEN)


@pytest.fixture
def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> WatchedWorld:
    services = application.services
    engine = Engine(database, clock=clock, vault=vault, bus=services.bus, gateway=gateway, measures=services.measures)
    return WatchedWorld(api, engine, clock)
