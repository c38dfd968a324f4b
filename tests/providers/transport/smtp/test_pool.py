"""Many letters to one server: commands in one go, connections shared and waited for, refusals in the middle."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import pytest

from clarion.clock import ManualClock
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.smtp.pool import MAX_CONCURRENT, ConnectionPool, OnClose
from clarion.providers.transport.smtp.session import SmtpSession
from tests.providers.loopback import MailServer
from tests.providers.transport.smtp.test_client import LOOPBACK, fail, send


@dataclass
class Pipe:
    """A server that takes commands in one go; `replies` are its answers to commands, by how these begin."""

    port: int = 0
    limit: int = 1000
    """Connections that it takes at a time."""
    replies: dict[str, str] = field(default_factory=dict)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    """Letters are answered when this is set."""
    flights: list[bytes] = field(default_factory=list)
    letters: list[bytes] = field(default_factory=list)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    refusals: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self.writers) >= self.limit:
            self.refusals += 1
            writer.write(b"421 4.7.0 Too many connections\r\n")
            writer.close()
            return
        self.writers.append(writer)
        writer.write(b"220 pipe\r\n")
        while flight := await reader.read(65_536):
            self.flights.append(flight)
            answers = [self._answer(line) for line in flight.decode().split("\r\n")[:-1]]
            writer.write("".join(f"{one}\r\n" for one in answers).encode())
            if answers[-1].startswith("354"):
                await self._take_letter(reader, writer)
        self.writers.remove(writer)
        writer.close()

    async def _take_letter(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        letter = await reader.readuntil(b"\r\n.\r\n")
        await self.may_answer.wait()
        self.letters.append(letter)
        writer.write(b"250 Taken\r\n")

    def _answer(self, line: str) -> str:
        if line.startswith("EHLO"):
            return "250-pipe\r\n250-SIZE 1000000\r\n250 PIPELINING"
        given = next((reply for start, reply in self.replies.items() if line.startswith(start)), None)
        return given or ("354 Go on" if line == "DATA" else "250 OK")


@asynccontextmanager
async def pipe(*, limit: int = 1000) -> AsyncIterator[Pipe]:
    made = Pipe(limit=limit)
    made.may_answer.set()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        for writer in made.writers:
            writer.close()


def at(server: Pipe) -> MailServer:
    """The server as the senders of these tests take it."""
    return MailServer(port=server.port)


@pytest.fixture
async def gateway(clock: ManualClock) -> AsyncIterator[ProviderGateway]:
    async with ProviderGateway(LOOPBACK, clock=clock) as entered:
        yield entered


async def test_the_commands_of_a_letter_go_together_where_the_server_takes_them_so(gateway: ProviderGateway) -> None:
    async with pipe() as server:
        await send(gateway, at(server))
        await send(gateway, at(server))

    first, second = server.flights[-2:]
    assert [line.partition(b":")[0] for line in first.splitlines()] == [b"MAIL FROM", b"RCPT TO", b"DATA"]
    assert second == b"RSET\r\n" + first
    assert b" SIZE=" in first
    assert len(server.letters) == 2


async def test_a_line_that_begins_with_a_dot_arrives_as_it_was(gateway: ProviderGateway) -> None:
    async with pipe() as server:
        await send(gateway, at(server), content="above\n.\n.below")

    assert server.letters[0].endswith(b"above\r\n..\r\n..below\r\n.\r\n")


async def test_a_refused_recipient_leaves_the_connection_for_the_next_letter(gateway: ProviderGateway) -> None:
    async with pipe() as server:
        server.replies |= {"RCPT": "550 5.1.1 No such user", "DATA": "503 No recipients"}
        failure = await fail(gateway, at(server))
        server.replies.clear()
        await send(gateway, at(server))
        connections = len(server.writers)

    assert (failure.kind, failure.message) == (FailureKind.RECIPIENT_INVALID, "550 5.1.1 No such user")
    assert (connections, len(server.letters)) == (1, 1)


async def test_a_server_that_would_take_a_letter_for_nobody_is_given_none(gateway: ProviderGateway) -> None:
    async with pipe() as server:
        server.replies["RCPT"] = "550 5.1.1 No such user"
        failure = await fail(gateway, at(server))

    assert failure.kind is FailureKind.RECIPIENT_INVALID
    assert server.letters == []


@pytest.mark.parametrize(
    ("command", "reply", "kind"),
    [
        ("MAIL", "452 4.3.1 Full", FailureKind.RETRYABLE),
        ("MAIL", "550 5.7.1 Not you", FailureKind.PERMANENT),
        ("DATA", "451 4.3.0 Later", FailureKind.RETRYABLE),
    ],
)
async def test_what_a_server_says_in_the_middle_is_told(
    gateway: ProviderGateway, command: str, reply: str, kind: FailureKind
) -> None:
    async with pipe() as server:
        server.replies |= {command: reply, "DATA": reply if command == "DATA" else "503 Not now"}
        failure = await fail(gateway, at(server))

    assert (failure.kind, failure.message) == (kind, reply)


async def test_a_server_that_says_goodbye_between_letters_is_called_again(gateway: ProviderGateway) -> None:
    async with pipe() as server:
        await send(gateway, at(server))
        server.writers[0].write(b"421 4.4.2 Idle for too long\r\n")
        server.writers[0].close()
        await asyncio.sleep(0.05)
        await send(gateway, at(server))

    assert len(server.letters) == 2


async def test_letters_wait_where_a_server_takes_no_more_connections(gateway: ProviderGateway) -> None:
    async with pipe(limit=3) as server:
        server.may_answer.clear()
        letters = [asyncio.create_task(send(gateway, at(server), message_id=f"id{n}")) for n in range(20)]
        while len(server.writers) < 3 or not server.refusals:  # noqa: ASYNC110 - the server is plain on purpose
            await asyncio.sleep(0.01)
        server.may_answer.set()
        await asyncio.gather(*letters)

    assert len(server.letters) == 20


async def test_there_is_a_bound_to_the_connections_of_an_account(gateway: ProviderGateway) -> None:
    async with pipe() as server:
        server.may_answer.clear()
        count = MAX_CONCURRENT + 20
        letters = [asyncio.create_task(send(gateway, at(server), message_id=f"id{n}")) for n in range(count)]
        while len(server.writers) < MAX_CONCURRENT:  # noqa: ASYNC110 - the server is plain on purpose
            await asyncio.sleep(0.01)
        server.may_answer.set()
        await asyncio.gather(*letters)
        connections = len(server.writers)

    assert (connections, len(server.letters)) == (MAX_CONCURRENT, count)


async def test_a_letter_that_finds_all_connections_in_use_comes_back_without_losing_an_attempt(
    clock: ManualClock,
) -> None:
    async def connect(on_close: OnClose) -> SmtpSession:
        return cast("SmtpSession", object())

    pool = ConnectionPool("mail.example", connect, seconds=0.05, clock=clock)
    for _ in range(MAX_CONCURRENT):
        await pool.acquire()
    with pytest.raises(SendFailure) as failure:
        await pool.acquire()

    assert (failure.value.kind, failure.value.retry_after) == (FailureKind.RATE_LIMITED, 15)
