"""Sockets that are half-closed or reset, and bodies of 50 MB: clear answers, bounded memory, nothing half-written."""

import asyncio
import json
import socket
import struct

import pytest

from tests.hostile.target import MIB, TENANT_KEY, Target

MAX_MEMORY = 600 * MIB
"""The bodies of all requests may have 256 MiB together."""
HEAD = (
    "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    f"Authorization: ApiKey {TENANT_KEY}\r\n{{length}}\r\n\r\n"
)


def make_request(path: str, body: bytes, *, declared: int | None = None) -> bytes:
    length = f"Content-Length: {len(body) if declared is None else declared}"
    return HEAD.format(path=path, length=length).encode() + body


def person(key: str) -> bytes:
    return json.dumps({"subscriberId": key}).encode()


async def exists(target: Target, key: str) -> bool:
    async with target.tenant() as client:
        return (await client.get(f"/v2/subscribers/{key}")).status_code == 200


async def wait_until_sockets_are_gone(target: Target, before: int) -> None:
    for _ in range(300):
        if target.open_socket_count() <= before:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"{target.open_socket_count() - before} sockets are still open")


async def test_a_client_that_ends_its_side_after_the_request_gets_its_answer(embedded: Target) -> None:
    before = embedded.open_socket_count()
    reader, writer = await embedded.connect()
    writer.write(make_request("/v2/subscribers", person("half-closed")))
    writer.write_eof()

    answer = await reader.read()
    writer.close()

    assert answer.startswith(b"HTTP/1.1 201 ")
    assert await exists(embedded, "half-closed")
    await wait_until_sockets_are_gone(embedded, before)


async def test_a_body_that_ends_early_writes_nothing_and_keeps_no_socket(embedded: Target) -> None:
    before = embedded.open_socket_count()
    for number in range(20):
        reader, writer = await embedded.connect()
        body = person(f"early-{number}")
        writer.write(make_request("/v2/subscribers", body, declared=len(body) + 1))
        writer.write_eof()
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"The body of the request ended early" in answer
        writer.close()

    await wait_until_sockets_are_gone(embedded, before)
    assert not await exists(embedded, "early-0")


@pytest.mark.parametrize("missing", [0, 5], ids=["after the request", "within the body"])
async def test_connections_that_are_reset_leave_all_or_nothing(embedded: Target, missing: int) -> None:
    before = embedded.open_socket_count()
    key = f"reset-{missing}"
    for _ in range(20):
        with socket.create_connection((embedded.host, embedded.port)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request = make_request("/v2/subscribers", person(key))
            connection.sendall(request[: len(request) - missing])

    await wait_until_sockets_are_gone(embedded, before)
    async with embedded.beside_neighbour():
        assert not (missing and await exists(embedded, key))


async def send_large(target: Target, head: bytes, piece: bytes) -> bytes:
    """Send 50 MB in pieces, and return the answer, which may come before the end."""
    reader, writer = await target.connect()
    answer = asyncio.create_task(reader.read(4096))
    writer.write(head)
    try:
        for _ in range(50 * MIB // 65_536):
            if answer.done():
                break
            writer.write(piece)
            await writer.drain()
        return await answer
    except ConnectionError:
        return b""
    finally:
        answer.cancel()
        writer.close()


@pytest.mark.parametrize("path", ["/v1/events/trigger", "/v2/subscribers"])
@pytest.mark.parametrize("is_chunked", [True, False], ids=["chunked", "declared"])
async def test_bodies_of_fifty_megabytes_are_refused_and_take_little_memory(
    embedded: Target, path: str, is_chunked: bool
) -> None:
    length = "Transfer-Encoding: chunked" if is_chunked else f"Content-Length: {50 * MIB}"
    head = HEAD.format(path=path, length=length).encode()
    data = b"[" * 65_536
    piece = b"10000\r\n" + data + b"\r\n" if is_chunked else data

    async with embedded.beside_neighbour():
        answers = await asyncio.gather(*(send_large(embedded, head, piece) for _ in range(16)))

    # A connection that goes on sending may be cut before its answer is read.
    refused = [one for one in answers if one]
    assert refused
    assert {one.split()[1] for one in refused} <= {b"413", b"503"}
    assert embedded.peak_memory_bytes() < MAX_MEMORY
