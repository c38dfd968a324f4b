"""Triggers for segments: whom they reach, each once, and what explain and simulate say of it."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from clarion.ids import SubscriberKey
from clarion.jobs.lanes import ALL_LANES, LaneSet, lane_of
from clarion.segments.model import MAX_SEGMENTS_PER_TRIGGER
from clarion.vocabulary import Scope
from tests.engine.support import World, in_app
from tests.explain.support import explain, explain_newest, only
from tests.segments.support import GOLD, make_people, make_segment
from tests.support import Api, MakeApi

TO_GOLD = {"type": "Segment", "segmentKey": "gold"}
ADULT = {">=": [{"var": "subscriber.data.age"}, 18]}

Work = Callable[[], Awaitable[None]]


@pytest.fixture(params=["in all lanes at once", "lane by lane"])
def work(world: World, request: pytest.FixtureRequest) -> Work:
    """Do everything that is due: directly, or through batches for other workers."""
    return world.work if request.param == "in all lanes at once" else world.work_by_turns


async def make_gold(world: World, *keys: str, **others: dict[str, Any]) -> None:
    await make_people(world.api, **{key: {"data": {"plan": "gold"}} for key in keys}, **others)


async def make_crowd(world: World, count: int, data: Callable[[int], dict[str, Any]]) -> None:
    for start in range(0, count, 500):
        numbers = range(start, min(start + 500, count))
        people = [{"subscriberId": f"p{number}", "data": data(number)} for number in numbers]
        response = await world.api.post("/v1/subscribers/bulk", json={"subscribers": people})
        assert response.status_code in (200, 201), response.text


async def reached(world: World, transaction: str | None = None) -> list[str]:
    query = {} if transaction is None else {"transactionId": transaction}
    keys: list[str] = []
    for page in range(40):
        events = await world.events(page=page, **query)
        keys += [event["subscriber"]["subscriberId"] for event in events]
        if len(events) < 50:
            break
    return sorted(keys)


async def test_those_who_meet_the_condition_are_reached(world: World, work: Work, other_api: Api) -> None:
    await world.make_workflow(in_app("x"))
    await make_segment(world.api)
    await make_gold(world, "ada", "bob", cy={"data": {"plan": "free"}})
    await make_people(other_api, eve={"data": {"plan": "gold"}})

    await world.trigger(TO_GOLD)
    await work()

    assert await reached(world) == ["ada", "bob"]
    assert await world.feed("ada") == ["x"]


async def test_many_are_found_some_at_a_time(world: World, work: Work) -> None:
    await world.make_workflow(in_app("x"))
    await make_segment(world.api, ADULT, key="adults")
    await make_crowd(world, 1500, lambda number: {"age": 18 if number % 2 else 17})

    await world.trigger({"segmentKey": "adults"})
    await work()

    assert await reached(world) == sorted(f"p{number}" for number in range(1, 1500, 2))


async def test_each_person_has_one_run_however_they_are_reached(world: World, work: Work) -> None:
    await world.make_workflow(in_app("x"))
    await make_segment(world.api)
    await make_segment(world.api, {"startsWith": [{"var": "subscriber.subscriberId"}, "a"]}, key="a")
    await make_gold(world, "ada", "bob", al={}, cy={})
    await world.api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["bob", "cy"]})

    await world.trigger(["ada", TO_GOLD, {"segmentKey": "a"}, {"topicKey": "news"}, TO_GOLD])
    await work()

    assert await reached(world) == ["ada", "al", "bob", "cy"]


async def test_a_named_person_whose_batch_waits_is_not_reached_twice(world: World) -> None:
    await world.make_workflow(in_app("x"))
    await make_segment(world.api)
    await make_gold(world, "ada", "bob")
    await world.trigger(["ada", TO_GOLD])
    world.engine.membership.lanes = LaneSet.of([lane_of(SubscriberKey("zoe"))])
    await world.engine.work_lanes()
    assert await reached(world) == []

    world.engine.membership.lanes = ALL_LANES
    await world.work()

    assert await reached(world) == ["ada", "bob"]


async def test_the_excluded_and_the_actor_get_nothing(world: World, work: Work) -> None:
    await world.make_workflow(in_app("x"))
    await make_segment(world.api)
    await make_gold(world, "ada", "bob", "cy")

    await world.trigger({**TO_GOLD, "exclude": ["ada"]}, actor="bob")
    await work()

    assert await reached(world) == ["cy"]
    assert only(await explain(world, "ada", workflowId="welcome"), "exclusion")["summary"].endswith(
        "out of the segment 'gold' (exclude)."
    )
    assert (
        "is the actor of the trigger" in only(await explain(world, "bob", workflowId="welcome"), "exclusion")["summary"]
    )


@pytest.mark.parametrize("is_deleted", [False, True])
async def test_the_condition_of_the_moment_of_the_trigger_holds(world: World, work: Work, is_deleted: bool) -> None:
    await world.make_workflow(in_app("x"))
    await make_segment(world.api)
    await make_gold(world, "ada", cy={"data": {"plan": "free"}})
    await world.trigger(TO_GOLD, sendAt="2026-01-02T00:00:00Z")

    if is_deleted:
        assert (await world.api.delete("/v1/segments/gold")).status_code == 204
    else:
        assert (await world.api.patch("/v1/segments/gold", json={"condition": True})).status_code == 200
    await make_gold(world, "bob")
    world.clock.move(24 * 3_600_000)
    await work()

    assert await reached(world) == ["ada", "bob"]


async def test_who_is_refused_by_a_topic_is_reached_by_a_segment(world: World, work: Work) -> None:
    await world.make_workflow(in_app("x"))
    await make_segment(world.api)
    await make_gold(world, "ada", cy={})
    subscription = {"subscriptions": ["ada", "cy"], "preferences": [{"workflowId": "welcome", "enabled": False}]}
    await world.api.post("/v2/topics/news/subscriptions", json=subscription)

    await world.trigger([{"topicKey": "news"}, TO_GOLD])
    await work()

    statuses = {one["subscriber"]["subscriberId"]: one["jobs"][0]["status"] for one in await world.events()}
    assert statuses == {"ada": "completed", "cy": "skipped"}


async def test_a_trigger_that_is_canceled_reaches_nobody_more(world: World) -> None:
    await world.make_workflow(in_app("x"))
    await make_segment(world.api, True)
    await make_crowd(world, 1000, lambda number: {})
    await world.trigger(TO_GOLD, transactionId="crowd")
    await world.engine.work_lanes()
    before = len(await reached(world))

    assert (await world.api.delete("/v1/events/trigger/crowd")).json() is True
    await world.work()

    assert before < 1000
    assert len(await reached(world)) == before


async def test_a_segment_that_does_not_exist_is_refused(world: World, other_api: Api) -> None:
    await world.make_workflow(in_app("x"))
    await make_segment(other_api)

    refused = await world.post(["ada", TO_GOLD])
    bulk = [{"name": "welcome", "to": TO_GOLD}, {"name": "welcome", "to": "ada"}]
    answers = (await world.api.post("/v1/events/trigger/bulk", json={"events": bulk})).json()
    await world.work()

    assert refused.status_code == 422
    assert "names the segment 'gold', which does not exist" in refused.text
    assert [one["status"] for one in answers] == ["error", "processed"]
    assert "names the segment 'gold'" in answers[0]["error"][0]
    assert await reached(world) == ["ada"]


async def test_a_key_without_the_scope_of_segments_is_refused(world: World, make_api: MakeApi) -> None:
    await world.make_workflow(in_app("x"))
    await make_segment(world.api)
    await make_gold(world, "ada")
    api = await make_api(world.api.environment, frozenset({Scope.EVENTS_WRITE, Scope.EVENTS_READ}))

    refused = await api.post("/v1/events/trigger", json={"name": "welcome", "to": TO_GOLD})
    bulk = {"events": [{"name": "welcome", "to": TO_GOLD}, {"name": "welcome", "to": "cy"}]}
    answers = (await api.post("/v1/events/trigger/bulk", json=bulk)).json()
    await world.work()

    assert refused.status_code == 403
    assert "lacks the scope 'segments:read'" in refused.text
    assert [one["status"] for one in answers] == ["error", "processed"]
    assert await reached(world) == ["cy"]


@pytest.mark.parametrize(
    ("to", "problem"),
    [
        ({"type": "Segment"}, "segmentKey"),
        ({"type": "Segment", "segmentKey": ""}, "to.segmentKey"),
        ({"segmentKey": ["gold"]}, "to.segmentKey"),
        ({"segmentKey": "gold", "exclude": ["x"] * 101}, "to.exclude"),
        ([{"segmentKey": "gold"}] * (MAX_SEGMENTS_PER_TRIGGER + 1), "must have at most 10 segments"),
        (7, "must be a subscriberId, a subscriber object, a topic or a segment"),
    ],
)
async def test_malformed_segments_are_refused(world: World, to: Any, problem: str) -> None:
    await world.make_workflow(in_app("x"))
    await make_segment(world.api)

    refused = await world.post(to)

    assert refused.status_code == 422
    assert problem in refused.text


async def test_an_erased_person_leaves_the_trigger(world: World) -> None:
    await world.make_workflow(in_app("x"))
    await make_segment(world.api)
    await make_gold(world, "ada", "bob")
    await world.trigger({**TO_GOLD, "exclude": ["ada"]})

    assert (await world.api.delete("/v2/subscribers/ada")).status_code == 200
    await make_gold(world, "ada")
    await world.work()

    assert await reached(world) == ["ada", "bob"]


async def test_explain_tells_the_segment_and_the_comparisons(world: World) -> None:
    await world.make_workflow(in_app("x"))
    await make_segment(world.api)
    await make_gold(world, "ada", cy={"data": {"plan": "free"}})
    await world.trigger(TO_GOLD)
    await world.work()

    told = only(await explain_newest(world), "recipient", "passed")
    absent = only(await explain(world, "cy", workflowId="welcome"), "recipient")

    assert told["summary"] == (
        "'ada' is in the segment 'gold', which the trigger is for: "
        'subscriber.data.plan was "gold" (wanted: is "gold").'
    )
    assert told["values"]["segmentKey"] == "gold"
    assert absent["summary"] == (
        "'cy' is not in the segment 'gold', which the trigger is for: "
        'subscriber.data.plan was "free" (wanted: is "gold").'
    )


async def test_explain_tells_that_data_has_changed_since(world: World) -> None:
    await world.make_workflow(in_app("x"))
    await make_segment(world.api)
    await make_gold(world, "ada", cy={"data": {"plan": "free"}})
    await world.trigger(TO_GOLD)
    await world.work()

    await world.api.patch("/v2/subscribers/ada", json={"data": {"plan": "free"}})
    await world.api.patch("/v2/subscribers/cy", json={"data": {"plan": "gold"}})

    told = only(await explain_newest(world), "recipient", "passed")
    assert told["summary"] == "'ada' was in a segment that the trigger is for ('gold'); their data has changed since."
    unknown = only(await explain(world, "cy", workflowId="welcome"), "recipient", "unknown")
    assert unknown["summary"].startswith("There is no run for the person, and why was not recorded.")


async def test_a_simulation_reaches_the_same_people(world: World) -> None:
    await world.make_workflow(in_app("x"))
    in_news = {"in": ["news", {"var": "subscriber.topics"}]}
    await make_segment(world.api, {"or": [GOLD, in_news]})
    await make_gold(world, "ada", "bob", cy={}, dan={}, eve={})
    await world.api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["cy", "ada"]})
    await world.api.post("/v2/topics/more/subscriptions", json={"subscriberIds": ["dan", "ada"]})

    to = ["eve", {**TO_GOLD, "exclude": ["bob"]}, {"topicKey": "more"}]
    body = {"name": "welcome", "to": to}
    simulated = (await world.api.post("/v1/simulate", json=body)).json()
    limited = (await world.api.post("/v1/simulate", json={**body, "limit": 2})).json()
    await world.trigger(to)
    await world.work()

    assert simulated["total"] == limited["total"] == 4
    assert sorted(one["subscriberId"] for one in simulated["recipients"]) == await reached(world)
    assert len(limited["recipients"]) == 2
    assert (limited["truncated"], limited["totalCapped"]) == (True, False)


async def test_a_simulation_of_a_segment_needs_its_scope(world: World, make_api: MakeApi) -> None:
    await world.make_workflow(in_app("x"))
    await make_segment(world.api)
    shown = {Scope.SUBSCRIBERS_READ, Scope.TOPICS_READ, Scope.PREFERENCES_READ, Scope.WORKFLOWS_READ}
    api = await make_api(world.api.environment, frozenset({Scope.EVENTS_READ, *shown}))

    refused = await api.post("/v1/simulate", json={"name": "welcome", "to": TO_GOLD})

    assert refused.status_code == 403
    assert "lacks the scope 'segments:read'" in refused.text
