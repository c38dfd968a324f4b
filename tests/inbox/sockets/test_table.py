"""The table of sockets, while the sessions of some are being checked."""

import asyncio
from typing import Any

import pytest

from clarion.clock import ManualClock, Millis
from clarion.ids import EnvironmentId, SubscriberId
from clarion.inbox.sockets.protocols import PlainSocket, SocketIoSocket
from clarion.inbox.sockets.sockets import Socket, SocketIdentity
from clarion.inbox.sockets.table import SocketTable

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
ADA = SocketIdentity(
    environment_id=EnvironmentId(bytes(16)), subscriber_id=SubscriberId(bytes(16)), epoch=0, expires_at=Millis(1)
)
MASKED_40 = b"\x81\x82\x00\x00\x00\x0040"
"""What a Socket.IO client sends to connect, as a frame."""


class Wire(asyncio.Transport):
    """A connection whose other end reads everything."""

    def write(self, data: Any) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return False

    def abort(self) -> None: ...


class Members:
    def __init__(self) -> None:
        self.sockets: list[Socket] = []

    def add(self, socket: Socket, _: SocketIdentity) -> None:
        self.sockets.append(socket)

    def remove(self, socket: Socket, _: SocketIdentity) -> None:
        if socket in self.sockets:
            self.sockets.remove(socket)


def make_table(members: Members, max_sockets: int = 10) -> SocketTable:
    table = SocketTable(clock=ManualClock(Millis(0)), members=members, check=lambda *_: None)
    table.max_sockets = max_sockets
    return table


def open_socket(table: SocketTable, kind: type[Socket], address: str = "192.0.2.1") -> Socket:
    assert table.find_refusal(address, ADA) is None
    socket = kind(table, KEY, ADA, address=address)
    socket.connection_made(Wire())
    if kind is SocketIoSocket:
        socket.data_received(MASKED_40)
    return socket


@pytest.mark.parametrize("kind", [PlainSocket, SocketIoSocket])
def test_a_socket_whose_session_holds_is_online_until_it_is_lost(kind: type[Socket]) -> None:
    members = Members()
    socket = open_socket(make_table(members), kind)
    socket.confirm()
    online = list(members.sockets)

    socket.connection_lost(None)

    assert (online, members.sockets) == ([socket], [])


@pytest.mark.parametrize("kind", [PlainSocket, SocketIoSocket])
def test_a_socket_that_is_lost_during_its_check_never_comes_online(kind: type[Socket]) -> None:
    members = Members()
    socket = open_socket(make_table(members), kind)

    socket.connection_lost(ConnectionResetError())
    socket.confirm()

    assert members.sockets == []


@pytest.mark.parametrize("kind", [PlainSocket, SocketIoSocket])
def test_a_socket_that_made_room_during_its_check_never_comes_online(kind: type[Socket]) -> None:
    members = Members()
    table = make_table(members, max_sockets=2)
    first, second = (open_socket(table, kind) for _ in range(2))

    third = open_socket(table, kind, "192.0.2.2")
    for one in (first, second, third):
        one.confirm()
    first.connection_lost(None)

    assert members.sockets == [second, third]
    assert len(table) == 2
