"""An application whose providers are all one server on the loopback interface."""

from collections.abc import AsyncIterator

import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.integrations.callbacks import make_receipts_url_finder
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.vault import Vault
from tests.engine.support import World
from tests.providers.contract.vendor import Received, Reply, Vendor, play
from tests.receipts.signing import CERTIFICATE
from tests.support import Api


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    def answer(request: Received) -> Reply:
        return Reply(body=CERTIFICATE if request.url.endswith(".pem") else "{}")

    async with play(answer) as playing:
        yield playing


@pytest.fixture
async def gateway(clock: ManualClock, vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    async with ProviderGateway(EgressGuard(("127.0.0.0/8",)), clock=clock, rewrite_url=vendor.rewrite_url) as entered:
        yield entered


@pytest.fixture
def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> World:
    bus = application.services.bus
    receipts_url = make_receipts_url_finder("http://clarion.test", vault)
    engine = Engine(database, clock=clock, vault=vault, bus=bus, gateway=gateway, receipts_url=receipts_url)
    return World(api, engine, clock)
