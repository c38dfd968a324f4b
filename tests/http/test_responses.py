"""Responses on the wire, as a real server writes them."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from clarion.http.responses import send_response
from tests.asgi_server import serve_asgi

Head = dict[str, str]
LARGE = b"x" * 200_000


async def application(scope: Any, _: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        return
    name = scope["path"].strip("/")
    headers = [(b"content-type", b"text/plain"), (b"x-name", b"a\r\nx-other: b" if name == "break" else name.encode())]
    if name == "nothing":
        await send_response(send, 204, headers, b"")
    else:
        body = LARGE if name == "large" else b"hello"
        await send_response(send, 200, [*headers, (b"content-length", str(len(body)).encode())], body)


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with serve_asgi(application) as port:
        yield port


async def exchange(port: int, *lines: str) -> bytes:
    """Send requests and return everything until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("".join(f"{line}\r\nHost: x\r\n\r\n" for line in lines).encode())
    found = await reader.read(-1)
    writer.close()
    await writer.wait_closed()
    return found


def split(response: bytes) -> tuple[str, Head, bytes]:
    head, _, body = response.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    return first, dict(line.split(": ", 1) for line in lines), body


async def test_a_response_is_written_with_its_headers_and_those_of_the_server(port: int) -> None:
    first, head, body = split(await exchange(port, "GET /a HTTP/1.1\r\nConnection: close"))

    assert (first, body) == ("HTTP/1.1 200 OK", b"hello")
    assert {"date", "server"} < set(head)
    assert (head["x-name"], head["content-length"], head["connection"]) == ("a", "5", "close")


async def test_a_connection_is_used_again(port: int) -> None:
    found = await exchange(port, "GET /a HTTP/1.1", "GET /b HTTP/1.1", "GET /c HTTP/1.1\r\nConnection: close")

    assert [name in found for name in (b"x-name: a", b"x-name: b", b"x-name: c")] == [True] * 3
    assert (found.count(b"HTTP/1.1 200 OK"), found.count(b"connection: close"), found.count(b"hello")) == (3, 1, 3)


async def test_large_and_empty_responses_and_those_to_head_are_complete(port: int) -> None:
    _, _, large = split(await exchange(port, "GET /large HTTP/1.1\r\nConnection: close"))
    nothing, _, none = split(await exchange(port, "GET /nothing HTTP/1.1\r\nConnection: close"))
    _, head, no_body = split(await exchange(port, "HEAD /large HTTP/1.1\r\nConnection: close"))

    assert large == LARGE
    assert (nothing, none) == ("HTTP/1.1 204 No Content", b"")
    assert (head["content-length"], no_body) == (str(len(LARGE)), b"")


async def test_a_header_with_a_line_break_is_not_written(port: int) -> None:
    assert await exchange(port, "GET /break HTTP/1.1\r\nConnection: close") == b""
