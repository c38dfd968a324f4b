"""Sockets work again after something unforeseen in the work behind them."""

import asyncio
from typing import Any

import pytest

from clarion.app import Application, build_application
from clarion.background import ServiceName
from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.inbox.sockets.sockets import TRY_LATER
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.vault import Vault
from tests.inbox.sockets.clients import COUNT_EVENTS, PlainClient
from tests.inbox.sockets.conftest import Deliver, Person, serve
from tests.inbox.sockets.test_presence import wait_until_online


class FaultyDatabase:
    """A database that fails once for a service."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.failing: set[str] = set()

    def _fail(self) -> None:
        task = asyncio.current_task()
        if task is not None and task.get_name() in self.failing:
            self.failing.remove(task.get_name())
            raise RuntimeError("unforeseen")

    async def read(self, work: Any) -> Any:
        self._fail()
        return await self._database.read(work)

    async def scan(self, work: Any) -> Any:
        self._fail()
        return await self._database.scan(work)

    async def transaction(self, work: Any) -> Any:
        self._fail()
        return await self._database.transaction(work)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


@pytest.fixture
def faulty(database: Database) -> FaultyDatabase:
    return FaultyDatabase(database)


@pytest.fixture
def application(
    faulty: Any, settings: Settings, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> Application:
    return build_application(settings, faulty, vault, gateway, clock=clock)


def failures(application: Application, name: ServiceName) -> tuple[int, int]:
    state = application.background.states[name]
    return state.failures, state.restarts


async def test_counts_are_pushed_after_a_push_failed(
    application: Application, address: str, ada: Person, deliver: Deliver, faulty: FaultyDatabase
) -> None:
    async with PlainClient.open(address, ada.token) as socket:
        await socket.events(2)
        faulty.failing.add(ServiceName.SOCKET_PUSHES)
        await deliver(ada)
        counts = await socket.events(2)
        await deliver(ada)
        events = await socket.events(3)

    assert [name for name, _ in counts] == COUNT_EVENTS
    assert [name for name, _ in events] == ["notification_received", *COUNT_EVENTS]
    assert failures(application, ServiceName.SOCKET_PUSHES) == (1, 1)


async def test_a_socket_whose_session_could_not_be_checked_is_told_to_come_back_and_the_next_one_works(
    application: Application, address: str, ada: Person, faulty: FaultyDatabase
) -> None:
    faulty.failing.add(ServiceName.SESSION_CHECKS)
    async with PlainClient.open(address, ada.token) as refused:
        code = await refused.wait_closed()
    async with PlainClient.open(address, ada.token) as socket:
        events = await socket.events(2)

    assert code == TRY_LATER
    assert [name for name, _ in events] == COUNT_EVENTS
    assert failures(application, ServiceName.SESSION_CHECKS) == (1, 1)


async def test_presence_is_written_after_it_failed(
    application: Application, ada: Person, faulty: FaultyDatabase, database: Database
) -> None:
    async with serve(application, is_alone=True) as address, PlainClient.open(address, ada.token) as socket:
        await socket.events(2)
        await wait_until_online(database, ada, is_online=True)
        faulty.failing.add(ServiceName.PRESENCE)
        await socket.connection.close()
        await wait_until_online(database, ada, is_online=False)

        assert failures(application, ServiceName.PRESENCE) == (1, 1)
