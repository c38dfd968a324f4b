"""An engine on the database under test."""

import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault
from tests.engine.support import World
from tests.support import Api


@pytest.fixture
def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> World:
    bus = application.services.bus
    return World(api, Engine(database, clock=clock, vault=vault, bus=bus, gateway=gateway), clock)
