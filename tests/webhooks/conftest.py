"""An engine on the database under test, and a receiver."""

from collections.abc import AsyncIterator

import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.engine.webhooks import Webhooks
from clarion.engine.worker import Engine
from clarion.providers.sending import Carrier
from clarion.vault import Vault
from tests.engine.support import World
from tests.support import Api
from tests.webhooks.support import Post, Receiver, receiver


@pytest.fixture
def world(
    api: Api, application: Application, database: Database, vault: Vault, carrier: Carrier, clock: ManualClock
) -> World:
    bus = application.services.bus
    return World(api, Engine(database, clock=clock, vault=vault, bus=bus, carrier=carrier), clock)


@pytest.fixture
def webhooks(database: Database, vault: Vault, carrier: Carrier, clock: ManualClock) -> Webhooks:
    return Webhooks(database, clock=clock, vault=vault, carrier=carrier)


@pytest.fixture
def post(api: Api, database: Database, webhooks: Webhooks, clock: ManualClock) -> Post:
    return Post(api, database, webhooks, clock)


@pytest.fixture
async def hook() -> AsyncIterator[Receiver]:
    """A receiver that takes everything."""
    async with receiver() as made:
        yield made
