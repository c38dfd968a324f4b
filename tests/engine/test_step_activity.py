"""The activity of a workflow shows what came of each step, and which paths of branches runs took: an A/B test."""

from typing import Any

from clarion.clock import MINUTE
from tests.engine.support import World, in_app, step
from tests.engine.test_message_waits import mark

SPLIT = step(
    "branch",
    "Split",
    paths=[
        {"name": "A", "weight": 1, "steps": [{**in_app("One"), "name": "Variant A"}]},
        {"name": "B", "weight": 1, "steps": [{**in_app("Two"), "name": "Variant B"}]},
    ],
)
PEOPLE = [f"p{number}" for number in range(20)]


async def get_steps(world: World) -> dict[str, Any]:
    world.clock.move(MINUTE)
    response = await world.api.get("/v1/workflows/welcome/activity")
    assert response.status_code == 200, response.text
    return {one["stepId"]: one for one in response.json()["steps"]}


async def test_an_experiment_has_its_result(world: World) -> None:
    await world.make_workflow(SPLIT, in_app("After"))
    await world.trigger(PEOPLE)
    await world.work()
    messages = [one for one in await world.messages() if one["content"] in ("One", "Two")]
    for message in messages:
        if message["content"] == "Two":
            await mark(world, message, "read")

    steps = await get_steps(world)

    paths = steps["split"]["paths"]
    assert sum(paths.values()) == len(PEOPLE)
    assert min(paths.values()) > 0
    assert steps["variant-a"]["counts"] | {"sent": paths["A"], "read": 0} == steps["variant-a"]["counts"]
    assert steps["variant-b"]["counts"] | {"sent": paths["B"], "read": paths["B"]} == steps["variant-b"]["counts"]
    assert (steps["inbox"]["counts"]["sent"], "paths" in steps["inbox"]) == (len(PEOPLE), False)


async def test_a_step_is_counted_in_all_versions(world: World) -> None:
    made = await world.make_workflow(in_app("First"))
    await world.trigger()
    await world.work(after=MINUTE)
    changed = {
        "name": made["name"],
        "steps": [step("delay", amount=1, unit="minutes"), {**in_app("Second"), "stepId": "inbox"}],
    }
    assert (await world.api.put("/v2/workflows/welcome", json={**changed, "active": True})).status_code == 200
    await world.trigger()
    await world.work()
    await world.work(after=MINUTE)

    found = await get_steps(world)

    assert list(found) == ["inbox"]
    assert found["inbox"]["counts"]["sent"] == 2
