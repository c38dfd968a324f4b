"""A person, a workflow, and links to them."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec import Struct

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.content.environment import load_environment_content
from clarion.content.links import LinkSecret
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.environments.model import Environment
from clarion.preferences.unsubscribe.targets import LinkTarget, sign_target
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.subscribers.model import Subscriber
from clarion.vault import Vault
from clarion.vocabulary import Channel, StepType
from clarion.workflows.model import Workflow
from tests.engine.support import World
from tests.records import make_subscriber, make_workflow
from tests.support import Api

PUBLIC_URL = "https://clarion.example"
LoadSecret = Callable[[Environment], Coroutine[Any, Any, LinkSecret]]


class Ada(Struct, frozen=True):
    """A person with a link in an e-mail of a workflow."""

    subscriber: Subscriber
    workflow: Workflow
    token: str


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
async def ada(database: Database, api: Api, load_secret: LoadSecret) -> Ada:
    subscriber = await make_subscriber(database, api.environment, "ada")
    steps = [StepType.EMAIL, StepType.SMS]
    workflow = await make_workflow(database, api.environment, key="digest", name="Weekly digest", steps=steps)
    target = LinkTarget(subscriber.id, workflow.id, Channel.EMAIL)
    return Ada(subscriber, workflow, sign_target(await load_secret(api.environment), target))


@pytest.fixture
async def browser(application: Application) -> Any:
    """A browser without a key."""
    transport = httpx.ASGITransport(app=application.asgi, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://clarion.test") as client:
        yield client
