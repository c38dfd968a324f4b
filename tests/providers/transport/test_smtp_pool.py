"""Many e-mails to one SMTP server: pipelining, shared and limited connections, refused commands."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import pytest

from clarion.clock import ManualClock
from clarion.providers.definition.result import FailureKind, SendFailure
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.smtp_pool import MAX_CONCURRENT, ConnectionPool, OnClose
from clarion.providers.transport.smtp_session import SmtpSession
from tests.providers.loopback import MailServer
from tests.providers.transport.test_smtp import LOOPBACK, fail, send


@dataclass
class PipeliningServer:
    """A server with PIPELINING; `replies` are its replies to commands, by their prefix."""

    port: int = 0
    limit: int = 1000
    """The maximum number of concurrent connections."""
    replies: dict[str, str] = field(default_factory=dict)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    """Content is acknowledged only while this is set."""
    batches: list[bytes] = field(default_factory=list)
    contents: list[bytes] = field(default_factory=list)
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
        while batch := await reader.read(65_536):
            self.batches.append(batch)
            answers = [self._answer(line) for line in batch.decode().split("\r\n")[:-1]]
            writer.write("".join(f"{one}\r\n" for one in answers).encode())
            if answers[-1].startswith("354"):
                await self._receive_content(reader, writer)
        self.writers.remove(writer)
        writer.close()

    async def _receive_content(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        content = await reader.readuntil(b"\r\n.\r\n")
        await self.may_answer.wait()
        self.contents.append(content)
        writer.write(b"250 Taken\r\n")

    def _answer(self, line: str) -> str:
        if line.startswith("EHLO"):
            return "250-pipe\r\n250-SIZE 1000000\r\n250 PIPELINING"
        given = next((reply for start, reply in self.replies.items() if line.startswith(start)), None)
        return given or ("354 Go on" if line == "DATA" else "250 OK")


@asynccontextmanager
async def serve_pipelining(*, limit: int = 1000) -> AsyncIterator[PipeliningServer]:
    server_state = PipeliningServer(limit=limit)
    server_state.may_answer.set()
    server = await asyncio.start_server(server_state.serve, "127.0.0.1", 0)
    server_state.port = server.sockets[0].getsockname()[1]
    try:
        yield server_state
    finally:
        server.close()
        for writer in server_state.writers:
            writer.close()


def as_mail_server(server: PipeliningServer) -> MailServer:
    """Return the server in the form that `send` expects."""
    return MailServer(port=server.port)


@pytest.fixture
async def gateway(clock: ManualClock) -> AsyncIterator[ProviderGateway]:
    async with ProviderGateway(LOOPBACK, clock=clock) as entered:
        yield entered


async def test_commands_are_pipelined_if_the_server_supports_it(gateway: ProviderGateway) -> None:
    async with serve_pipelining() as server:
        await send(gateway, as_mail_server(server))
        await send(gateway, as_mail_server(server))

    first, second = server.batches[-2:]
    assert [line.partition(b":")[0] for line in first.splitlines()] == [b"MAIL FROM", b"RCPT TO", b"DATA"]
    assert second == b"RSET\r\n" + first
    assert b" SIZE=" in first
    assert len(server.contents) == 2


async def test_lines_that_begin_with_a_dot_are_stuffed(gateway: ProviderGateway) -> None:
    async with serve_pipelining() as server:
        await send(gateway, as_mail_server(server), content="above\n.\n.below")

    assert server.contents[0].endswith(b"above\r\n..\r\n..below\r\n.\r\n")


async def test_a_connection_is_reused_after_a_refused_recipient(gateway: ProviderGateway) -> None:
    async with serve_pipelining() as server:
        server.replies |= {"RCPT": "550 5.1.1 No such user", "DATA": "503 No recipients"}
        failure = await fail(gateway, as_mail_server(server))
        server.replies.clear()
        await send(gateway, as_mail_server(server))
        connections = len(server.writers)

    assert (failure.kind, failure.message) == (FailureKind.RECIPIENT_INVALID, "550 5.1.1 No such user")
    assert (connections, len(server.contents)) == (1, 1)


async def test_no_content_is_sent_if_all_recipients_are_refused(gateway: ProviderGateway) -> None:
    async with serve_pipelining() as server:
        server.replies["RCPT"] = "550 5.1.1 No such user"
        failure = await fail(gateway, as_mail_server(server))

    assert failure.kind is FailureKind.RECIPIENT_INVALID
    assert server.contents == []


@pytest.mark.parametrize(
    ("command", "reply", "kind"),
    [
        ("MAIL", "452 4.3.1 Full", FailureKind.RETRYABLE),
        ("MAIL", "550 5.7.1 Not you", FailureKind.PERMANENT),
        ("DATA", "451 4.3.0 Later", FailureKind.RETRYABLE),
    ],
)
async def test_a_failure_has_the_reply_to_the_refused_command(
    gateway: ProviderGateway, command: str, reply: str, kind: FailureKind
) -> None:
    async with serve_pipelining() as server:
        server.replies |= {command: reply, "DATA": reply if command == "DATA" else "503 Not now"}
        failure = await fail(gateway, as_mail_server(server))

    assert (failure.kind, failure.message) == (kind, reply)


async def test_a_server_that_disconnects_between_messages_is_reconnected(gateway: ProviderGateway) -> None:
    async with serve_pipelining() as server:
        await send(gateway, as_mail_server(server))
        server.writers[0].write(b"421 4.4.2 Idle for too long\r\n")
        server.writers[0].close()
        await asyncio.sleep(0.05)
        await send(gateway, as_mail_server(server))

    assert len(server.contents) == 2


async def test_messages_wait_if_the_server_limits_connections(gateway: ProviderGateway) -> None:
    async with serve_pipelining(limit=3) as server:
        server.may_answer.clear()
        sends = [asyncio.create_task(send(gateway, as_mail_server(server), message_id=f"id{n}")) for n in range(20)]
        while len(server.writers) < 3 or not server.refusals:  # noqa: ASYNC110 - the server has no events to wait for
            await asyncio.sleep(0.01)
        server.may_answer.set()
        await asyncio.gather(*sends)

    assert len(server.contents) == 20


async def test_the_connections_of_an_account_are_limited(gateway: ProviderGateway) -> None:
    async with serve_pipelining() as server:
        server.may_answer.clear()
        count = MAX_CONCURRENT + 20
        sends = [asyncio.create_task(send(gateway, as_mail_server(server), message_id=f"id{n}")) for n in range(count)]
        while len(server.writers) < MAX_CONCURRENT:  # noqa: ASYNC110 - the server has no events to wait for
            await asyncio.sleep(0.01)
        server.may_answer.set()
        await asyncio.gather(*sends)
        connections = len(server.writers)

    assert (connections, len(server.contents)) == (MAX_CONCURRENT, count)


async def test_a_wait_for_a_connection_that_is_too_long_is_no_failure_of_the_provider(clock: ManualClock) -> None:
    async def connect(on_close: OnClose) -> SmtpSession:
        return cast("SmtpSession", object())

    pool = ConnectionPool("mail.example", connect, seconds=0.05, clock=clock)
    for _ in range(MAX_CONCURRENT):
        await pool.acquire()
    with pytest.raises(SendFailure) as failure:
        await pool.acquire()

    assert (failure.value.kind, failure.value.retry_after) == (FailureKind.NO_CONNECTION, None)


async def test_a_message_that_may_no_longer_start_when_a_connection_is_free_is_not_sent(
    gateway: ProviderGateway,
) -> None:
    async with serve_pipelining(limit=1) as server:
        server.may_answer.clear()
        first = asyncio.create_task(send(gateway, as_mail_server(server)))
        while not server.batches or not server.batches[-1].endswith(b"DATA\r\n"):  # noqa: ASYNC110 - no events
            await asyncio.sleep(0.01)
        late = asyncio.create_task(fail(gateway, as_mail_server(server), can_start=lambda: False))
        while not server.refusals:  # noqa: ASYNC110 - the server has no events to wait for
            await asyncio.sleep(0.01)
        server.may_answer.set()
        failure = await late
        await first
        await send(gateway, as_mail_server(server))

    assert failure.kind is FailureKind.NO_CONNECTION
    assert len(server.contents) == 2
