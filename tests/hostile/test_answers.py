"""Lists of large items: pages are bounded, and paging on reaches every item once."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.hostile.target import MIB, ROUNDS, Target

ITEMS = 36
LARGE = "x" * 250_000
MAX_ANSWER = 6 * MIB
# Other tests leave many runs in the store.
THESE = "&".join(f"transactionId=large-{number}" for number in range(ITEMS))


@pytest.fixture(scope="session")
async def large_items(target: Target) -> list[str]:
    """Transactions with large payloads, for one subscriber each with large data; their messages are made."""
    async with target.tenant() as client:
        for number in range(ITEMS):
            person = {"subscriberId": f"large-{number}", "data": {"text": LARGE}}
            assert (await client.post("/v2/subscribers", json=person)).status_code == 201
            event = {
                "name": "greeting",
                "to": f"large-{number}",
                "transactionId": f"large-{number}",
                "payload": {"text": LARGE},
            }
            assert (await client.post("/v1/events/trigger", json=event)).status_code == 201
        for _ in range(300):
            if (await client.get(f"/v1/messages?limit=1&{THESE}")).json()["totalCount"] >= ITEMS:
                break
            await asyncio.sleep(0.1)
    return sorted(f"large-{number}" for number in range(ITEMS))


async def list_all(client: httpx.AsyncClient, path: str) -> list[dict[str, Any]]:
    """Read a v1 list page by page."""
    found: list[dict[str, Any]] = []
    for page in range(1000):
        response = await client.get(f"{path}&page={page}")
        assert response.status_code == 200, response.text[:200]
        assert len(response.content) < MAX_ANSWER
        listed = response.json()
        assert listed["pageSize"] == len(listed["data"])
        found += listed["data"]
        if not listed["hasMore"]:
            return found
    raise AssertionError("the list has no end")


@pytest.mark.parametrize("path", ["/v1/messages?limit=1000", "/v1/messages?limit=25", "/v1/notifications?limit=50"])
async def test_pages_of_a_list_are_bounded_and_reach_every_item_once(
    target: Target, large_items: list[str], path: str
) -> None:
    async with target.tenant() as client:
        found = await list_all(client, f"{path}&{THESE}")

    assert sorted(one["transactionId"] for one in found) == large_items


async def test_pages_by_cursor_are_bounded_and_reach_every_item_once_in_both_directions(
    target: Target, large_items: list[str]
) -> None:
    async with target.tenant() as client:
        pages = [await read_page(client, "")]
        while pages[-1]["next"]:
            pages.append(await read_page(client, f"&after={pages[-1]['next']}"))
        back = [pages[-1]]
        while back[-1]["previous"]:
            back.append(await read_page(client, f"&before={back[-1]['previous']}"))

    assert len(pages) > 2
    for listed in (pages, back):
        keys = [one["subscriberId"] for page in listed for one in page["data"]]
        assert sorted(key for key in keys if key.startswith("large-")) == large_items


async def read_page(client: httpx.AsyncClient, cursor: str) -> dict[str, Any]:
    response = await client.get(f"/v2/subscribers?limit=1000{cursor}")
    assert len(response.content) < MAX_ANSWER
    page: dict[str, Any] = response.json()
    return page


async def test_large_lists_hold_up_nobody_and_take_little_memory(target: Target, large_items: list[str]) -> None:
    before = target.memory_bytes()
    async with target.beside_neighbour(), target.tenant() as client:
        for _ in range(2 * ROUNDS):
            paths = ["/v1/messages?limit=1000", "/v1/notifications?limit=50", "/v2/subscribers?limit=1000"]
            answers = await asyncio.gather(*(client.get(path) for path in paths * 2))
            assert {one.status_code for one in answers} == {200}

    assert target.memory_bytes() - before < 200 * MIB
