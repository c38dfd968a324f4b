"""Events and controls of waits that are refused, and who may emit."""

from typing import Any

import pytest

from tests.engine.support import World, in_app, step
from tests.engine.test_waits import SHOWN, TWO_HOURS, start, wait_for
from tests.support import Api


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "order.paid"}, "to"),
        ({"name": "order.paid", "to": "ada", "everyone": True}, "to"),
        ({"name": "order.paid", "to": [], "everyone": True}, "to"),
        ({"name": "order.paid", "to": ["x"] * 101}, "to"),
        ({"name": "order.paid", "topic": "unknown"}, "topic"),
        ({"name": "message.read", "to": "ada"}, "name"),
        ({"name": "order paid", "to": "ada"}, "name"),
        ({"name": "order.paid", "to": "ada", "data": {"text": "x" * 17_000}}, "data"),
        ({"name": "order.paid", "to": "ada", "payload": {}}, "payload"),
    ],
)
async def test_bad_events_are_refused(world: World, body: dict[str, Any], field: str) -> None:
    response = await world.api.post("/v1/events/emit", json=body)

    assert response.status_code == 422
    assert field in response.json()["errors"]


async def test_events_reach_no_other_environment(world: World, other_api: Api) -> None:
    await start(world, wait_for(), SHOWN)

    answers = [
        await other_api.post("/v1/events/emit", json={"name": "order.paid", **target})
        for target in ({"to": "ada"}, {"everyone": True})
    ]
    await world.work()

    assert [one.json()["awaited"] for one in answers] == [False, False]
    assert await world.feed() == []


@pytest.mark.parametrize(
    ("controls", "field"),
    [
        ({"event": "message.unknown"}, "event"),
        ({"event": "{{payload.event}}"}, "event"),
        ({"event": "order.paid", "ofStep": "inbox"}, "ofStep"),
        ({"event": "message.read", "ofStep": "unknown"}, "ofStep"),
        ({"event": "order.paid", "timeout": {"amount": 91, "unit": "days"}}, "timeout.amount"),
        ({"event": "order.paid", "match": [{"value": 1}]}, "match.0.path"),
        ({"event": "order.paid", "condition": {"nope": []}}, "condition"),
    ],
)
async def test_bad_controls_are_refused(world: World, controls: dict[str, Any], field: str) -> None:
    steps = [in_app("x"), step("wait_for", "Wait", **{"timeout": TWO_HOURS} | controls)]
    body = {"name": "Wait", "workflowId": "wait", "steps": steps}

    response = await world.api.post("/v2/workflows", json=body)

    assert response.status_code == 422
    assert f"steps.1.controlValues.{field}" in response.json()["errors"]


async def test_a_wait_without_event_or_timeout_has_issues_and_fails(world: World) -> None:
    made = await world.make_workflow(step("wait_for", "Wait"), in_app("Done"))
    await world.trigger()
    await world.work()

    assert sorted(made["steps"][0]["issues"]["controls"]) == ["event", "timeout"]
    assert await world.statuses() == [["failed", "completed"]]
