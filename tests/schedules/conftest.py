"""Schedules on the database under test."""

import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway
from clarion.schedules.firing import ScheduleService
from clarion.vault import Vault
from tests.engine.support import World
from tests.schedules.support import ScheduledWorld
from tests.support import Api


@pytest.fixture
def service(application: Application, database: Database, clock: ManualClock) -> ScheduleService:
    services = application.services
    return ScheduleService(database, clock=clock, bus=services.bus, measures=services.measures)


@pytest.fixture
def engine(application: Application, database: Database, vault: Vault, gateway: ProviderGateway) -> Engine:
    services = application.services
    return Engine(database, clock=services.clock, vault=vault, bus=services.bus, gateway=gateway)


@pytest.fixture
def world(api: Api, engine: Engine, clock: ManualClock, service: ScheduleService) -> ScheduledWorld:
    return ScheduledWorld(World(api, engine, clock), service)
