"""Hosts of an environment's own, which must lead to this installation."""

import dataclasses
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from clarion.app import build_application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.ids import id_text
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.vault import Vault
from tests.asgi_server import serve_asgi
from tests.engine.providers import account
from tests.engine.support import World
from tests.support import Api
from tests.tracking.support import MAIL, send


class Reachable:
    """An installation behind a real port."""

    def __init__(self, world: World, port: int) -> None:
        self.world = world
        self.port = port

    async def set(self, **tracking: Any) -> httpx.Response:
        path = f"/v1/environments/{id_text(self.world.api.environment.id)}"
        return await self.world.api.patch(path, json={"tracking": tracking})


@pytest.fixture
async def reachable(
    api: Api, database: Database, settings: Settings, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> AsyncIterator[Reachable]:
    # The port is known when the server listens, and the public address names it.
    outer: list[Any] = []

    async def forward(scope: Any, receive: Any, send: Any) -> None:
        await outer[0](scope, receive, send)

    async with serve_asgi(forward) as port:
        public_url = f"http://127.0.0.1:{port}"
        application = build_application(
            dataclasses.replace(settings, public_url=public_url), database, vault, gateway, clock=clock
        )
        outer.append(application.asgi)
        api._transport = httpx.ASGITransport(app=application.asgi)
        bus = application.services.bus
        engine = Engine(database, clock=clock, vault=vault, bus=bus, gateway=gateway, public_url=public_url)
        yield Reachable(World(api, engine, clock), port)


async def test_links_have_the_host_that_was_proven(reachable: Reachable) -> None:
    response = await reachable.set(clicks=True, domain="LOCALHOST")
    async with account(reachable.world, "a") as first:
        await reachable.world.make_workflow(MAIL)
        html = await send(reachable.world, first)

    assert response.json()["tracking"] == {"opens": False, "clicks": True, "domain": "localhost"}
    assert f'href="http://localhost:{reachable.port}/t/c/' in html


async def test_a_host_of_others_is_refused(reachable: Reachable, api: Api) -> None:
    response = await reachable.set(domain="elsewhere.invalid")

    assert response.status_code == 422
    assert "tracking.domain" in response.text
    assert "cannot be reached" in response.text
    assert (await api.get("/v1/environments/me")).json()["tracking"] == {"opens": False, "clicks": False}


@pytest.mark.parametrize("domain", ["", "a b", "http://a.example", "a.example:80", "a.example/b", "-a.example", "a..b"])
async def test_what_is_no_host_is_refused(reachable: Reachable, domain: str) -> None:
    response = await reachable.set(domain=domain)

    assert response.status_code == 422
    assert "tracking.domain" in response.text


async def test_null_goes_back(reachable: Reachable) -> None:
    await reachable.set(opens=True, clicks=True, domain="localhost")

    back = await reachable.set(domain=None)
    path = f"/v1/environments/{id_text(reachable.world.api.environment.id)}"
    off = await reachable.world.api.patch(path, json={"tracking": None})

    assert back.json()["tracking"] == {"opens": True, "clicks": True}
    assert off.json()["tracking"] == {"opens": False, "clicks": False}
