"""Providers on loopback that respond after a delay: a mail server and a chat webhook that count messages.

`GET /counts` on the address of the webhook returns the counts.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import uvloop
from msgspec import Struct

from bench.client import make_request, send_one
from bench.processes import ROOT, python_command

_BACKLOG = 1024
_HELLO = b"250-bench\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n"


class Ports(Struct, frozen=True, kw_only=True):
    """The ports of the receivers. They stay the same, because integrations are configured with them."""

    mail: int
    web: int

    @property
    def web_address(self) -> str:
        return f"http://127.0.0.1:{self.web}"


@asynccontextmanager
async def run_receivers(ports: Ports, *, delay_ms: int = 50) -> AsyncIterator[None]:
    """Run the receivers in their own process, so that their CPU time is not counted."""
    command = python_command("bench.receivers", str(ports.mail), str(ports.web), str(delay_ms))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=ROOT)
    try:
        assert process.stdout is not None
        await process.stdout.readline()
        yield
    finally:
        process.terminate()
        await process.wait()


async def read_counts(ports: Ports) -> dict[str, int]:
    """Return the number of messages and of duplicates by kind."""
    found: dict[str, int] = (await send_one(ports.web_address, make_request("GET", "/counts"))).json()
    return found


@dataclass(slots=True)
class _Arrivals:
    """How often each message has arrived, by kind."""

    mails: Counter[bytes] = field(default_factory=Counter)
    chats: Counter[bytes] = field(default_factory=Counter)

    def counts(self) -> dict[str, int]:
        return {
            "mails": len(self.mails),
            "mail_duplicates": self.mails.total() - len(self.mails),
            "chats": len(self.chats),
            "chat_duplicates": self.chats.total() - len(self.chats),
        }


class _Connection(asyncio.Protocol):
    """One connection: the bytes that are not parsed yet, and the responses."""

    def __init__(self, arrivals: _Arrivals, delay: float) -> None:
        self._arrivals = arrivals
        self._delay = delay
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def _answer(self, content: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(content)

    def _answer_later(self, content: bytes) -> None:
        asyncio.get_running_loop().call_later(self._delay, self._answer, content)


class _Mail(_Connection):
    """An SMTP server that answers commands at once and a message after the delay.

    A message is identified by its Message-ID.
    """

    def __init__(self, arrivals: _Arrivals, delay: float) -> None:
        super().__init__(arrivals, delay)
        self._takes_content = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._answer(b"220 bench ESMTP\r\n")

    def data_received(self, data: bytes) -> None:
        self._received += data
        while self._take_content() if self._takes_content else self._take_commands():
            pass

    def _take_content(self) -> bool:
        content, end, rest = self._received.partition(b"\r\n.\r\n")
        if not end:
            return False
        self._received, self._takes_content = rest, False
        self._arrivals.mails[_header(content, b"\r\nmessage-id:")] += 1
        self._answer_later(b"250 2.0.0 Taken\r\n")
        return bool(rest)

    def _take_commands(self) -> bool:
        answers = []
        while not self._takes_content:
            line, end, rest = self._received.partition(b"\r\n")
            if not end:
                break
            self._received = rest
            answers.append(self._answer_command(line[:4].upper()))
        self._answer(b"".join(answers))
        return self._takes_content and bool(self._received)

    def _answer_command(self, command: bytes) -> bytes:
        if command == b"EHLO":
            return _HELLO
        if command == b"DATA":
            self._takes_content = True
            return b"354 Go on\r\n"
        if command == b"QUIT":
            asyncio.get_running_loop().call_soon(self._transport.close)
            return b"221 2.0.0 Bye\r\n"
        return b"250 2.0.0 OK\r\n"


class _Web(_Connection):
    """An HTTP/1.1 server: every POST is a chat message, identified by its body; other requests get the counts."""

    def data_received(self, data: bytes) -> None:
        self._received += data
        while self._take_request():
            pass

    def _take_request(self) -> bool:
        head, end, rest = self._received.partition(b"\r\n\r\n")
        length = int(_header(head, b"\r\ncontent-length:") or 0)
        if not end or len(rest) < length:
            return False
        body, self._received = rest[:length], rest[length:]
        if head.startswith(b"POST"):
            self._arrivals.chats[body] += 1
            self._answer_later(_web_answer(b"ok"))
        else:
            self._answer(_web_answer(json.dumps(self._arrivals.counts()).encode()))
        return bool(self._received)


def _header(head: bytes, name: bytes) -> bytes:
    start = head.lower().find(name)
    if start < 0:
        return b""
    end = head.find(b"\r\n", start + 2)
    return head[start + len(name) : end if end >= 0 else len(head)].strip()


def _web_answer(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


async def _serve(ports: Ports, delay: float) -> None:
    loop, arrivals = asyncio.get_running_loop(), _Arrivals()
    mail = await loop.create_server(lambda: _Mail(arrivals, delay), "127.0.0.1", ports.mail, backlog=_BACKLOG)
    web = await loop.create_server(lambda: _Web(arrivals, delay), "127.0.0.1", ports.web, backlog=_BACKLOG)
    print("listening", flush=True)
    await asyncio.gather(mail.serve_forever(), web.serve_forever())


if __name__ == "__main__":
    mail_port, web_port, delay_ms = map(int, sys.argv[1:])
    uvloop.run(_serve(Ports(mail=mail_port, web=web_port), delay_ms / 1000))
