"""Each person has one run of a trigger, in however many ways the trigger reaches them."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from clarion.ids import SubscriberKey
from clarion.jobs.lanes import ALL_LANES, LaneSet, lane_of
from tests.engine.support import World, in_app

CROWD = 200
"""More than the first chunk of a topic, so that the topic is split in two."""


Work = Callable[[], Awaitable[None]]


@pytest.fixture(params=["in all lanes at once", "lane by lane"])
def work(world: World, request: pytest.FixtureRequest) -> Work:
    """Do everything that is due: directly, or through parts of triggers for other workers."""
    return world.work if request.param == "in all lanes at once" else world.work_by_turns


async def make_topic(world: World, key: str, members: list[str]) -> None:
    for member in members:
        await world.api.post("/v2/subscribers", json={"subscriberId": member})
    for start in range(0, len(members), 100):
        response = await world.api.post(
            f"/v2/topics/{key}/subscriptions", json={"subscriberIds": members[start : start + 100]}
        )
        assert response.status_code in (200, 201), response.text


def topic(key: str) -> dict[str, Any]:
    return {"type": "Topic", "topicKey": key}


async def people(world: World) -> list[str]:
    return sorted(event["subscriber"]["subscriberId"] for event in await world.events())


async def test_a_named_person_who_is_in_the_first_topic_too_has_one_run(world: World, work: Work) -> None:
    await world.make_workflow(in_app("x"))
    await make_topic(world, "news", ["ada", "bob"])

    await world.trigger(["ada", topic("news")])
    await work()

    assert await people(world) == ["ada", "bob"]
    assert await world.feed("ada") == ["x"]


async def test_a_member_of_two_topics_has_one_run_with_the_first_topic(world: World, work: Work) -> None:
    await world.make_workflow(in_app("x"))
    await make_topic(world, "news", ["ada", "bob"])
    await make_topic(world, "more", ["bob", "cy"])

    await world.trigger([topic("news"), topic("more")])
    await work()

    assert await people(world) == ["ada", "bob", "cy"]
    events = {event["subscriber"]["subscriberId"]: event for event in await world.events()}
    assert [one["topicKey"] for one in events["bob"]["topics"]] == ["news"]


async def test_a_member_of_two_topics_of_which_one_is_handed_to_its_lane_already_has_one_run(world: World) -> None:
    await world.make_workflow(in_app("x"))
    await make_topic(world, "news", ["ada", "bob"])
    await make_topic(world, "more", ["bob", "cy"])
    await world.trigger([topic("news"), topic("more")])
    world.engine.membership.lanes = LaneSet.of([lane_of(SubscriberKey("zoe"))])
    await world.engine.work_lanes()
    assert await people(world) == []

    world.engine.membership.lanes = ALL_LANES
    await world.work()

    assert await people(world) == ["ada", "bob", "cy"]
    assert await world.feed("bob") == ["x"]


async def test_a_person_who_has_a_run_gets_none_from_a_later_chunk_of_a_topic(world: World) -> None:
    await world.make_workflow(in_app("x"))
    members = [f"p{number:03}" for number in range(CROWD)]
    await make_topic(world, "news", members)
    last = members[-1]

    await world.trigger([last, topic("news")], transactionId="crowd")
    await world.engine.work_lanes()
    assert await world.feed(last) == ["x"]
    assert (await world.api.get("/v1/messages?limit=1&transactionId=crowd")).json()["totalCount"] < CROWD
    await world.work()

    assert await world.feed(last) == ["x"]
    assert (await world.api.get("/v1/messages?limit=1&transactionId=crowd")).json()["totalCount"] == CROWD


async def test_another_trigger_for_the_same_people_is_not_mistaken_for_the_first(world: World, work: Work) -> None:
    await world.make_workflow(in_app("{{payload.n}}"))
    await make_topic(world, "news", ["ada", "bob"])

    await world.trigger(["ada", topic("news")], payload={"n": 1})
    await world.trigger(["ada", topic("news")], payload={"n": 2})
    await work()

    assert await world.feed("ada") == await world.feed("bob") == ["1", "2"]


async def test_a_trigger_for_one_person_does_not_overtake_earlier_ones_for_several(world: World) -> None:
    """Also where the earlier ones are so many parts that a unit of work does not see them all."""
    await world.make_workflow(in_app("{{payload.n}}"))
    world.engine.membership.lanes = LaneSet.of([lane_of(SubscriberKey("zoe"))])
    for number in range(80):
        await world.trigger(["ada", "bob"], payload={"n": number})
    await world.trigger("ada", payload={"n": 80})
    await world.work()
    assert await world.feed("ada") == []

    world.engine.membership.lanes = ALL_LANES
    await world.work()

    assert await world.feed("ada") == [str(number) for number in range(81)]
