"""SMTP and HTTP servers on the loopback interface that act as providers, with configurable errors."""

import asyncio
import errno
import itertools
import os
import socket
import ssl
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from clarion.providers.definition.outgoing import Outgoing
from clarion.vocabulary import Channel

PASSWORD = "canary-password-7f3a"


SLACK = {"applicationId": "A0", "clientId": "C0", "secretKey": "canary-slack-secret-2b7e"}


def make_outgoing(channel: Channel = Channel.EMAIL, **fields: Any) -> Outgoing:
    """Build a message of a channel; a chat message has credentials for Slack."""
    credentials = SLACK if channel is Channel.CHAT else {}
    base = {"message_id": "6601f5a1c0ffee", "channel": channel, "content": "Hello", "credentials": credentials}
    return Outgoing(**base | fields)


@dataclass
class MailServer:
    """An SMTP server that records messages; `replies` are its replies to RCPT and DATA instead of 250."""

    port: int = 0
    connections: int = 0
    envelopes: list[Envelope] = field(default_factory=list)
    logins: list[str] = field(default_factory=list)
    replies: dict[str, str] = field(default_factory=dict)
    sessions: list[SMTP] = field(default_factory=list)

    def last_mail(self) -> EmailMessage:
        content = self.envelopes[-1].original_content
        assert content is not None
        message = message_from_bytes(content, policy=default)
        assert isinstance(message, EmailMessage)
        return message

    def hang_up(self) -> None:
        for session in self.sessions:
            if session.transport is not None:
                session.transport.close()

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        reply = self.replies.get(address, "250 OK")
        if reply.startswith("250"):
            envelope.rcpt_tos.append(address)
        return reply

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        reply = self.replies.get("DATA", "250 Queued as 42")
        if reply == "hang up":
            self.hang_up()
        if reply == "silence":
            await asyncio.Event().wait()
        if reply.startswith("250"):
            self.envelopes.append(envelope)
        return reply

    def authenticate(self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.logins.append(data.login.decode())
        return AuthResult(success=data.password == PASSWORD.encode(), handled=False)


@asynccontextmanager
async def mail_server(
    *, log_in: bool = False, tls: ssl.SSLContext | None = None, implicit: bool = False, **options: Any
) -> AsyncIterator[MailServer]:
    mail = MailServer()

    def connect() -> SMTP:
        mail.connections += 1
        if log_in:
            options.update(authenticator=mail.authenticate, auth_required=True, auth_require_tls=False)
        with warnings.catch_warnings():
            # aiosmtpd warns of authentication without encryption.
            warnings.simplefilter("ignore")
            mail.sessions.append(SMTP(mail, tls_context=None if implicit else tls, enable_SMTPUTF8=True, **options))
        return mail.sessions[-1]

    server = await asyncio.get_running_loop().create_server(connect, "127.0.0.1", 0, ssl=tls if implicit else None)
    mail.port = server.sockets[0].getsockname()[1]
    try:
        yield mail
    finally:
        server.close()
        mail.hang_up()
        await server.wait_closed()


Respond = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class WebServer:
    """An HTTP server that records requests and answers with `respond`."""

    respond: Respond
    port: int = 0
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    listener: asyncio.Server | None = None
    reserved: socket.socket | None = None
    """Holds the port while connections are refused."""

    def url(self, path: str = "/services/T0/B0/canary-webhook-9c1d", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    async def open(self) -> None:
        self.reserved = self.reserved or _bound(self.port)
        self.listener = await asyncio.start_server(self._serve, sock=self.reserved)
        self.port, self.reserved = self.reserved.getsockname()[1], None

    async def close(self) -> None:
        if self.listener is None:
            return
        self.listener.close()
        for writer in self.writers:
            writer.close()
        await self.listener.wait_closed()
        self.listener = None

    async def refuse(self) -> None:
        """Close all connections, and refuse new ones until it is opened again."""
        await self.close()
        self.reserved = _bound(self.port)

    def release_port(self) -> None:
        if self.reserved is not None:
            self.reserved.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lengths = (line[15:] for line in head.split(b"\r\n") if line.lower().startswith(b"content-len"))
                length = int(next(lengths, b"0"))
                self.requests.append(head + await reader.readexactly(length))
                await self.respond(self.requests[-1], writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def web_server(respond: Respond) -> AsyncIterator[WebServer]:
    web = WebServer(respond)
    await web.open()
    try:
        yield web
    finally:
        await web.close()
        web.release_port()


def _bound(port: int) -> socket.socket:
    """Bind a port without listening; 0 means one that no earlier server had."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    for candidate in [port] if port else _PORTS:
        try:
            bound.bind(("127.0.0.1", candidate))
        except OSError as error:
            if port or error.errno != errno.EADDRINUSE:
                raise
        else:
            break
    return bound


def _list_own_ports() -> Iterator[int]:
    """The ports of this worker, each in turn: messages to an earlier server may still be tried by its environment."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    # The kernel itself gives out others.
    return itertools.cycle(range(10_000 + number, 32_000, workers))


_PORTS = _list_own_ports()


def answering(status: int, body: str = "ok", **headers: str) -> Respond:
    async def respond(request: bytes, writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status} Answer", f"Content-Length: {len(body.encode())}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", body]).encode())
        await writer.drain()

    return respond
