"""A connection that sends requests ahead, without waiting for responses: it gets its share, and takes little memory."""

import asyncio
import json
from contextlib import suppress
from typing import Any

import pytest

from tests.engine.support import in_app
from tests.hostile.target import MIB, ROUNDS, TENANT_KEY, Target

SECONDS = ROUNDS
BUSY = "{% for i in (1..1500) %}{{i}}{% endfor %}"
HEADERS = f"Host: x\r\nContent-Type: application/json\r\nAuthorization: ApiKey {TENANT_KEY}\r\n"


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\n{HEADERS}\r\n".encode()


def post(path: str, body: Any, more: str = "") -> bytes:
    content = json.dumps(body).encode()
    return f"POST {path} HTTP/1.1\r\n{HEADERS}{more}Content-Length: {len(content)}\r\n\r\n".encode() + content


async def preview(target: Target) -> bytes:
    """A preview that takes nearly all the work that it may."""
    async with target.tenant() as client:
        steps = [in_app("x")]
        made = (await client.post("/v2/workflows", json={"name": "P", "workflowId": "p", "steps": steps})).json()
    path = f"/v2/workflows/{made['workflowId']}/step/{made['steps'][0]['_id']}/preview"
    return post(path, {"controlValues": {"body": "x", "data": {str(n): BUSY for n in range(4)}}, "previewPayload": {}})


ATTACKS: dict[str, bytes] = {
    "the smallest requests": b"GET / HTTP/1.1\r\n\r\n",
    "lists": get("/v1/messages?limit=1000"),
    "bodies": post("/v2/subscribers", {"subscriberId": "ahead", "data": {"text": "x" * 900_000}}),
    "bulks": post("/v1/events/trigger/bulk", {"events": [{"name": "greeting", "to": "ahead"}] * 100}),
}


async def send_ahead(target: Target, request: bytes) -> None:
    """Send the request over and over again, as fast as the service reads, and read the responses."""
    reader, writer = await target.connect()

    async def read_all() -> None:
        with suppress(ConnectionError):
            while await reader.read(MIB):
                pass

    async def send_all() -> None:
        while True:
            writer.write(request * max(1, 64 * 1024 // len(request)))
            await writer.drain()

    reading = asyncio.create_task(read_all())
    with suppress(TimeoutError, ConnectionError):
        await asyncio.wait_for(send_all(), SECONDS)
    writer.transport.abort()
    await reading


@pytest.mark.parametrize("attack", [*ATTACKS, "previews"])
async def test_requests_that_are_sent_ahead_hold_up_nobody_and_take_little_memory(target: Target, attack: str) -> None:
    request = ATTACKS[attack] if attack in ATTACKS else await preview(target)
    before = target.memory_bytes()

    async with target.beside_neighbour():
        await send_ahead(target, request)

    assert target.memory_bytes() - before < 60 * MIB


async def test_requests_that_are_sent_ahead_are_answered_in_order(target: Target) -> None:
    people = [{"subscriberId": f"ordered-{n}", "data": {"text": "x" * (n * 1_000)}} for n in range(12)]
    requests = [request for one in people for request in (post("/v2/subscribers", one), get("/v2/subscribers/nobody"))]
    # Cut at places that have nothing to do with requests.
    content = b"".join([*requests, post("/v2/subscribers", {"subscriberId": "ordered-last"}, "Connection: close\r\n")])
    reader, writer = await target.connect()

    for start in range(0, len(content), 10_007):
        writer.write(content[start : start + 10_007])
        await asyncio.sleep(0.01)
    answer = await reader.read()
    writer.close()

    assert [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]] == [b"201", b"404"] * 12 + [b"201"]
    made = [part.split(b'"subscriberId":"')[1].split(b'"')[0] for part in answer.split(b"HTTP/1.1 201 ")[1:]]
    assert made == [f"ordered-{n}".encode() for n in (*range(12), "last")]
