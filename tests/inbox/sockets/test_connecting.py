"""Connections: refused tokens, origins, limits, dead and slow clients, and the end of sessions."""

import asyncio
import json
import logging
import socket as sockets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Opcode

from clarion.app import Application, build_application
from clarion.clock import DAY, ManualClock
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.http.server.protocol import LimitedProtocol
from clarion.inbox.sockets.sockets import (
    MAX_CLIENT_BYTES,
    MAX_CLIENT_FRAMES,
    MAX_UNSENT_BYTES,
    PING_SECONDS,
    Phase,
)
from clarion.inbox.sockets.table import MAX_SOCKETS_PER_PERSON, SESSION_CHECK_SECONDS
from clarion.providers.sending.gateway import ProviderGateway
from clarion.settings.model import Settings
from clarion.vault import Vault
from tests.garbage import count_alive, without_collections
from tests.inbox.conftest import MakePerson, Person
from tests.inbox.sockets.clients import CLIENTS, TIMEOUT_SECONDS, PlainClient, SocketClient, SocketIoClient
from tests.inbox.sockets.conftest import Deliver, serve
from tests.support import Api

RAISE_EPOCH = sql("UPDATE environments SET session_epoch = session_epoch + 1 WHERE id = :environment_id")
REFUSED = "The session token is not valid or has expired; begin a new session with POST /v1/inbox/session"
OVER = "This session is over; begin a new one with POST /v1/inbox/session"


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not condition():  # noqa: ASYNC110 - changed by the server
            await asyncio.sleep(0.01)


async def status_of(address: str, path: str, **headers: str) -> int:
    with pytest.raises(InvalidStatus) as refused:
        await connect(address.replace("http", "ws", 1) + path, additional_headers=headers)
    return refused.value.response.status_code


async def test_a_token_that_is_not_valid_gets_an_error_after_which_socket_io_clients_stop(
    address: str, ada: Person
) -> None:
    for token in ("", "nonsense", ada.token[:-3] + "abc"):
        async with SocketIoClient.open(address, token) as socket:
            assert socket.answer == "44" + json.dumps({"message": REFUSED}, separators=(",", ":"))


async def test_a_token_that_is_not_valid_closes_a_plain_socket_with_the_reason(address: str) -> None:
    async with PlainClient.open(address, "nonsense") as socket:
        assert await socket.wait_closed() == 1008
        assert socket.connection.close_reason == REFUSED


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_session_of_a_deleted_person_is_refused(
    address: str, api: Api, ada: Person, client: type[SocketClient]
) -> None:
    await api.delete("/v2/subscribers/ada")

    async with client.open(address, ada.token) as socket:
        if isinstance(socket, SocketIoClient):
            assert socket.answer == "44" + json.dumps({"message": OVER}, separators=(",", ":"))
        else:
            assert await socket.wait_closed() == 1008


async def test_a_namespace_is_refused_with_a_message_and_the_default_one_still_works(address: str, ada: Person) -> None:
    url = address.replace("http", "ws", 1) + SocketIoClient.path + ada.token
    async with connect(url) as connection:
        await connection.recv()
        await connection.send("40/inbox,")
        refusal = str(await connection.recv())
        await connection.send("40")

        assert refusal.startswith('44/inbox,{"message":"There is no namespace')
        assert str(await connection.recv()).startswith('40{"sid":"')


@pytest.mark.parametrize("query", ["EIO=3&transport=websocket", "EIO=4&transport=polling", ""])
async def test_another_engine_is_a_bad_request(address: str, ada: Person, query: str) -> None:
    assert await status_of(address, f"/socket.io/?{query}&token={ada.token}") == 400


async def test_a_request_without_upgrade_is_no_socket(address: str) -> None:
    async with httpx.AsyncClient() as client:
        response = await client.get(f"{address}/socket.io/?EIO=4&transport=polling")

    assert response.status_code == 404


async def test_other_requests_work_on_a_server_with_sockets(address: str, ada: Person) -> None:
    async with httpx.AsyncClient(headers={"Connection": "Upgrade", "Upgrade": "websocket"}) as client:
        assert (await client.get(f"{address}/v1/health-check")).status_code == 200


async def test_origins_that_are_not_listed_are_forbidden(
    database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock, settings: Settings, ada: Person
) -> None:
    chosen = Settings(data_dir=settings.data_dir, inbox_origins=("https://app.example.com",))
    application = build_application(chosen, database, vault, gateway, clock=clock)
    async with serve(application) as address:
        for path in (SocketIoClient.path, PlainClient.path):
            assert await status_of(address, path + ada.token, Origin="https://evil.example.com") == 403
        async with PlainClient.open(address, ada.token, origin="https://app.example.com") as socket:
            await socket.events(2)


