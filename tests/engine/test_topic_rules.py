"""Rules of people about topics: who is reached through which topic."""

import itertools
from collections.abc import Awaitable, Callable
from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from clarion.conditions import OF_SUBSCRIBERS
from clarion.db.port import Connection, Database
from clarion.engine.unit import run_unit
from clarion.ids import SubscriberKey, TopicKey
from clarion.jobs.lanes import ALL_LANES, LaneSet, lane_of
from clarion.topics.model import NewSubscription, Rule
from clarion.topics.store import upsert_topic
from clarion.topics.subscriptions import insert_subscriptions, lock_subscribers
from tests.engine.support import World, details, in_app

OFF = {"filter": {"workflowIds": ["welcome"]}, "enabled": False}
GOLD = {"filter": {"workflowIds": ["welcome"]}, "condition": {"==": [{"var": "payload.plan"}, "gold"]}}

Work = Callable[[], Awaitable[None]]
Subscribe = Callable[..., Awaitable[None]]


@pytest.fixture(params=["in all lanes at once", "lane by lane"])
def work(world: World, request: pytest.FixtureRequest) -> Work:
    """Do everything that is due: directly, or through parts of triggers for other workers."""
    return world.work if request.param == "in all lanes at once" else world.work_by_turns


@pytest.fixture
def subscribe(world: World, database: Database) -> Subscribe:
    """Subscribe a person to a topic: `await subscribe("ada", "news", OFF)`."""

    async def make(person: str, topic: str, *rules: dict[str, Any], identifier: str = "") -> None:
        await world.api.post("/v2/subscribers", json={"subscriberId": person})
        decoded = msgspec.convert(list(rules), list[Rule])

        async def insert(db: Connection) -> None:
            environment_id, now = world.api.environment.id, world.clock.now()
            found, _ = await upsert_topic(db, environment_id, TopicKey(topic), {}, now)
            people = await lock_subscribers(db, environment_id, [SubscriberKey(person)])
            subscriber_id = people[SubscriberKey(person)]
            new = NewSubscription(subscriber_id=subscriber_id, chosen_identifier=identifier, rules=decoded)
            await insert_subscriptions(db, found, [new], now)

        await database.transaction(insert)

    return make


def topic(key: str, *exclude: str) -> dict[str, Any]:
    return {"type": "Topic", "topicKey": key, "exclude": list(exclude)}


async def outcomes(world: World, **query: Any) -> dict[str, list[str]]:
    """The statuses of the jobs of each person's run; nobody has two runs."""
    events = await world.events(**query)
    found = {one["subscriber"]["subscriberId"]: [job["status"] for job in one["jobs"]] for one in events}
    assert len(found) == len(events)
    return found


async def test_a_disabled_workflow_does_not_reach_the_person_and_the_run_says_why(
    world: World, work: Work, subscribe: Subscribe
) -> None:
    await world.make_workflow(in_app("x"), in_app("y"))
    await subscribe("ada", "news", OFF)
    await subscribe("bob", "news")

    await world.trigger(topic("news"))
    await work()

    assert await outcomes(world) == {"ada": ["skipped"] * 2, "bob": ["completed"] * 2}
    assert await world.feed("ada") == []
    refused = next(one for one in await world.events() if one["subscriber"]["subscriberId"] == "ada")
    assert [details(job) for job in refused["jobs"]] == [["Topic subscription preference evaluated"]] * 2
    assert msgspec.json.decode(refused["jobs"][0]["executionDetails"][0]["raw"]) == {
        "topicKey": "news",
        "subscriptions": [{"identifier": "tk_news:si_ada", "enabled": False}],
    }


async def test_a_condition_is_decided_with_payload_and_subscriber(world: World, subscribe: Subscribe) -> None:
    await world.make_workflow(in_app("{{payload.plan}}"))
    mine = {"==": [{"var": "subscriber.firstName"}, "Ada"]}
    both = {"and": [GOLD["condition"], mine]}
    await subscribe("ada", "news", {"filter": {"workflowIds": ["welcome"]}, "condition": both})
    await subscribe("bob", "news", {"filter": {"workflowIds": ["welcome"]}, "condition": both})
    await world.api.patch("/v2/subscribers/ada", json={"firstName": "Ada"})

    for plan in ("gold", "free"):
        await world.trigger(topic("news"), payload={"plan": plan})
    await world.work()

    assert (await world.feed("ada"), await world.feed("bob")) == (["gold"], [])
    refused = [one for one in await world.events() if one["jobs"][0]["status"] == "skipped"]
    raw = msgspec.json.decode(refused[-1]["jobs"][0]["executionDetails"][0]["raw"])
    comparisons = raw["subscriptions"][0]["condition"]["comparisons"]
    assert (comparisons[0]["field"], comparisons[0]["actual"], comparisons[0]["outcome"]) == (
        "payload.plan",
        "free",
        False,
    )


