"""Attempts to connect, from the address that is made to the browser that comes back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from clarion.clock import Clock
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from tests.providers.contract.vendor import Vendor
from tests.subscribers.addresses.support import create
from tests.subscribers.addresses.vendors import query_of
from tests.support import Api

CONNECT = "/v1/integrations/channel-connections/oauth"
LINK = "/v1/integrations/channel-endpoints/oauth"
CALLBACK = "/v1/integrations/chat/oauth/callback"
PUBLIC = "https://clarion.example.com"


@asynccontextmanager
async def open_gateway(vendor: Vendor, clock: Clock) -> AsyncIterator[ProviderGateway]:
    guard = EgressGuard(("127.0.0.0/8",))
    async with ProviderGateway(guard, clock=clock, rewrite_url=vendor.rewrite_url) as entered:
        yield entered


async def begin(api: Api, path: str = CONNECT, **fields: Any) -> dict[str, str]:
    """The parameters of the address that the browser is sent to."""
    made = await create(api, path, {"integrationIdentifier": "slack", "subscriberId": "ada", **fields})
    return query_of(made["url"])


async def come_back(api: Api, state: str, **fields: str) -> httpx.Response:
    """What the vendor sends the browser back with; the browser has no key."""
    query = {"state": state, **(fields or {"code": "c-1"})}
    return await api.get(CALLBACK, params=query, headers={"Authorization": ""})
