"""The load client, against a small server."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bench.client import make_request, send_closed, send_one, send_open


@pytest.fixture
async def address() -> AsyncIterator[str]:
    """A server that returns the request body with 201, in two pieces, and 422 for an empty body."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            body = await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0]))
            status = b"201 Created" if body else b"422 Unprocessable"
            writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:3])
            await writer.drain()
            await asyncio.sleep(0)
            writer.write(body[3:])

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answer(reader, writer)
        except asyncio.IncompleteReadError:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def make_bodies(count: int) -> list[bytes]:
    return [make_request("POST", "/", key="secret", body={"number": number}) for number in range(count)]


async def test_a_response_in_pieces_is_joined(address: str) -> None:
    answer = await send_one(address, make_request("POST", "/", body={"name": "Ann"}))

    assert (answer.status, answer.json()) == (201, {"name": "Ann"})


async def test_every_request_of_a_closed_loop_gets_one_response(address: str) -> None:
    load = await send_closed(address, make_bodies(50), connections=4)

    load.require(201)
    assert len(load.seconds) == 50
    assert min(load.seconds) > 0


async def test_an_open_loop_sends_at_its_rate(address: str) -> None:
    load = await send_open(address, make_bodies(20), rate=1000, connections=4)

    load.require(201)
    assert load.sent[19] - load.sent[0] == pytest.approx(0.019, abs=1e-5)


async def test_rejected_requests_raise_an_error_with_the_reason(address: str) -> None:
    load = await send_closed(address, [*make_bodies(3), make_request("POST", "/")])

    with pytest.raises(RuntimeError, match="1 of 4 requests were refused: 422"):
        load.require(201)