async def test_rules_may_name_workflows_by_id_and_by_tag(world: World, subscribe: Subscribe) -> None:
    made = await world.make_workflow(in_app("x"), tags=["blue", "red"])
    await subscribe("by-id", "news", {"filter": {"workflowIds": [made["_id"]]}, "enabled": False})
    await subscribe("by-tag", "news", {"filter": {"tags": ["red", "green"]}, "enabled": False})
    await subscribe("others", "news", {"filter": {"workflowIds": ["other"], "tags": ["green"]}, "enabled": False})

    await world.trigger(topic("news"))
    await world.work()

    assert await outcomes(world) == {"by-id": ["skipped"], "by-tag": ["skipped"], "others": ["completed"]}


async def test_a_critical_workflow_reaches_everyone(world: World, subscribe: Subscribe) -> None:
    critical = {"workflow": {"all": {"enabled": True, "readOnly": True}}}
    await world.make_workflow(in_app("x"), tags=["blue"], preferences=critical)
    await subscribe("ada", "news", {"filter": {"tags": ["blue"]}, "enabled": False})

    await world.trigger(topic("news"))
    await world.work()

    assert await outcomes(world) == {"ada": ["completed"]}


async def test_one_of_several_subscriptions_that_allows_it_is_enough(
    world: World, work: Work, subscribe: Subscribe
) -> None:
    await world.make_workflow(in_app("x"))
    await subscribe("ada", "news", OFF)
    await subscribe("ada", "news", identifier="weekly")
    await subscribe("bob", "news", OFF, identifier="daily")
    await subscribe("bob", "news", GOLD, identifier="weekly")

    await world.trigger(topic("news"), payload={"plan": "gold"}, transactionId="gold")
    await world.trigger(topic("news"), payload={"plan": "free"}, transactionId="free")
    await work()

    assert await outcomes(world, transactionId="gold") == {"ada": ["completed"], "bob": ["completed"]}
    assert await outcomes(world, transactionId="free") == {"ada": ["completed"], "bob": ["skipped"]}


@pytest.mark.parametrize("first", ["news", "sport"])
async def test_another_topic_or_being_named_is_enough(
    world: World, work: Work, subscribe: Subscribe, first: str
) -> None:
    await world.make_workflow(in_app("x"))
    for person in ("ada", "bob", "cy", "dan"):
        await subscribe(person, "news", OFF)
    await subscribe("ada", "sport")
    await subscribe("bob", "sport", OFF)
    await subscribe("cy", "sport")
    topics = [topic("news"), topic("sport", "cy")]

    await world.trigger([*(topics if first == "news" else reversed(topics)), "dan"])
    await work()

    assert await outcomes(world) == {
        "ada": ["completed"],
        "bob": ["skipped"],
        "cy": ["skipped"],
        "dan": ["completed"],
    }


@pytest.mark.parametrize("times", [1, 2, 3, 5])
async def test_a_refusal_does_not_win_against_topics_that_are_handed_to_their_lanes_already(
    world: World, subscribe: Subscribe, times: int
) -> None:
    await world.make_workflow(in_app("x"))
    await subscribe("ada", "news", OFF)
    await subscribe("ada", "sport")
    world.engine.membership.lanes = LaneSet.of([lane_of(SubscriberKey("zoe"))])
    await world.trigger([topic("news"), topic("sport")], transactionId="refused first")
    await world.trigger([topic("sport"), topic("news")], transactionId="allowed first")
    for _ in range(times):
        await world.engine.work_lanes()
    assert await world.events() == []

    world.engine.membership.lanes = ALL_LANES
    await world.work()

    assert await outcomes(world, transactionId="refused first") == {"ada": ["completed"]}
    assert await outcomes(world, transactionId="allowed first") == {"ada": ["completed"]}


async def test_conditions_that_take_much_work_are_left_to_the_next_units(
    world: World, database: Database, subscribe: Subscribe
) -> None:
    await world.make_workflow(in_app("{{payload.plan}}"))
    # Each condition looks at all items of the payload.
    slow = {"in": ["last", {"var": "payload.items"}]}
    people = [f"p{number}" for number in range(16)]
    for person, number in product(people, range(4)):
        rule = {"filter": {"workflowIds": ["welcome"]}, "condition": slow}
        await subscribe(person, "news", rule, identifier=f"s{number}")
    items = [str(number) for number in range(OF_SUBSCRIBERS.max_work - 10)]

    await world.trigger(topic("news"), payload={"items": [*items, "last"]}, transactionId="yes")
    await world.trigger(topic("news"), payload={"items": items}, transactionId="no")
    await world.trigger("p0", payload={"plan": "after"}, transactionId="direct")
    environment_id, now = world.api.environment.id, world.clock.now()
    await database.transaction(
        lambda db: run_unit(db, environment_id, now, lanes=ALL_LANES, source=world.engine.source)
    )
    done = len(await world.events())
    await world.work()

    assert 0 < done < 2 * len(people)
    assert await outcomes(world, transactionId="yes") == {key: ["completed"] for key in people}
    assert await outcomes(world, transactionId="no") == {key: ["skipped"] for key in people}
    assert await world.feed("p0") == ["", "after"]


