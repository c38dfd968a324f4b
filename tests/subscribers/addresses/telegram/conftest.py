"""A vendor on loopback, and a bot that reports."""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from clarion.clock import ManualClock
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.settings.model import Settings
from tests.providers.contract.vendor import Vendor, play
from tests.subscribers.addresses.support import create
from tests.subscribers.addresses.telegram.support import BOT, CONFIGURE, PUBLIC
from tests.subscribers.addresses.vendors import Telegram
from tests.support import Api


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, public_url=PUBLIC)


@pytest.fixture
def telegram() -> Telegram:
    return Telegram()


@pytest.fixture
async def vendor(telegram: Telegram) -> AsyncIterator[Vendor]:
    async with play(telegram.answer) as vendor:
        yield vendor


@pytest.fixture
async def gateway(clock: ManualClock, vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    guard = EgressGuard(("127.0.0.0/8",))
    async with ProviderGateway(guard, clock=clock, rewrite_url=vendor.rewrite_url) as entered:
        yield entered


@pytest.fixture
async def bot(api: Api) -> str:
    """An integration of Telegram with its webhook; returns the path that Telegram calls."""
    await create(api, "/v1/integrations", BOT)
    configured = await create(api, CONFIGURE, {})
    return str(urlsplit(configured["webhookUrl"]).path)
