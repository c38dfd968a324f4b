"""The demo page's requests, on a real process."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.processes import Process, Start


@pytest.fixture
def served(start: Start, store: list[str]) -> Process:
    return start("serve", *store)


@pytest.fixture
async def page(served: Process) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=served.address, headers={"Sec-Fetch-Site": "same-origin"}) as client:
        yield client


async def feed_of_ada(served: Process) -> list[dict[str, Any]]:
    async with served.client(served.keys["Development"]) as api:
        answer = await api.get("/v1/subscribers/ada/notifications/feed")
    # She does not exist before her first trigger is worked on.
    found: list[dict[str, Any]] = answer.json().get("data", [])
    return found


async def test_the_button_notifies_ada(served: Process, page: httpx.AsyncClient) -> None:
    state = (await page.get("/demo/state")).json()
    answers = [(await page.post("/demo/trigger")).status_code for _ in range(2)]

    assert (state["environment"], state["subscriberId"], state["needsHash"]) == ("Development", "ada", False)
    assert state["applicationIdentifier"]
    assert answers == [201, 201]
    async with asyncio.timeout(30):
        messages = await feed_of_ada(served)
        while len(messages) < 2:
            messages = await feed_of_ada(served)
    assert len({one["content"] for one in messages}) == 2
    assert not any("{{" in one["content"] + one["subject"] for one in messages)


async def test_the_page_tells_when_sessions_need_a_hash(served: Process, page: httpx.AsyncClient) -> None:
    async with served.client(served.keys["Development"]) as api:
        integrations = (await api.get("/v1/integrations")).json()
        (inbox,) = [one for one in integrations if one["channel"] == "in_app"]
        changed = await api.put(f"/v1/integrations/{inbox['_id']}", json={"credentials": {"hmac": True}})

    assert changed.status_code == 200
    assert (await page.get("/demo/state")).json()["needsHash"] is True


async def test_a_workflow_that_cannot_run_is_named(served: Process, page: httpx.AsyncClient) -> None:
    await page.post("/demo/trigger")
    async with served.client(served.keys["Development"]) as api:
        await api.patch("/v2/workflows/clarion-demo", json={"active": False})

    refused = await page.post("/demo/trigger")

    assert refused.status_code == 409
    assert "clarion-demo" in refused.json()["message"]


async def test_only_the_page_on_this_machine_may_trigger(page: httpx.AsyncClient) -> None:
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"X-Forwarded-For": "203.0.113.9"},
        {"Forwarded": "for=203.0.113.9"},
    ):
        assert (await page.post("/demo/trigger", headers=headers)).status_code == 403, headers
        assert (await page.get("/demo/state", headers=headers)).status_code == 403, headers
