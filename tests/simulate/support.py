"""Simulations through the API."""

from typing import Any

from tests.engine.support import World, step

DELAY = step("delay", type="regular", amount=1, unit="hours")


async def simulate(world: World, to: Any = "ada", *, name: str = "welcome", **fields: Any) -> dict[str, Any]:
    response = await world.api.post("/v1/simulate", json={"name": name, "to": to, **fields})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def contents(world: World, to: Any = "ada", **fields: Any) -> list[str]:
    """The texts of the only person's messages."""
    (person,) = (await simulate(world, to, **fields))["recipients"]
    return [one["content"] for one in person["messages"]]


async def subscribe(world: World, topic: str, *keys: str) -> None:
    for key in keys:
        await world.api.post("/v2/subscribers", json={"subscriberId": key})
    response = await world.api.post(f"/v2/topics/{topic}/subscriptions", json={"subscriberIds": list(keys)})
    assert response.status_code < 300, response.text