async def test_sockets_beyond_the_limit_are_told_to_come_back(application: Application, ada: Person) -> None:
    async with (
        serve(application, max_sockets=2) as address,
        PlainClient.open(address, ada.token) as first,
        SocketIoClient.open(address, ada.token),
    ):
        with pytest.raises(InvalidStatus) as refused:
            await connect(address.replace("http", "ws", 1) + PlainClient.path + ada.token)
        await first.connection.close()
        await wait_until(lambda: len(application.realtime.table) < 2)
        async with PlainClient.open(address, ada.token) as third:
            await third.events(2)

    assert refused.value.response.status_code == 503
    assert refused.value.response.headers["Retry-After"] == "1"


async def open_all(opened: AsyncExitStack, address: str, tokens: Sequence[str], **options: Any) -> list[PlainClient]:
    return [await opened.enter_async_context(PlainClient.open(address, one, **options)) for one in tokens]


async def test_one_person_takes_a_bounded_number_of_sockets(application: Application, make_person: MakePerson) -> None:
    ada, ben = await make_person("ada"), await make_person("ben")
    async with serve(application, max_sockets=2 * MAX_SOCKETS_PER_PERSON) as address, AsyncExitStack() as opened:
        first, *_ = await open_all(opened, address, [ada.token] * MAX_SOCKETS_PER_PERSON)

        assert await status_of(address, PlainClient.path + ada.token) == 429
        (other,) = await open_all(opened, address, [ben.token])
        await other.events(2)
        await first.connection.close()
        await wait_until(lambda: len(application.realtime.table) == MAX_SOCKETS_PER_PERSON)
        await open_all(opened, address, [ada.token])


async def test_an_address_with_few_sockets_takes_a_place_of_one_with_many(
    application: Application, make_person: MakePerson
) -> None:
    people = [await make_person(f"visitor-{number}") for number in range(4)]
    ada = await make_person("ada")
    async with serve(application, max_sockets=4) as address, AsyncExitStack() as opened:
        crowd = await open_all(opened, address, [one.token for one in people], local_addr=("127.0.0.2", 0))
        (arrived,) = await open_all(opened, address, [ada.token], local_addr=("127.0.0.3", 0))

        await arrived.events(2)
        assert await crowd[0].wait_closed() == 1006
        assert len(application.realtime.table) == 4
        # It has more than an equal share itself, so nobody makes room for it.
        with pytest.raises(InvalidStatus):
            await open_all(opened, address, [people[0].token], local_addr=("127.0.0.2", 0))


async def test_sockets_without_a_session_make_room_for_those_with_one(application: Application, ada: Person) -> None:
    async with serve(application, max_sockets=3) as address:
        url = address.replace("http", "ws", 1) + SocketIoClient.path
        # A client that does not ask for its verdict keeps its socket for a while.
        strangers = [await connect(f"{url}nonsense") for _ in range(3)]
        with pytest.raises(InvalidStatus):
            await connect(f"{url}nonsense", local_addr=("127.0.0.2", 0))

        async with PlainClient.open(address, ada.token) as socket:
            await socket.events(2)
        for one in strangers:
            await one.close()


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_client_that_answers_no_ping_is_disconnected(
    address: str, ada: Person, application: Application, client: type[SocketClient]
) -> None:
    table = application.realtime.table
    async with client.open(address, ada.token) as silent:
        await silent.events(2)
        silent.connection.transport.pause_reading()
        table.advance(2 * PING_SECONDS)
        assert len(table) == 1
        table.advance(PING_SECONDS)
        await wait_until(lambda: len(table) == 0)
        silent.connection.transport.abort()


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_client_that_answers_pings_stays(
    address: str, ada: Person, application: Application, deliver: Deliver, client: type[SocketClient]
) -> None:
    table = application.realtime.table
    async with client.open(address, ada.token) as socket:
        await socket.events(2)
        reading = asyncio.create_task(socket.next_event())
        for _ in range(3):
            table.advance(2 * PING_SECONDS)
            await wait_until(lambda: not any(one._awaits_pong for one in table._open))
        await deliver(ada)

        assert (await reading)[0] == "notification_received"


async def test_a_client_that_does_not_read_is_dropped_and_nobody_else_waits(
    address: str, make_person: MakePerson, application: Application, deliver: Deliver
) -> None:
    ada, bob = await make_person("ada"), await make_person("bob")
    url = address.replace("http", "ws", 1) + PlainClient.path + ada.token
    small = sockets.socket()
    small.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
    port = int(address.rpartition(":")[2])
    small.connect(("127.0.0.1", port))
    async with connect(url, sock=small, ping_interval=None) as stuck, PlainClient.open(address, bob.token) as other:
        await other.events(2)
        stuck.transport.pause_reading()
        table = application.realtime.table
        for _ in range(300):
            await deliver(ada, content="x" * MAX_UNSENT_BYTES)
            await asyncio.sleep(0.05)
            if table.dropped_count:
                break
        await deliver(bob)

        assert (await other.next_event())[0] == "notification_received"
        stuck.transport.abort()
    assert table.dropped_count == 1


