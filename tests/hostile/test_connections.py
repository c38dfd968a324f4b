"""Clients that send too much of a head, send slowly or not at all, or open too many connections."""

import asyncio
import os
import resource
import socket
import sqlite3
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.hostile.conftest import StartTarget
from tests.hostile.target import MIB, ROUNDS, TENANT_KEY, Target

HEALTH = b"GET /v1/health-check HTTP/1.1\r\nHost: x\r\n"
IDLE_CONNECTIONS = int(os.environ.get("CLARION_IDLE_CONNECTIONS", "3000"))
"""`make faults` opens ten thousand."""
MAX_BYTES_PER_CONNECTION = 24 * 1024
# Time-outs that no test reaches.
PATIENT = {f"CLARION_{name}_TIMEOUT_SECONDS": "600" for name in ("HEADER", "BODY", "IDLE")}
TRIGGER = (
    b"POST /v1/events/trigger HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Authorization: ApiKey " + TENANT_KEY.encode() + b"\r\n"
)


async def send_all(target: Target, *parts: bytes) -> bytes:
    """Send the parts and return what the service answers until it ends the connection."""
    reader, writer = await target.connect()
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await reader.read()
    except ConnectionError:
        # The service ends a connection that goes on sending.
        return b""
    finally:
        writer.close()


async def test_two_hundred_headers_of_a_megabyte_take_no_memory(target: Target) -> None:
    target.forget_peak_memory()
    before = target.memory_bytes()
    async with target.beside_neighbour():
        for _ in range(ROUNDS):
            headers = (b"x-%d: %s\r\n" % (number, b"a" * MIB) for number in range(200))
            await send_all(target, HEALTH, *headers)

    assert target.peak_memory_bytes() - before < 100 * MIB
    assert target.memory_bytes() - before < 30 * MIB


@pytest.mark.parametrize(
    "headers",
    [
        b"".join(b"x-%d: a\r\n" % number for number in range(101)) + b"\r\n",
        b"x: " + b"a" * 33_000 + b"\r\n\r\n",
        b"x: " + b"a" * 400_000 + b"\r\n\r\n",
        b"x: " + b"a" * 40_000,
        b"y" * 40_000,
    ],
    ids=["too many", "too long", "much too long", "a value without an end", "a name without an end"],
)
async def test_a_head_beyond_its_limits_gets_431(target: Target, headers: bytes) -> None:
    answer = await send_all(target, HEALTH + headers)

    assert answer.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert b"connection: close" in answer
    assert b'"message":"The head of the request has more than 100 headers or 32768 bytes' in answer


