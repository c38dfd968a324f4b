"""Clients of sockets, as the published packages speak."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

from websockets.asyncio.client import ClientConnection, connect

TIMEOUT_SECONDS = 20
COUNT_EVENTS = ["unread_count_changed", "unseen_count_changed"]

Event = tuple[str, Any]


class SocketClient:
    """One socket; `events` waits for events, `connect` for the answer to the handshake of its protocol."""

    path: str

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    @classmethod
    @asynccontextmanager
    async def open(cls, address: str, token: str, **options: Any) -> AsyncIterator[Self]:
        url = address.replace("http", "ws", 1) + cls.path + token
        async with connect(
            url, open_timeout=TIMEOUT_SECONDS, ping_interval=None, close_timeout=1, **options
        ) as connection:
            client = cls(connection)
            await client.begin()
            yield client

    async def begin(self) -> None: ...

    async def receive(self) -> str:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            text = await self.connection.recv()
        assert isinstance(text, str)
        return text

    async def next_event(self) -> Event:
        raise NotImplementedError

    async def events(self, count: int) -> list[Event]:
        return [await self.next_event() for _ in range(count)]

    async def wait_closed(self) -> int | None:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await self.connection.wait_closed()
        return self.connection.close_code


class PlainClient(SocketClient):
    path = "/ws?token="

    async def next_event(self) -> Event:
        found = json.loads(await self.receive())
        return found["event"], found["data"]


class SocketIoClient(SocketClient):
    path = "/socket.io/?EIO=4&transport=websocket&token="
    answer = ""

    async def begin(self) -> None:
        opening = await self.receive()
        assert opening[0] == "0"
        assert json.loads(opening[1:]) | {"sid": ""} == {
            "sid": "",
            "upgrades": [],
            "pingInterval": 25000,
            "pingTimeout": 20000,
            "maxPayload": 1000000,
        }
        await self.connection.send("40")
        self.answer = await self.receive()

    async def next_event(self) -> Event:
        text = await self.receive()
        while text == "2":
            await self.connection.send("3")
            text = await self.receive()
        assert text.startswith("42"), text
        name, data = json.loads(text[2:])
        return name, data


CLIENTS = [PlainClient, SocketIoClient]


def names(events: list[Event]) -> list[str]:
    return [name for name, _ in events]
