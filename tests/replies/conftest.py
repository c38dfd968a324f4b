"""An installation whose mails go to a server on the loopback interface, and that Amazon has a certificate for."""

from collections.abc import AsyncIterator

import pytest
from yarl import URL

from clarion.clock import ManualClock
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from tests.engine.conftest import world
from tests.providers.contract.vendor import Vendor
from tests.receipts.conftest import vendor

__all__ = ["vendor", "world"]


@pytest.fixture
async def gateway(clock: ManualClock, vendor: Vendor) -> AsyncIterator[ProviderGateway]:
    def rewrite_url(url: URL) -> URL:
        return vendor.rewrite_url(url) if (url.host or "").endswith(".amazonaws.com") else url

    async with ProviderGateway(EgressGuard(("127.0.0.0/8",)), clock=clock, rewrite_url=rewrite_url) as entered:
        yield entered
