"""Runs that ask, on an installation with a public address, and a browser without a key."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx
import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.content.environment import load_environment_content
from clarion.content.links import LinkSecret
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.environments.model import Environment
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.vault import Vault
from tests.engine.support import World
from tests.support import Api

PUBLIC_URL = "https://clarion.example"
LoadSecret = Callable[[Environment], Coroutine[Any, Any, LinkSecret]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, public_url=PUBLIC_URL)


@pytest.fixture
def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> World:
    bus = application.services.bus
    engine = Engine(database, clock=clock, vault=vault, bus=bus, gateway=gateway, public_url=PUBLIC_URL + "/")
    return World(api, engine, clock)


@pytest.fixture
def load_secret(database: Database, vault: Vault) -> LoadSecret:
    async def load(environment: Environment) -> LinkSecret:
        content = await database.read(lambda db: load_environment_content(db, environment.id, vault=vault))
        assert content.link_secret is not None
        return content.link_secret

    return load


@pytest.fixture
async def browser(application: Application) -> Any:
    """A browser without a key."""
    transport = httpx.ASGITransport(app=application.asgi, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=PUBLIC_URL) as client:
        yield client
