"""Integrations with conditions send only what they are for."""

import json
from typing import Any

import pytest

from tests.engine.providers import ADA, EMAIL, account
from tests.engine.support import World, details


def when(field: str, value: str, on: str = "payload") -> list[dict[str, Any]]:
    part = {"field": field, "value": value, "operator": "EQUAL", "on": on}
    return [{"isNegated": False, "type": "GROUP", "value": "AND", "children": [part]}]


@pytest.mark.parametrize(("region", "counts"), [("eu", (1, 0)), ("us", (0, 1)), ("asia", (0, 0))])
async def test_a_message_goes_to_the_integration_whose_conditions_hold(
    world: World, region: str, counts: tuple[int, int]
) -> None:
    async with (
        account(world, "a", conditions=when("region", "eu")) as first,
        account(world, "b", conditions=when("region", "us")) as second,
    ):
        await world.make_workflow(EMAIL)
        await world.trigger(ADA, payload={"region": region})
        await world.work()

        assert (first.count, second.count) == counts
    assert await world.statuses() == [["completed" if any(counts) else "failed"]]


async def test_conditions_may_be_about_the_person(world: World) -> None:
    async with account(world, "a", conditions=when("lastName", "Lovelace", "subscriber")) as first:
        await world.make_workflow(EMAIL)
        await world.trigger({**ADA, "lastName": "Lovelace"})
        await world.trigger({"subscriberId": "bo", "email": "bo@example.com"})
        await world.work()

        assert first.count == 1
    assert sorted(await world.statuses()) == [["completed"], ["failed"]]


async def test_conditions_may_have_templates_in_their_values(world: World) -> None:
    async with account(world, "a", conditions=when("region", "{{subscriber.data.region}}")) as first:
        await world.make_workflow(EMAIL)
        await world.trigger({**ADA, "data": {"region": "eu"}}, payload={"region": "eu"})
        await world.trigger(
            {"subscriberId": "bo", "email": "bo@example.com", "data": {"region": "us"}}, payload={"region": "eu"}
        )
        await world.work()

        assert first.count == 1
    assert sorted(await world.statuses()) == [["completed"], ["failed"]]


ENDLESS = "{% for a in (1..100000) %}{% for b in (1..100000) %}x{% endfor %}{% endfor %}"


@pytest.mark.parametrize("template", ["{{ payload.region", ENDLESS])
async def test_an_integration_whose_conditions_cannot_be_rendered_does_not_send_and_says_why(
    world: World, template: str
) -> None:
    async with account(world, "a", conditions=when("region", template)) as first, account(world, "b") as second:
        await world.make_workflow(EMAIL)
        await world.trigger(ADA, payload={"region": "eu"})
        await world.work()

        assert (first.count, second.count) == (0, 1)
        (run,) = await world.events()
        selected = next(
            one for one in run["jobs"][0]["executionDetails"] if one["detail"] == "Integration instance selected"
        )
        refused = json.loads(selected["raw"])["notEligible"][first.integration["identifier"]]
        assert "has conditions that cannot be rendered" in refused


async def test_an_integration_takes_over_from_another_only_what_its_conditions_allow(world: World) -> None:
    async with account(world, "a", conditions=when("region", "eu")) as first, account(world, "b") as second:
        await world.make_workflow(EMAIL)
        for region in ("eu", "us"):
            await world.trigger(ADA, payload={"region": region})
        await world.work()
        assert (first.count, second.count) == (0, 2)

        second.break_down(401)
        for region in ("eu", "us"):
            await world.trigger(ADA, payload={"region": region})
        await world.work()

        assert (len(first.taken), len(second.taken)) == (1, 2)
    assert await world.statuses() == [["completed"], ["completed"], ["completed"], ["failed"]]


@pytest.mark.parametrize(("wanted", "counts"), [("b", (0, 1)), ("a", (0, 0)), ("nothing", (0, 0))])
async def test_a_trigger_may_name_the_integration_as_far_as_its_conditions_hold(
    world: World, wanted: str, counts: tuple[int, int]
) -> None:
    async with account(world, "a", conditions=when("region", "eu")) as first, account(world, "b") as second:
        await world.make_workflow(EMAIL)
        await world.trigger(ADA, overrides={"email": {"integrationIdentifier": wanted}})
        await world.work()

        assert (first.count, second.count) == counts
    (event,) = await world.events()
    assert ("Message sent" in details(event["jobs"][0])) is any(counts)