async def test_conditions_of_a_person_do_not_pass_beyond_their_work(world: World, subscribe: Subscribe) -> None:
    await world.make_workflow(in_app("Hi"))
    never, always = {"in": ["last", {"var": "payload.items"}]}, {"==": [1, 1]}
    for number in range(20):
        rule = {"filter": {"workflowIds": ["welcome"]}, "condition": never if number < 19 else always}
        for person in ("ada", "bob") if number in (0, 19) else ("ada",):
            await subscribe(person, "news", rule, identifier=f"s{number:02}")

    await world.trigger(topic("news"), payload={"items": [str(one) for one in range(80)]})
    await world.work()

    assert await outcomes(world) == {"ada": ["skipped"], "bob": ["completed"]}


async def test_a_refused_run_stays_refused_where_the_unit_has_no_work_left_for_it(
    world: World, subscribe: Subscribe
) -> None:
    costly = "{% for i in (1..2000) %}{% for j in (1..2) %}{{ i }}{% endfor %}{% endfor %}"
    await world.make_workflow(in_app(costly))
    for number in range(6):
        await subscribe(f"p{number}", "news", *([OFF] if number % 2 else []))

    await world.trigger(topic("news"))
    await world.work()

    statuses = await outcomes(world)
    assert {key for key, status in statuses.items() if status == ["skipped"]} == {"p1", "p3", "p5"}


PEOPLE = ("ada", "bob", "cy")
TOPICS = ("news", "sport")
PLANS = ("gold", "free")


class GivenRule(Struct, frozen=True):
    """A rule as the model sees it."""

    workflows: frozenset[str]
    tags: frozenset[str]
    enabled: bool
    plan: str | None

    def stored(self, number: int) -> dict[str, Any]:
        names = [f"{one}{number}" for one in sorted(self.workflows)]
        made: dict[str, Any] = {"filter": {"workflowIds": names, "tags": sorted(self.tags)}, "enabled": self.enabled}
        return made | ({"condition": {"==": [{"var": "payload.plan"}, self.plan]}} if self.plan else {})


rules = st.builds(
    GivenRule,
    st.frozensets(st.sampled_from(["welcome", "other"]), max_size=2),
    st.frozensets(st.sampled_from(["blue", "red"]), max_size=2),
    st.booleans(),
    st.none() | st.sampled_from(PLANS),
)
_numbers = itertools.count()


def allows(given_rules: list[GivenRule], tags: frozenset[str], plan: str) -> bool:
    for rule in given_rules:
        if "welcome" in rule.workflows or rule.tags & tags:
            return rule.enabled and rule.plan in (None, plan)
    return True


class Situation(Struct, frozen=True):
    """Who is subscribed, and what is triggered."""

    members: dict[tuple[str, str, str], list[GivenRule]]
    topics: list[tuple[str, frozenset[str]]]
    """With those whom they leave out."""
    named: frozenset[str]
    tags: frozenset[str]
    plan: str
    by_turns: bool


situations = st.builds(
    Situation,
    st.dictionaries(
        st.tuples(st.sampled_from(PEOPLE), st.sampled_from(TOPICS), st.sampled_from(["", "more"])),
        st.lists(rules, max_size=3),
        max_size=9,
    ),
    st.lists(
        st.tuples(st.sampled_from(TOPICS), st.frozensets(st.sampled_from(PEOPLE), max_size=1)), min_size=1, max_size=3
    ),
    st.frozensets(st.sampled_from(PEOPLE), max_size=1),
    st.frozensets(st.sampled_from(["blue", "red"])),
    st.sampled_from(PLANS),
    st.booleans(),
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(situation=situations)
async def test_the_people_who_are_reached_are_those_of_a_simple_model(
    world: World, subscribe: Subscribe, situation: Situation
) -> None:
    members, topics, named = situation.members, situation.topics, situation.named
    number = next(_numbers)
    await world.make_workflow(in_app("x"), key=f"welcome{number}", tags=sorted(situation.tags))
    for key in TOPICS:
        await world.api.post("/v2/topics", json={"key": f"{key}{number}"})
    for (person, key, identifier), given_rules in members.items():
        stored = [rule.stored(number) for rule in given_rules]
        await subscribe(person, f"{key}{number}", *stored, identifier=identifier)

    targets = [topic(f"{key}{number}", *exclude) for key, exclude in topics]
    await world.trigger(
        [*targets, *named], name=f"welcome{number}", payload={"plan": situation.plan}, transactionId=f"t{number}"
    )
    await (world.work_by_turns() if situation.by_turns else world.work())

    ways = [
        (person, allows(given_rules, situation.tags, situation.plan))
        for (person, key, _), given_rules in members.items()
        for other, exclude in topics
        if other == key and person not in exclude
    ]
    reached = named | {person for person, is_allowed in ways if is_allowed}
    expected = {person: ["completed" if person in reached else "skipped"] for person in [*named, *dict(ways)]}
    assert await outcomes(world, transactionId=f"t{number}") == expected
