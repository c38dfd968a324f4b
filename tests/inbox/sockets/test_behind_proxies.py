"""Sockets behind a proxy of the operator are told apart by the address that it names."""

from contextlib import AsyncExitStack

import pytest

from clarion.app import Application
from clarion.settings.model import Settings
from tests.inbox.conftest import MakePerson
from tests.inbox.sockets.clients import PlainClient
from tests.inbox.sockets.conftest import serve


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return Settings(data_dir=settings.data_dir, trusted_proxies=("127.0.0.0/8",))


async def test_a_client_with_many_sockets_does_not_keep_out_others(
    application: Application, make_person: MakePerson
) -> None:
    people = [await make_person(f"visitor-{number}") for number in range(4)]
    ada = await make_person("ada")
    async with serve(application, max_sockets=4) as address, AsyncExitStack() as opened:

        async def open_socket(token: str, client: str) -> PlainClient:
            headers = {"X-Forwarded-For": client}
            return await opened.enter_async_context(PlainClient.open(address, token, additional_headers=headers))

        crowd = [await open_socket(one.token, "198.51.100.9") for one in people]
        arrived = await open_socket(ada.token, "203.0.113.7")

        await arrived.events(2)
        assert await crowd[0].wait_closed() == 1006
