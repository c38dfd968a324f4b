"""What becomes SQL of a condition agrees with the condition itself, on both databases."""

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from clarion.clock import DAY, Millis, iso_text
from clarion.db.port import Connection, Database
from clarion.ids import EnvironmentId, SubscriberKey, TopicKey
from clarion.segments.condition import PersonFacts, SegmentCondition
from clarion.segments.facts import list_facts, make_fetch
from clarion.segments.prefilter import make_prefilter
from clarion.segments.scanning import SegmentPeople, SegmentScan
from clarion.subscribers.model import Subscriber
from clarion.subscribers.store import list_subscribers_by_key, upsert_subscriber
from clarion.topics.store import upsert_topic
from clarion.topics.subscribing import Subscribed, WantedSubscriptions, subscribe
from tests.records import NOW
from tests.support import Site

TEXTS = ["", "de", "DE", "en_US", "5", "05", "true", "null", "2026-01-01", "2026-01-01T00:00:00Z", "a,b", "é", "ada"]
CONSTANTS = st.sampled_from(
    [*TEXTS, None, 5, 5.0, True, False, ["de"], "x\0y", iso_text(NOW), iso_text(Millis(NOW - DAY))]
)
COLUMNS = (
    "subscriberId",
    "email",
    "phone",
    "firstName",
    "lastName",
    "locale",
    "timezone",
    "createdAt",
    "topics",
    "data.a",
)
VARIABLES = st.builds(lambda name: {"var": f"subscriber.{name}"}, st.sampled_from(COLUMNS))
SPANS = st.builds(
    lambda amount, unit: {"amount": amount, "unit": unit},
    st.sampled_from([1, 2, 0, -1, "3", 1.5]),
    st.sampled_from(["hours", "days", "months", "years"]),
)


def _both_ways(operator: str, left: Any, right: Any, swapped: bool) -> dict[str, Any]:
    return {operator: [right, left] if swapped else [left, right]}


COMPARISONS = st.one_of(
    st.builds(
        lambda operator, variable, value: {operator: [variable, value]},
        st.sampled_from(["==", "!=", "in"]),
        VARIABLES,
        st.one_of(st.sampled_from(TEXTS), st.lists(st.sampled_from(TEXTS), min_size=1, max_size=2)),
    ),
    st.builds(
        _both_ways,
        st.sampled_from(["==", "=", "!=", "===", ">", ">=", "<", "<=", "in", "contains", "notIn", "startsWith"]),
        VARIABLES,
        st.one_of(CONSTANTS, st.lists(CONSTANTS, max_size=3), VARIABLES),
        st.booleans(),
    ),
    st.builds(
        lambda operator, variable: {operator: [variable]},
        st.sampled_from(["!", "!!", "null", "notNull", "isEmpty", "isNonEmpty"]),
        VARIABLES,
    ),
    st.builds(
        lambda operator, variable, span: {operator: [variable, span]},
        st.sampled_from(["moreThanXAgo", "lessThanXAgo", "withinLast", "notWithinLast", "exactlyXAgo"]),
        VARIABLES,
        SPANS,
    ),
    VARIABLES,
    st.booleans(),
)
CONDITIONS = st.recursive(
    COMPARISONS,
    lambda inner: st.one_of(
        st.builds(
            lambda operator, parts: {operator: parts},
            st.sampled_from(["and", "or"]),
            st.lists(inner, min_size=1, max_size=3),
        ),
        st.builds(lambda part: {"!": [part]}, inner),
    ),
    max_leaves=5,
)
FIELDS = ("email", "phone", "first_name", "last_name", "locale", "timezone")
PEOPLE: list[dict[str, Any]] = [
    # Every text stands in every field of somebody, or almost.
    {name: (None, *TEXTS)[(place * 3 + number * 5) % (len(TEXTS) + 1)] for number, name in enumerate(FIELDS)}
    | {"data": {"a": TEXTS[place]}}
    for place in range(len(TEXTS))
]


