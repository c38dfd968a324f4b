"""An engine on the database under test."""

import logging
from collections.abc import Callable, Iterator

import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.engine.worker import Engine
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault
from tests.engine.support import World
from tests.support import Api


@pytest.fixture
def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> World:
    bus = application.services.bus
    return World(api, Engine(database, clock=clock, vault=vault, bus=bus, gateway=gateway), clock)


@pytest.fixture
def logged_errors(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """The errors that were logged so far; a test that asks for them may cause some."""
    return lambda: _list_errors(caplog)


@pytest.fixture(autouse=True)
def _log_no_errors(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """An error in the log means that a person should look: the engine went on, but not as it should."""
    yield
    if "logged_errors" not in request.fixturenames:
        assert _list_errors(caplog) == []


def _list_errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    records = [one for phase in ("setup", "call") for one in caplog.get_records(phase)]
    return [one.getMessage() for one in records if one.levelno >= logging.ERROR and one.name.startswith("clarion.")]