async def test_a_url_that_is_too_long_gets_431(target: Target) -> None:
    answer = await send_all(target, b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 431 ")


async def test_a_large_body_does_not_count_as_head(target: Target) -> None:
    async with target.tenant() as client:
        response = await client.post("/v2/subscribers", json={"subscriberId": "x", "data": {"a": "b" * 60_000}})
        again = await client.get("/v2/subscribers/x", headers={f"x-{n}": "a" * 300 for n in range(80)})

    assert (response.status_code, again.status_code) == (201, 200)


async def send_drop_by_drop(target: Target, start: bytes, drop: bytes) -> bytes:
    reader, writer = await target.connect()
    writer.write(start)
    answer = asyncio.create_task(reader.read())
    while not answer.done():
        writer.write(drop)
        await asyncio.sleep(0.05)
    writer.close()
    return await answer


async def test_connections_that_send_nothing_or_slowly_are_ended(start_target: StartTarget) -> None:
    target = start_target()

    silent, idle, head, body = await asyncio.gather(
        send_all(target),
        send_all(target, HEALTH + b"\r\n"),
        send_drop_by_drop(target, HEALTH, b"a"),
        send_drop_by_drop(target, TRIGGER + b"Content-Length: 100000\r\n\r\n", b"a"),
    )

    assert silent == b""
    assert idle.startswith(b"HTTP/1.1 200 ")
    assert head.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert b"The head of the request did not arrive in time" in head
    assert body.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert b"The body of the request did not arrive in time" in body


async def test_a_body_that_arrives_steadily_may_take_longer(start_target: StartTarget) -> None:
    target = start_target()
    body = b'{"subscriberId": "x", "data": {"a": "' + b"b" * 48_000 + b'"}}'
    head = TRIGGER.replace(b"/v1/events/trigger", b"/v2/subscribers") + b"Content-Length: %d\r\n" % len(body)
    reader, writer = await target.connect()

    writer.write(head + b"Connection: close\r\n\r\n")
    for start in range(0, len(body), 4_000):
        writer.write(body[start : start + 4_000])
        await asyncio.sleep(0.25)
    answer = await reader.read()
    writer.close()

    assert answer.startswith(b"HTTP/1.1 201 ")


async def test_thousands_of_idle_connections_lock_nobody_out(start_target: StartTarget, raise_open_files: None) -> None:
    target = start_target(open_files=(256, IDLE_CONNECTIONS), **PATIENT)
    await target.prepare()
    before = target.memory_bytes()
    with ExitStack() as opened:
        await asyncio.to_thread(open_connections, opened, target, IDLE_CONNECTIONS // 2, b"")
        await asyncio.to_thread(open_connections, opened, target, IDLE_CONNECTIONS // 2, HEALTH)
        # A client is given a moment before it has to make room.
        await asyncio.sleep(3)
        await use_beside_the_crowd(target)
        assert target.open_file_count() < IDLE_CONNECTIONS
        assert target.memory_bytes() - before < IDLE_CONNECTIONS * MAX_BYTES_PER_CONNECTION


async def test_slow_bodies_lock_nobody_out_where_few_files_may_be_open(
    start_target: StartTarget, raise_open_files: None
) -> None:
    target = start_target(open_files=(256, 1_024), **PATIENT)
    await target.prepare()
    with ExitStack() as opened:
        body = TRIGGER + b"Content-Length: 100000\r\n\r\n{"
        await asyncio.to_thread(open_connections, opened, target, 770, body)
        # A body is given a few seconds before it has to make room.
        await asyncio.sleep(7)
        await asyncio.to_thread(open_connections, opened, target, 530, body)
        await use_beside_the_crowd(target)
        assert target.open_file_count() < 1_024


def open_connections(opened: ExitStack, target: Target, count: int, content: bytes) -> None:
    for _ in range(count):
        connection = opened.enter_context(socket.create_connection((target.host, target.port)))
        with suppress(ConnectionError):
            connection.sendall(content)


async def use_beside_the_crowd(target: Target) -> None:
    async with target.beside_neighbour():
        for _ in range(10):
            async with target.tenant() as client:
                assert (await client.get("/v1/health-check")).status_code == 200
                assert (await client.get("/v2/subscribers")).status_code == 200


@pytest.fixture
def raise_open_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def test_beyond_the_limit_of_busy_connections_only_the_health_check_is_served(
    start_target: StartTarget, tmp_path: Path
) -> None:
    target = start_target(CLARION_MAX_CONNECTIONS="4")
    await target.prepare()
    body: dict[str, Any] = {"name": "greeting", "to": "x"}
    async with AsyncExitStack() as opened:
        clients = [await opened.enter_async_context(target.tenant()) for _ in range(4)]
        with closing(sqlite3.connect(tmp_path / "data" / "clarion.db", isolation_level=None)) as store:
            store.execute("BEGIN IMMEDIATE")
            busy = [asyncio.create_task(client.post("/v1/events/trigger", json=body)) for client in clients]
            refused = await wait_for_refusal(target)
            async with target.tenant() as client:
                health = await client.get("/v1/health-check")
            store.execute("ROLLBACK")
        done = await asyncio.gather(*busy)

    assert refused.headers["retry-after"] == "1"
    assert refused.json()["message"] == "The service has too many connections; try again"
    assert health.status_code == 200
    assert [one.status_code for one in done] == [201] * 4


async def wait_for_refusal(target: Target) -> httpx.Response:
    """Ask on new connections until one is refused: that the others are busy cannot be seen from outside."""
    for _ in range(20):
        await asyncio.sleep(0.3)
        async with target.tenant() as client:
            response = await client.get("/v2/subscribers")
            if response.status_code == 503:
                return response
    raise AssertionError("no request was refused")


def test_more_connections_than_files_are_refused_at_the_start(run_command: Any, tmp_path: Path) -> None:
    finished = run_command("serve", "--data-dir", str(tmp_path), CLARION_MAX_CONNECTIONS="2000000000")

    assert finished.returncode != 0
    assert "CLARION_MAX_CONNECTIONS is 2000000000, but the process may have" in finished.stderr


async def test_a_client_that_does_not_read_its_answers_is_disconnected(start_target: StartTarget) -> None:
    target = start_target()
    async with target.tenant() as client:
        for number in range(12):
            person = {"subscriberId": f"p{number}", "data": {"text": "x" * 300_000}}
            assert (await client.post("/v2/subscribers", json=person)).status_code == 201
        with_client = target.open_socket_count()
    await wait_until(lambda: target.open_socket_count() < with_client)
    before = target.open_socket_count()
    request = TRIGGER.replace(b"POST /v1/events/trigger", b"GET /v2/subscribers?limit=100") + b"\r\n"
    with ExitStack() as opened:
        for count in (1, 3):
            connection = opened.enter_context(socket.create_connection((target.host, target.port)))
            connection.sendall(request * count)
        await wait_until(lambda: target.open_socket_count() >= before + 2)
        await wait_until(lambda: target.open_socket_count() <= before)


async def wait_until(is_reached: Callable[[], bool]) -> None:
    for _ in range(300):
        if is_reached():
            return
        await asyncio.sleep(0.1)
    raise AssertionError("it was not reached")