async def make_people(db: Connection, environment_id: EnvironmentId) -> list[Subscriber]:
    keys = [SubscriberKey(one or "nobody") for one in TEXTS]
    for place, (key, fields) in enumerate(zip(keys, PEOPLE, strict=True)):
        await upsert_subscriber(db, environment_id, key, fields, Millis(NOW - place * DAY // 4))
    for topic_key, members in (("de", keys[:2]), ("2026-01-01", keys[1:3])):
        topic, _ = await upsert_topic(db, environment_id, TopicKey(topic_key), {}, NOW)
        people = [Subscribed(key=key) for key in members]
        await subscribe(db, topic, WantedSubscriptions(people=people, context_keys=(), changes={}), NOW)
    return list((await list_subscribers_by_key(db, environment_id, keys)).values())


async def check(db: Connection, people: list[Subscriber], condition: Any) -> None:
    environment_id, compiled = people[0].environment_id, SegmentCondition(condition)
    facts = await list_facts(make_fetch(db), environment_id, [one.id for one in people], [compiled])
    expected = {one.key for one in people if compiled.includes(one, facts.get(one.id, PersonFacts()), now=NOW)}
    scan = SegmentScan(make_fetch(db), environment_id, [SegmentPeople(condition=compiled)], now=NOW)
    found = await scan.find(None, limit=100)

    assert {one.key for one in found.people} == expected
    assert found.position is None
    prefilter = make_prefilter(condition, NOW)
    text = f"SELECT t.key FROM stored.subscribers AS t WHERE t.environment_id = :environment_id AND ({prefilter.text})"
    rows = await make_fetch(db)(text, environment_id=environment_id, **prefilter.parameters)
    passed = {row["key"] for row in rows}
    assert passed >= expected
    assert not prefilter.is_exact or passed == expected


async def test_conditions_find_the_same_people_with_and_without_sql(database: Database, site: Site) -> None:
    environment_id = site.development.id
    people = await database.transaction(lambda db: make_people(db, environment_id))
    loop = asyncio.get_running_loop()

    @settings(
        max_examples=250,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
    )
    @example(condition={"==": [{"var": "subscriber.firstName"}, "2026-01-01"]})
    @example(condition={"==": [{"var": "subscriber.phone"}, 5]})
    @example(condition={"in": [{"var": "subscriber.locale"}, ["2026-01-01", "de"]]})
    @example(condition={"in": ["2026-01-01", {"var": "subscriber.topics"}]})
    @example(condition={"!=": [{"var": "subscriber.email"}, "de"]})
    @given(condition=CONDITIONS)
    def holds(condition: Any) -> None:
        work = database.read(lambda db: check(db, people, condition))
        asyncio.run_coroutine_threadsafe(work, loop).result(30)

    await asyncio.to_thread(holds)


@pytest.mark.parametrize(
    ("condition", "is_exact"),
    [
        ({"==": [{"var": "subscriber.locale"}, "de"]}, True),
        ({"and": [{"==": [{"var": "subscriber.locale"}, "de"]}, {"in": ["news", {"var": "subscriber.topics"}]}]}, True),
        ({"withinLast": [{"var": "subscriber.createdAt"}, {"amount": 1, "unit": "days"}]}, True),
        ({"and": [{"==": [{"var": "subscriber.locale"}, "de"]}, {"==": [{"var": "subscriber.data.a"}, 1]}]}, False),
        ({"==": [{"var": "subscriber.locale"}, 5]}, False),
        ({"==": [{"var": "subscriber.firstName"}, "2026-01-01"]}, False),
    ],
)
def test_conditions_on_columns_need_no_evaluation(condition: Any, is_exact: bool) -> None:
    assert make_prefilter(condition, NOW).is_exact is is_exact


def test_values_of_indexed_columns_are_looked_up() -> None:
    email = {"==": [{"var": "subscriber.email"}, "ada@example.com"]}

    assert make_prefilter({"and": [email, {"var": "subscriber.data.a"}]}, NOW).is_indexed
    assert not make_prefilter({"or": [email, {"var": "subscriber.data.a"}]}, NOW).is_indexed
