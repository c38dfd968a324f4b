"""Bodies that are expensive to check or to decode."""

import pytest

from tests.hostile.target import MIB, ROUNDS, Target

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
