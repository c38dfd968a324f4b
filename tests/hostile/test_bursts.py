"""More requests than a stalled store can take."""

import asyncio
import json
import resource

import pytest

from clarion.http.writes import MAX_WAITING_WRITES
from tests.hostile.target import TENANT_KEY, Target

EXCESS = 200


async def send_trigger(target: Target, number: int) -> bytes:
    reader, writer = await target.connect()
    body = json.dumps({"name": "greeting", "to": "x", "transactionId": f"burst-{number}"}).encode()
    head = (
        "POST /v1/events/trigger HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
        f"Authorization: ApiKey {TENANT_KEY}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    try:
        return await reader.read()
    finally:
        writer.close()


@pytest.fixture
def many_open_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def test_a_burst_beyond_what_may_wait_for_a_stalled_store_is_refused(
    target: Target, many_open_files: None
) -> None:
    async with target.stalled_store():
        sent = [asyncio.create_task(send_trigger(target, number)) for number in range(MAX_WAITING_WRITES + EXCESS)]
        refused = await wait_for_answers(sent, EXCESS // 2)
    answers = await asyncio.gather(*sent)

    assert all(b"\r\nretry-after: 1\r\n" in answer for answer in refused)
    assert {answer[9:12] for answer in refused} == {b"503"}
    assert {answer[9:12] for answer in answers} == {b"201", b"503"}
    async with target.beside_neighbour():
        pass


async def wait_for_answers(sent: list[asyncio.Task[bytes]], count: int) -> list[bytes]:
    """The first answers; while the store is stalled, they can only be refusals."""
    answered: set[asyncio.Task[bytes]] = set()
    while len(answered) < count:
        answered, _ = await asyncio.wait(sent, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(0.02)
    return [one.result() for one in answered]
