"""Simulations of workflows that wait: what is taken to happen is given with its moment."""

from typing import Any

import pytest

from clarion.clock import HOUR, MINUTE, Millis, iso_text
from tests.engine.support import World, in_app, step
from tests.engine.test_waits import SHOWN, wait_for
from tests.simulate.support import contents, simulate


def happens(world: World, name: str = "order.paid", *, after: int = HOUR, **fields: Any) -> dict[str, Any]:
    return {"name": name, "at": iso_text(Millis(world.clock.now() + after)), **fields}


async def test_nothing_happens_unless_it_is_said(world: World) -> None:
    await world.make_workflow(wait_for(), SHOWN)

    assert await contents(world) == ["false "]


async def test_an_event_lets_the_run_go_on_at_its_moment(world: World) -> None:
    await world.make_workflow(wait_for(), SHOWN)

    answer = await simulate(world, events=[happens(world, data={"order": 7})])

    (message,) = answer["recipients"][0]["messages"]
    assert (message["content"], message["at"]) == ("true 7", "2026-01-01T01:00:00.000Z")


async def test_events_happen_in_the_order_of_their_moments(world: World) -> None:
    await world.make_workflow(wait_for(), SHOWN)
    late, early = happens(world, data={"order": 2}), happens(world, after=MINUTE, data={"order": 1})

    assert await contents(world, events=[late, early]) == ["true 1"]


async def test_an_event_happens_to_one_person(world: World) -> None:
    await world.make_workflow(wait_for(), SHOWN)

    answer = await simulate(world, ["ada", "bob"], events=[happens(world, subscriberId="bob")])

    shown = {one["subscriberId"]: one["messages"][0]["content"] for one in answer["recipients"]}
    assert shown == {"ada": "false ", "bob": "true "}


async def test_a_message_is_read(world: World) -> None:
    reads = in_app("{{steps.inbox.read}} {{steps.wait.matched}}")
    await world.make_workflow(in_app("Read me"), wait_for("message.read"), {**reads, "name": "Last"})

    read = happens(world, "message.read", stepId="inbox")

    assert (await contents(world, events=[read]))[-1] == "true true"
    assert (await contents(world))[-1] == "false false"


async def test_nothing_is_stored(world: World) -> None:
    await world.make_workflow(wait_for(), SHOWN)
    await world.trigger()
    await world.work()

    await simulate(world, events=[happens(world, after=MINUTE)])
    await world.work(after=HOUR)

    assert await world.feed() == []


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": "message.read"}, "stepId"),
        ({"name": "order.paid", "stepId": "wait"}, "stepId"),
        ({"name": "message.read", "stepId": "wait"}, "stepId"),
        ({"name": "message.read", "stepId": "unknown"}, "stepId"),
        ({"name": "no name"}, "name"),
        ({"after": -MINUTE}, "at"),
        ({"after": 400 * 24 * HOUR}, "at"),
    ],
)
async def test_events_that_cannot_happen_are_refused(world: World, fields: dict[str, Any], field: str) -> None:
    await world.make_workflow(step("delay", type="regular", amount=1, unit="hours"), wait_for(), SHOWN)

    body = {"name": "welcome", "to": "ada", "events": [happens(world, **fields)]}
    response = await world.api.post("/v1/simulate", json=body)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == [f"events.0.{field}"]
