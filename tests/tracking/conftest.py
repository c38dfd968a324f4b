"""An installation with a public address, whose mails go to servers on the loopback interface."""

import dataclasses

import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.tracking.recorder import TrackingRecorder
from clarion.vault import Vault
from tests.engine.support import World
from tests.support import Api

PUBLIC_URL = "http://clarion.test"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return dataclasses.replace(settings, public_url=PUBLIC_URL)


@pytest.fixture
def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> World:
    bus = application.services.bus
    engine = Engine(database, clock=clock, vault=vault, bus=bus, gateway=gateway, public_url=PUBLIC_URL)
    return World(api, engine, clock)


@pytest.fixture
def recorder(application: Application) -> TrackingRecorder:
    return application.services.shared.get(TrackingRecorder)