async def test_a_message_of_a_client_that_is_too_long_closes_its_socket(address: str, ada: Person) -> None:
    async with PlainClient.open(address, ada.token) as socket:
        await socket.events(2)
        await socket.connection.send("x" * (MAX_CLIENT_BYTES + 1))

        assert await socket.wait_closed() == 1009


async def test_a_client_that_sends_too_much_is_closed(address: str, ada: Person) -> None:
    async with PlainClient.open(address, ada.token) as socket:
        await socket.events(2)
        frames = b"".join(bytes([0x80 | Opcode.TEXT, 0x80 | 1]) + bytes(4) + b"x" for _ in range(MAX_CLIENT_FRAMES + 1))
        socket.connection.transport.write(frames)

        assert await socket.wait_closed() == 1008


@pytest.fixture
async def open_sockets(address: str, ada: Person) -> AsyncIterator[list[SocketClient]]:
    async with PlainClient.open(address, ada.token) as plain, SocketIoClient.open(address, ada.token) as other:
        await plain.events(2)
        await other.events(2)
        yield [plain, other]


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_socket_leaves_nothing_of_its_http_connection_behind(
    client: type[SocketClient], address: str, ada: Person
) -> None:
    with without_collections():
        async with client.open(address, ada.token) as socket:
            await socket.events(2)

            assert count_alive(LimitedProtocol) == 0


def check_all_sessions(application: Application) -> None:
    """Let the seconds pass in which the sessions of everybody are checked."""
    for _ in range(SESSION_CHECK_SECONDS):
        application.realtime.table.advance(1)
        application.realtime.table.check_sessions()


async def test_raising_the_session_epoch_ends_open_sockets(
    open_sockets: list[SocketClient], ada: Person, database: Database, application: Application
) -> None:
    await database.transaction(lambda db: db.execute(RAISE_EPOCH, environment_id=ada.environment.id))
    check_all_sessions(application)

    assert [await one.wait_closed() for one in open_sockets] == [1008, 1008]


async def test_deleting_a_person_ends_their_sockets(
    open_sockets: list[SocketClient], api: Api, application: Application
) -> None:
    await api.delete("/v2/subscribers/ada")
    check_all_sessions(application)

    assert [await one.wait_closed() for one in open_sockets] == [1008, 1008]


async def test_sockets_end_with_their_token(
    open_sockets: list[SocketClient], clock: ManualClock, application: Application
) -> None:
    check_all_sessions(application)
    clock.move(16 * DAY)
    check_all_sessions(application)

    assert [await one.wait_closed() for one in open_sockets] == [1008, 1008]


async def test_sessions_that_hold_are_not_disturbed_by_checks(
    open_sockets: list[SocketClient], application: Application, ada: Person, deliver: Deliver
) -> None:
    check_all_sessions(application)
    await deliver(ada)

    assert {(await one.next_event())[0] for one in open_sockets} == {"notification_received"}
    assert {one.phase for one in application.realtime.table._open} == {Phase.OPEN}


async def test_shutdown_closes_sockets_so_that_clients_come_back(application: Application, ada: Person) -> None:
    async with (
        serve(application) as address,
        PlainClient.open(address, ada.token) as plain,
        SocketIoClient.open(address, ada.token) as other,
    ):
        await plain.events(2)
        await other.events(2)
        closing = asyncio.create_task(application.realtime.table.close_all())

        assert await plain.wait_closed() == 1012
        # Not a packet that disconnects: after that the client would stay away.
        with pytest.raises(ConnectionClosed):
            await other.receive()
        await closing
        assert await status_of(address, PlainClient.path + ada.token) == 503


async def test_no_token_is_logged(
    address: str, ada: Person, caplog: pytest.LogCaptureFixture, application: Application
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("websockets").setLevel(logging.WARNING)
    for client in CLIENTS:
        async with client.open(address, ada.token):
            pass
    await status_of(address, f"/socket.io/?token={ada.token}")
    async with httpx.AsyncClient() as http:
        logging.getLogger("httpx").setLevel(logging.WARNING)
        logging.getLogger("httpcore").setLevel(logging.WARNING)
        for path in ("/socket.io/", "/ws", "/unknown"):
            await http.get(f"{address}{path}?token={ada.token}")
    await asyncio.sleep(0)

    assert any(record.message == "Request" for record in caplog.records)
    assert not [record for record in caplog.records if ada.token in str(vars(record))]
