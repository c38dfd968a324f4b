"""An engine on the database under test."""

from collections.abc import AsyncIterator

import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.egress import EgressGuard
from clarion.providers.sending import Carrier
from clarion.vault import Vault
from tests.engine.support import World
from tests.support import Api


@pytest.fixture
async def world(
    api: Api, application: Application, database: Database, vault: Vault, clock: ManualClock
) -> AsyncIterator[World]:
    async with Carrier(EgressGuard(("127.0.0.0/8",))) as carrier:
        bus = application.services.bus
        yield World(api, Engine(database, clock=clock, vault=vault, bus=bus, carrier=carrier), clock)
