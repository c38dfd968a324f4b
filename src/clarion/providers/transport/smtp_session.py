"""An authenticated SMTP session that sends one message after the other over the same connection.

If the server supports PIPELINING (RFC 2920), a message takes two round trips instead of five.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Sequence
from typing import cast

from aiosmtplib import (
    SMTP,
    SMTPDataError,
    SMTPNotSupported,
    SMTPRecipientRefused,
    SMTPRecipientsRefused,
    SMTPResponse,
    SMTPSenderRefused,
    SMTPServerDisconnected,
)

from clarion.providers.email.mime import MimeMessage

_MAX_REPLY = 64 * 1024
_OK = 250
_START_INPUT = 354
_RESET = b"RSET\r\n"
_DATA = b"DATA\r\n"
_UNSAFE_IN_COMMAND = re.compile(r"[\x00-\x20<>\x7f]")


class LostBeforeContent(SMTPServerDisconnected):
    """The connection was lost before the content was sent, so the message can safely be sent again."""


class SmtpSession(asyncio.Protocol):
    """Takes over a connection that aiosmtplib has opened and authenticated."""

    def __init__(self, client: SMTP, on_close: Callable[["SmtpSession"], None]) -> None:
        self.is_used = False
        self.is_content_sent = False
        """Whether the content of the last message was sent, so that the server may have accepted it."""
        self._transport = cast("asyncio.Transport", client.transport)
        self._on_close = on_close
        self._can_pipeline = client.supports_extension("pipelining")
        self._supports_size = client.supports_extension("size")
        self._supports_utf8 = client.supports_extension("smtputf8")
        self._received = b""
        self._reply_lines: list[bytes] = []
        self._replies: deque[SMTPResponse] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._transport.set_protocol(self)

    @property
    def is_open(self) -> bool:
        return not self._transport.is_closing()

    def close(self) -> None:
        self._transport.close()

    async def send(self, message: MimeMessage) -> tuple[dict[str, SMTPResponse], str]:
        """Send the message; returns the refused recipients, if at least one was accepted, and the last reply text."""
        self.is_content_sent = False
        commands = [self._mail_command(message), *(f"RCPT TO:<{_path(one)}>\r\n" for one in message.recipients)]
        try:
            replies = await self._open_transaction([one.encode() for one in commands])
        except SMTPServerDisconnected as error:
            raise LostBeforeContent(str(error)) from error
        refused = self._check_replies(message, replies)
        self.is_content_sent = True
        self._transport.write(_stuff_dots(message.content))
        reply = await self._read()
        if reply.code != _OK:
            raise SMTPDataError(reply.code, reply.message)
        return refused, reply.message

    def _mail_command(self, message: MimeMessage) -> str:
        if message.needs_utf8 and not self._supports_utf8:
            raise SMTPNotSupported("SMTPUTF8 is not supported by this server")
        size = f" SIZE={len(message.content)}" if self._supports_size else ""
        return f"MAIL FROM:<{_path(message.sender)}>{size}{' SMTPUTF8' if message.needs_utf8 else ''}\r\n"

    async def _open_transaction(self, commands: Sequence[bytes]) -> list[SMTPResponse]:
        """Send MAIL, RCPT and DATA; returns the replies, which may be fewer after an error."""
        if self._replies or self._reply_lines or self._received:
            # An unsolicited reply means that the server is closing the connection.
            self.close()
        # RSET drops the state of the last message, and shows whether the server still answers.
        start = [_RESET] if self.is_used else []
        self.is_used = True
        if self._can_pipeline:
            self._write(b"".join([*start, *commands, _DATA]))
            return await self._read_all(len(start), len(commands) + 1)
        if start:
            self._write(_RESET)
            await self._read_all(1, 0)
        return await self._send_one_by_one(commands)

    async def _read_all(self, resets: int, count: int) -> list[SMTPResponse]:
        if resets and (await self._read()).code != _OK:
            self.close()
            raise SMTPServerDisconnected("Connection lost")
        replies: list[SMTPResponse] = []
        while len(replies) < count:
            try:
                replies.append(await self._read())
            except SMTPServerDisconnected:
                # If the server disconnects after an error reply, that reply is the reason.
                if not replies or _is_positive(replies[-1]):
                    raise
                break
        return replies

    async def _send_one_by_one(self, commands: Sequence[bytes]) -> list[SMTPResponse]:
        replies: list[SMTPResponse] = []
        for command in commands:
            self._write(command)
            replies.append(await self._read())
            if not _is_positive(replies[0]):
                return replies
        if any(map(_is_positive, replies[1:])):
            self._write(_DATA)
            replies.append(await self._read())
        return replies

    def _check_replies(self, message: MimeMessage, replies: Sequence[SMTPResponse]) -> dict[str, SMTPResponse]:
        """Return the refused recipients; raises if the sender, all recipients or DATA were refused."""
        answered = dict(zip(message.recipients, replies[1:], strict=False))
        refused = {address: reply for address, reply in answered.items() if not _is_positive(reply)}
        can_continue = _is_positive(replies[0]) and len(refused) < len(message.recipients)
        last = replies[-1]
        if can_continue and last.code == _START_INPUT:
            return refused
        if last.code == _START_INPUT:
            # The server waits for content that has no recipient. Only closing the connection ends that.
            self.close()
        if not _is_positive(replies[0]):
            raise SMTPSenderRefused(replies[0].code, replies[0].message, message.sender)
        if not can_continue:
            raise SMTPRecipientsRefused(
                [SMTPRecipientRefused(reply.code, reply.message, address) for address, reply in refused.items()]
            )
        raise SMTPDataError(last.code, last.message)

    def _write(self, content: bytes) -> None:
        if not self.is_open:
            raise SMTPServerDisconnected("Connection lost")
        self._transport.write(content)

    async def _read(self) -> SMTPResponse:
        while not self._replies:
            if not self.is_open:
                raise SMTPServerDisconnected("Connection lost")
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        return self._replies.popleft()

    def data_received(self, data: bytes) -> None:
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            self._reply_lines.append(line)
            if line[3:4] != b"-":
                self._finish_reply()
        if len(self._received) + sum(map(len, self._reply_lines)) > _MAX_REPLY:
            self.close()
        self._wake()

    def _finish_reply(self) -> None:
        lines, self._reply_lines = self._reply_lines, []
        if not lines[-1][:3].isdigit():
            self.close()
            return
        text = b"\n".join(line[4:].strip() for line in lines).decode("utf-8", "replace")
        self._replies.append(SMTPResponse(int(lines[-1][:3]), text))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - as asyncio calls it
        self._wake()
        self._on_close(self)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _path(address: str) -> str:
    if _UNSAFE_IN_COMMAND.search(address):
        raise ValueError("an address has characters that end a command")
    return address


def _is_positive(reply: SMTPResponse) -> bool:
    return 200 <= reply.code < 300


def _stuff_dots(content: bytes) -> bytes:
    """Apply dot-stuffing, because a line with a single dot ends the content, and append that line."""
    stuffed = content.replace(b"\r\n.", b"\r\n..")
    return b"%b%b.\r\n" % (b"." if content.startswith(b".") else b"", stuffed)
