"""Bodies that are expensive to check or to decode, and bodies that never end."""

import asyncio
from contextlib import AsyncExitStack, suppress

import pytest

from tests.hostile.target import MIB, NEIGHBOUR_KEY, ROUNDS, TENANT_KEY, Target

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"[" * 65 + b'"\\' * 20_000, 400),
        (b"[" * 65 + b'"\\' * (10 * MIB), 400),
        (b"[" * (20 * MIB), 400),
        (b'{"name":"greeting","to":"x","payload":{"a":[' + b"[]," * 6_000_000 + b"1]}}", 413),
        (b'{"name":"greeting","to":"x","payload":{"a":[' + b"[]," * 450_000 + b"1]}}", 422),
        (b'{"name":"greeting","to":"x","payload":{"a":"' + b"[" * (20 * MIB) + b'"}}', 422),
    ],
    ids=["escapes", "many escapes", "brackets", "too many values", "many values", "a long text"],
)
async def test_a_hostile_body_holds_up_nobody(target: Target, content: bytes, status: int) -> None:
    async with target.beside_neighbour(), target.tenant() as client:
        for _ in range(3 * ROUNDS):
            response = await client.post("/v1/events/trigger", content=content, headers=JSON)

            assert response.status_code == status, response.text[:200]


SIGN_IN = b"POST /v1/auth/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
TRIGGER = SIGN_IN.replace(b"/v1/auth/sign-in", b"/v1/events/trigger") + b"Authorization: ApiKey "


async def begin_body(target: Target, opened: AsyncExitStack, source: str, head: bytes, size: int) -> bool:
    """Send all of a body but its last byte; returns whether it is refused before that."""
    reader, writer = await target.connect(source)
    opened.callback(writer.close)
    with suppress(ConnectionError, TimeoutError):
        writer.write(head + b"Content-Length: %d\r\n\r\n" % size + b" " * (size - 1))
        async with asyncio.timeout(1):
            answer = await reader.read(12)
            return answer == b"HTTP/1.1 503"
    return False


async def begin_bodies(target: Target, opened: AsyncExitStack, head: bytes, sizes: list[int], addresses: int) -> None:
    """Begin bodies of each size from so many addresses until one is refused: smaller ones take what is left."""
    for size in sizes:
        for _ in range(15):
            sources = [f"127.0.0.{2 + number % addresses}" for number in range(max(1, min(20, 300 * MIB // size)))]
            if any(await asyncio.gather(*(begin_body(target, opened, one, head, size) for one in sources))):
                break


@pytest.mark.parametrize("addresses", [1, 8])
async def test_unfinished_bodies_of_strangers_keep_nobody_with_a_key_from_writing(
    target: Target, addresses: int
) -> None:
    target.forget_peak_memory()
    before = target.memory_bytes()
    async with AsyncExitStack() as opened, target.beside_neighbour() as neighbour:
        await begin_bodies(target, opened, SIGN_IN, [MIB, 64 * 1024, 4 * 1024, 256, 16], addresses)
        await neighbour.wait_for_triggers(3)

    assert target.peak_memory_bytes() - before < 150 * MIB


async def test_unfinished_bodies_of_a_tenant_leave_room_for_the_neighbours_large_ones(target: Target) -> None:
    payload = {"n": 1, "text": "x" * (200 * 1024)}
    events = [{"name": "greeting", "to": "large", "payload": payload} for _ in range(80)]
    async with AsyncExitStack() as opened, target.process.client(NEIGHBOUR_KEY) as client:
        head = TRIGGER + TENANT_KEY.encode() + b"\r\n"
        await begin_bodies(target, opened, head, [25 * MIB, MIB], 1)

        response = await client.post("/v1/events/trigger/bulk", json={"events": events})

    assert response.status_code == 201, response.text[:200]
