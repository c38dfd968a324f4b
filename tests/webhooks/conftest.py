"""An engine on the database under test, and a receiver."""

from collections.abc import AsyncIterator

import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault
from clarion.webhooks.sender import WebhookSender
from tests.engine.support import World
from tests.support import Api
from tests.webhooks.support import Post, Receiver, receiver


@pytest.fixture
def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> World:
    bus = application.services.bus
    return World(api, Engine(database, clock=clock, vault=vault, bus=bus, gateway=gateway), clock)


@pytest.fixture
def webhooks(database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock) -> WebhookSender:
    return WebhookSender(database, clock=clock, vault=vault, gateway=gateway)


@pytest.fixture
def post(api: Api, database: Database, webhooks: WebhookSender, clock: ManualClock) -> Post:
    return Post(api, database, webhooks, clock)


@pytest.fixture
async def hook() -> AsyncIterator[Receiver]:
    """A receiver that accepts everything."""
    async with receiver() as made:
        yield made
