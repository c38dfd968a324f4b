"""Makers of topics, people and subscriptions."""

import asyncio
from typing import Any

import httpx

from tests.support import Api


async def make_topic(api: Api, key: str = "news", **fields: Any) -> dict[str, Any]:
    response = await api.post("/v2/topics", json={"key": key, **fields})
    assert response.status_code in (200, 201), response.text
    topic: dict[str, Any] = response.json()
    return topic


async def make_subscribers(api: Api, *keys: str) -> None:
    made = await asyncio.gather(*(api.post("/v2/subscribers", json={"subscriberId": key}) for key in keys))
    assert all(response.status_code == 201 for response in made)


async def subscribe(api: Api, *keys: str, topic: str = "news") -> dict[str, Any]:
    response = await api.post(f"/v2/topics/{topic}/subscriptions", json={"subscriberIds": list(keys)})
    assert response.status_code == 201, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def unsubscribe(api: Api, *keys: str, topic: str = "news") -> httpx.Response:
    return await api.request("DELETE", f"/v2/topics/{topic}/subscriptions", json={"subscriberIds": list(keys)})


def people(answer: dict[str, Any]) -> list[str]:
    return [one["subscriber"]["subscriberId"] for one in answer["data"]]
