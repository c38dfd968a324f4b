"""Attempts to connect, from the address that is made to the browser that comes back."""

import re
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
CONFIRM = "/v1/integrations/chat/oauth/confirm"
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


async def come_back(api: httpx.AsyncClient, state: str, **fields: str) -> httpx.Response:
    """What the vendor sends the browser back with, and the person agrees; the browser has no key."""
    asked = await be_asked(api, state, **fields)
    return asked if find_grant(asked) is None else await agree(api, asked)


async def be_asked(api: httpx.AsyncClient, state: str, **fields: str) -> httpx.Response:
    """The page that asks whether to connect, if there is something to connect."""
    query = {"state": state, **(fields or {"code": "c-1"})}
    return await api.get(CALLBACK, params=query, headers={"Authorization": ""})


async def agree(api: httpx.AsyncClient, asked: httpx.Response) -> httpx.Response:
    return await api.post(CONFIRM, data={"grant": find_grant(asked)}, headers={"Authorization": ""})


def find_grant(asked: httpx.Response) -> str | None:
    found = re.search(r'name="grant" value="([\w-]+)"', asked.text)
    return None if found is None else found[1]
