"""A tenant who simulates without a pause."""

import asyncio
from typing import Any

import httpx

from tests.hostile.target import NEIGHBOUR_KEY, ROUNDS, Target

DELAY = {"name": "Wait", "type": "delay", "controlValues": {"type": "regular", "amount": 1, "unit": "hours"}}
INBOX = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hello {{payload.n}}"}}
SIMULATION: dict[str, Any] = {"name": "greeting", "to": ["a", "b", "c"], "steps": [DELAY, INBOX] * 5}


async def simulate_until(end: asyncio.Event, client: httpx.AsyncClient) -> set[int]:
    statuses = set()
    while not end.is_set():
        response = await client.post("/v1/simulate", json=SIMULATION)
        statuses.add(response.status_code)
    return statuses


async def test_simulations_of_a_tenant_keep_no_neighbour_from_simulating(target: Target) -> None:
    end = asyncio.Event()
    async with target.tenant() as tenant, target.process.client(NEIGHBOUR_KEY) as neighbour:
        attack = [asyncio.create_task(simulate_until(end, tenant)) for _ in range(40)]
        try:
            answers = [await neighbour.post("/v1/simulate", json=SIMULATION) for _ in range(3 * ROUNDS)]
        finally:
            end.set()
        statuses = set[int]().union(*await asyncio.gather(*attack))

    assert [one.status_code for one in answers] == [200] * len(answers)
    assert statuses == {200, 429}
