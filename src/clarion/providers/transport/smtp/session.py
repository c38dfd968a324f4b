"""A conversation with an SMTP server that knows us already: one letter after the other over the same connection.

Where the server takes commands in one go (PIPELINING, RFC 2920), a letter costs two exchanges instead of five.
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

from clarion.providers.email.mime import Letter

_MAX_REPLY = 64 * 1024
_TAKEN = 250
_GO_ON = 354
_RESET = b"RSET\r\n"
_DATA = b"DATA\r\n"
_NOT_OF_A_PATH = re.compile(r"[\x00-\x20<>\x7f]")


class Unheard(SMTPServerDisconnected):
    """The connection was lost before the server was told what the letter says, so it may be offered again."""


class Conversation(asyncio.Protocol):
    """Takes a connection over from the client that opened it and logged in."""

    def __init__(self, client: SMTP, on_end: Callable[["Conversation"], None]) -> None:
        self.is_used = False
        self.is_told = False
        """Whether the server has heard the whole of the last letter, so that it may have taken it."""
        self._transport = cast("asyncio.Transport", client.transport)
        self._on_end = on_end
        self._can_pipeline = client.supports_extension("pipelining")
        self._takes_size = client.supports_extension("size")
        self._takes_utf8 = client.supports_extension("smtputf8")
        self._received = b""
        self._begun: list[bytes] = []
        self._replies: deque[SMTPResponse] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._transport.set_protocol(self)

    @property
    def is_open(self) -> bool:
        return not self._transport.is_closing()

    def close(self) -> None:
        self._transport.close()

    async def send(self, letter: Letter) -> tuple[dict[str, SMTPResponse], str]:
        """Hand the letter over; returns the recipients refused beside others that were not, and the last words."""
        self.is_told = False
        commands = [self._mail_command(letter), *(f"RCPT TO:<{_path(one)}>\r\n" for one in letter.recipients)]
        try:
            replies = await self._offer([one.encode() for one in commands])
        except SMTPServerDisconnected as error:
            raise Unheard(str(error)) from error
        refused = self._judge(letter, replies)
        self.is_told = True
        self._transport.write(_quoted(letter.content))
        reply = await self._read()
        if reply.code != _TAKEN:
            raise SMTPDataError(reply.code, reply.message)
        return refused, reply.message

    def _mail_command(self, letter: Letter) -> str:
        if letter.needs_utf8 and not self._takes_utf8:
            raise SMTPNotSupported("SMTPUTF8 is not supported by this server")
        size = f" SIZE={len(letter.content)}" if self._takes_size else ""
        return f"MAIL FROM:<{_path(letter.sender)}>{size}{' SMTPUTF8' if letter.needs_utf8 else ''}\r\n"

    async def _offer(self, commands: Sequence[bytes]) -> list[SMTPResponse]:
        """Say who writes to whom, and ask to go on; the replies, as far as they came."""
        if self._replies or self._begun or self._received:
            # The server spoke without being asked, which is how it says goodbye.
            self.close()
        # A reset makes it forget the last letter, and shows whether it is still there.
        start = [_RESET] if self.is_used else []
        self.is_used = True
        if self._can_pipeline:
            self._write(b"".join([*start, *commands, _DATA]))
            return await self._read_all(len(start), len(commands) + 1)
        if start:
            self._write(_RESET)
            await self._read_all(1, 0)
        return await self._ask_in_turn(commands)

    async def _read_all(self, resets: int, count: int) -> list[SMTPResponse]:
        if resets and (await self._read()).code != _TAKEN:
            self.close()
            raise SMTPServerDisconnected("Connection lost")
        replies: list[SMTPResponse] = []
        while len(replies) < count:
            try:
                replies.append(await self._read())
            except SMTPServerDisconnected:
                # One that hangs up right after a refusal has said why.
                if not replies or _is_positive(replies[-1]):
                    raise
                break
        return replies

    async def _ask_in_turn(self, commands: Sequence[bytes]) -> list[SMTPResponse]:
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

    def _judge(self, letter: Letter, replies: Sequence[SMTPResponse]) -> dict[str, SMTPResponse]:
        """Whether to go on, and without which recipients; raises where there is no reason to."""
        asked = dict(zip(letter.recipients, replies[1:], strict=False))
        refused = {address: reply for address, reply in asked.items() if not _is_positive(reply)}
        can_go_on = _is_positive(replies[0]) and len(refused) < len(letter.recipients)
        last = replies[-1]
        if can_go_on and last.code == _GO_ON:
            return refused
        if last.code == _GO_ON:
            # It waits for a letter that nobody is to get: an end without one is all that it can be given.
            self.close()
        if not _is_positive(replies[0]):
            raise SMTPSenderRefused(replies[0].code, replies[0].message, letter.sender)
        if not can_go_on:
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
            self._begun.append(line)
            if line[3:4] != b"-":
                self._finish_reply()
        if len(self._received) + sum(map(len, self._begun)) > _MAX_REPLY:
            self.close()
        self._wake()

    def _finish_reply(self) -> None:
        lines, self._begun = self._begun, []
        if not lines[-1][:3].isdigit():
            self.close()
            return
        text = b"\n".join(line[4:].strip() for line in lines).decode("utf-8", "replace")
        self._replies.append(SMTPResponse(int(lines[-1][:3]), text))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - as asyncio calls it
        self._wake()
        self._on_end(self)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _path(address: str) -> str:
    if _NOT_OF_A_PATH.search(address):
        raise ValueError("an address has characters that end a command")
    return address


def _is_positive(reply: SMTPResponse) -> bool:
    return 200 <= reply.code < 300


def _quoted(content: bytes) -> bytes:
    """The content as it goes after DATA: a line with a dot alone would end it."""
    quoted = content.replace(b"\r\n.", b"\r\n..")
    return b"%b%b.\r\n" % (b"." if content.startswith(b".") else b"", quoted)
