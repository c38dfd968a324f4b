"""Providers on loopback that answer after a while: a mail server and a chat webhook that count what arrives.

`GET /counts` on the address of the webhook tells what has arrived.
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

from bench.client import make_request, send_one
from bench.processes import ROOT, python_command

_BACKLOG = 1024
_HELLO = b"250-bench\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Where receivers listen: the same ports again and again, so that systems know them."""

    mail: int
    web: int

    @property
    def web_address(self) -> str:
        return f"http://127.0.0.1:{self.web}"


@asynccontextmanager
async def receiving(ports: Ports, *, delay_ms: int = 50) -> AsyncIterator[None]:
    """Receivers in a process of their own, so that what they cost is not taken for what senders cost."""
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
    """Messages, and those of them that came more than once, by kind."""
    found: dict[str, int] = (await send_one(ports.web_address, make_request("GET", "/counts"))).json()
    return found


@dataclass(slots=True)
class _Ledger:
    """How often each message has arrived."""

    mails: Counter[bytes] = field(default_factory=Counter)
    chats: Counter[bytes] = field(default_factory=Counter)

    def counts(self) -> dict[str, int]:
        return {
            "mails": len(self.mails),
            "mail_duplicates": self.mails.total() - len(self.mails),
            "chats": len(self.chats),
            "chat_duplicates": self.chats.total() - len(self.chats),
        }


class _Peer(asyncio.Protocol):
    """One connection: what has arrived of it and is not yet understood, and how to answer."""

    def __init__(self, ledger: _Ledger, delay: float) -> None:
        self._ledger = ledger
        self._delay = delay
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def _answer(self, content: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(content)

    def _answer_later(self, content: bytes) -> None:
        asyncio.get_running_loop().call_later(self._delay, self._answer, content)


class _Mail(_Peer):
    """Speaks SMTP: commands are answered at once, a message when it has been thought about.

    A message is known by its Message-ID.
    """

    def __init__(self, ledger: _Ledger, delay: float) -> None:
        super().__init__(ledger, delay)
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
        self._ledger.mails[_header(content, b"\r\nmessage-id:")] += 1
        self._answer_later(b"250 2.0.0 Taken\r\n")
        return bool(rest)

    def _take_commands(self) -> bool:
        answers = []
        while not self._takes_content:
            line, end, rest = self._received.partition(b"\r\n")
            if not end:
                break
            self._received = rest
            answers.append(self._obey(line[:4].upper()))
        self._answer(b"".join(answers))
        return self._takes_content and bool(self._received)

    def _obey(self, command: bytes) -> bytes:
        if command == b"EHLO":
            return _HELLO
        if command == b"DATA":
            self._takes_content = True
            return b"354 Go on\r\n"
        if command == b"QUIT":
            asyncio.get_running_loop().call_soon(self._transport.close)
            return b"221 2.0.0 Bye\r\n"
        return b"250 2.0.0 OK\r\n"


class _Web(_Peer):
    """Speaks HTTP/1.1: every POST is a chat message, known by its body; everything else asks for the counts."""

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
            self._ledger.chats[body] += 1
            self._answer_later(_web_answer(b"ok"))
        else:
            self._answer(_web_answer(json.dumps(self._ledger.counts()).encode()))
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
    loop, ledger = asyncio.get_running_loop(), _Ledger()
    mail = await loop.create_server(lambda: _Mail(ledger, delay), "127.0.0.1", ports.mail, backlog=_BACKLOG)
    web = await loop.create_server(lambda: _Web(ledger, delay), "127.0.0.1", ports.web, backlog=_BACKLOG)
    print("listening", flush=True)
    await asyncio.gather(mail.serve_forever(), web.serve_forever())


if __name__ == "__main__":
    mail_port, web_port, delay_ms = map(int, sys.argv[1:])
    uvloop.run(_serve(Ports(mail=mail_port, web=web_port), delay_ms / 1000))
