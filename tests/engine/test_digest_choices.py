"""Which events of a digest templates see, and digests whose length comes from the payload or the person."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion.clock import DAY, HOUR, MINUTE
from clarion.engine.digest_events import make_sort_key
from tests.engine.support import World, details, in_app, step
from tests.support import Api

SUMMARY = in_app("{{steps.digest.eventCount}}:{% for one in steps.digest.events %}{{one.payload.n}}{% endfor %}")


def digest(**controls: Any) -> dict[str, Any]:
    return step("digest", "Digest", **{"type": "regular", "amount": 10, "unit": "minutes", **controls})


def dynamic(key: str, **controls: Any) -> dict[str, Any]:
    return step("digest", "Digest", type="regular", dynamicKey=key, **controls)


async def trigger(world: World, number: int, **payload: Any) -> None:
    await world.trigger(payload={"n": number, **payload}, transactionId=f"t{number}")


async def trigger_all(world: World, scores: list[Any]) -> None:
    """Let events join by twos in units of work, and then the window close."""
    for number, score in enumerate(scores):
        await trigger(world, number, **({} if score is None else {"score": score}))
        if number % 2:
            await world.work()
    await world.work()
    await world.work(after=10 * MINUTE)


@pytest.mark.parametrize(
    ("retain", "shown"),
    [
        ({}, "5:01234"),
        ({"count": 2}, "5:01"),
        ({"by": "time", "order": "desc", "count": 2}, "5:43"),
        ({"by": "payload.score", "count": 2}, "5:13"),
        ({"by": "score", "order": "desc"}, "5:20314"),
        ({"by": "{{payload.score}}", "order": "desc", "count": 3}, "5:203"),
        ({"order": "asc", "count": 500}, "5:01234"),
    ],
)
async def test_templates_see_the_first_events_in_an_order_and_all_are_counted(
    world: World, retain: dict[str, Any], shown: str
) -> None:
    await world.make_workflow(digest(retain=retain), SUMMARY)

    # The last one has no score: it comes last in both directions.
    await trigger_all(world, [10, -3, 100, 9.5, None])

    assert await world.feed() == [shown]


async def test_texts_are_in_the_order_of_the_alphabet_behind_numbers(world: World) -> None:
    await world.make_workflow(digest(retain={"by": "payload.score"}), SUMMARY)

    await trigger_all(world, ["2026-02-01", "2025-12-31", 7, "30", {"a": 1}])

    assert await world.feed() == ["5:23104"]


async def test_a_canceled_run_whose_own_event_is_not_shown_goes_on_for_the_others(world: World) -> None:
    wait = step("delay", type="regular", amount=1, unit="hours")
    await world.make_workflow(digest(retain={"by": "time", "order": "desc", "count": 2}), wait, SUMMARY)
    await trigger_all(world, [1, 2, 3, 4])

    assert (await world.api.delete("/v1/events/trigger/t0")).json() is True
    await world.work(after=HOUR)

    assert await world.feed() == ["3:32"]


async def test_a_canceled_run_whose_own_event_is_shown_goes_on_without_it(world: World) -> None:
    wait = step("delay", type="regular", amount=1, unit="hours")
    await world.make_workflow(digest(retain={"by": "payload.score", "count": 2}), wait, SUMMARY)
    await trigger_all(world, [1, 2, 3, 4])

    assert (await world.api.delete("/v1/events/trigger/t0")).json() is True
    await world.work(after=HOUR)

    assert await world.feed() == ["3:1"]


async def test_explain_says_how_many_events_templates_see(world: World) -> None:
    await world.make_workflow(digest(retain={"count": 2}), SUMMARY)
    await trigger_all(world, [1, 2, 3])

    leader = (await world.events())[0]

    told = (await world.api.get(f"/v1/notifications/{leader['_id']}/explain")).json()["decisions"]
    assert any("3 events, of which templates see 2" in one["summary"] for one in told)


@pytest.mark.parametrize(
    ("key", "payload"),
    [
        ("payload.every", {"every": {"amount": 30, "unit": "minutes"}}),
        ("every", {"every": "PT30M"}),
        ("{{payload.every}}", {"every": "PT30M"}),
        ("PT{{payload.every}}M", {"every": 30}),
        ("subscriber.data.every", {}),
        ("{{subscriber.data.every}}", {}),
    ],
)
async def test_the_length_of_a_digest_comes_from_the_payload_or_the_person(
    world: World, key: str, payload: dict[str, Any]
) -> None:
    person = {"subscriberId": "ada", "data": {"every": "PT30M"}}
    assert (await world.api.post("/v2/subscribers", json=person)).status_code == 201
    await world.make_workflow(dynamic(key), SUMMARY)
    await trigger(world, 1, **payload)
    await world.work()
    await world.work(after=29 * MINUTE)
    await trigger(world, 2, **payload)
    await world.work()
    assert await world.feed() == []

    await world.work(after=MINUTE)

    assert await world.feed() == ["2:12"]


@pytest.mark.parametrize("every", [None, "soon", 5, {"amount": 5}, "P400000D", {"amount": 1000, "unit": "months"}])
async def test_a_length_that_is_none_is_replaced_by_that_of_the_step(world: World, every: Any) -> None:
    await world.make_workflow(dynamic("payload.every", amount=10, unit="minutes"), SUMMARY)
    await trigger(world, 1, every=every)
    await world.work()
    await trigger(world, 2, every=every)
    await world.work()
    assert await world.feed() == []

    await world.work(after=10 * MINUTE)

    assert await world.feed() == ["2:12"]
    leader = (await world.events())[0]
    assert "Digest length is missing or invalid" in details(leader["jobs"][0])
    told = (await world.api.get(f"/v1/notifications/{leader['_id']}/explain")).json()["decisions"]
    assert any("10 minutes were taken instead" in one["summary"] for one in told)


async def test_an_event_without_any_length_goes_on_at_once_and_is_told(world: World) -> None:
    await world.make_workflow(dynamic("payload.every"), SUMMARY)

    await trigger(world, 1, every="soon")
    await world.work()

    assert await world.feed() == ["1:1"]
    (run,) = await world.events()
    assert "Digest length is missing or invalid" in details(run["jobs"][0])
    told = (await world.api.get(f"/v1/notifications/{run['_id']}/explain")).json()["decisions"]
    (invalid,) = [one for one in told if "is no length of time" in one["summary"]]
    assert invalid["values"]["value"] == "soon"


async def test_an_event_without_any_length_joins_a_digest_that_is_open(world: World) -> None:
    await world.make_workflow(dynamic("payload.every"), SUMMARY)
    await trigger(world, 1, every="PT1H")
    await world.work()

    await trigger(world, 2)
    await world.work()
    assert await world.feed() == []
    await world.work(after=HOUR)

    assert await world.feed() == ["2:12"]


async def test_a_length_of_nothing_means_at_once(world: World) -> None:
    await world.make_workflow(dynamic("payload.every", amount=1, unit="days"), SUMMARY)

    await trigger(world, 1, every={"amount": 0, "unit": "minutes"})
    await world.work()

    assert await world.feed() == ["1:1"]
    (run,) = await world.events()
    assert "Digest was skipped, the event went on at once" in details(run["jobs"][0])


async def test_each_event_extends_a_sliding_digest_by_its_own_length(world: World) -> None:
    limit = {"amount": 2, "unit": "days"}
    await world.make_workflow(dynamic("payload.every", slideUpTo=limit), SUMMARY)
    await trigger(world, 1, every="PT1H")
    await world.work()
    await trigger(world, 2, every="P1D")
    await world.work()
    await world.work(after=HOUR)
    assert await world.feed() == []

    await world.work(after=DAY - HOUR)

    assert await world.feed() == ["2:12"]


async def test_a_length_from_a_key_needs_no_amount(api: Api) -> None:
    body = {"name": "Digest", "workflowId": "digest", "steps": [dynamic("payload.every"), step("digest", "Bare")]}

    made = (await api.post("/v2/workflows", json=body)).json()

    assert made["steps"][0].get("issues") in (None, {}, {"controls": {}})
    assert set(made["steps"][1]["issues"]["controls"]) == {"amount", "unit"}


@pytest.mark.parametrize(
    ("controls", "path", "words"),
    [
        ({"retain": {"count": 0}}, "retain.count", ""),
        ({"retain": {"count": 501}}, "retain.count", ""),
        ({"retain": {"order": "up"}}, "retain.order", ""),
        ({"retain": {"by": "{{a"}}, "retain.by", ""),
        ({"dynamicKey": "{{a"}, "dynamicKey", ""),
        ({"type": "timed", "cron": "0 9 * * *", "dynamicKey": "payload.x"}, "dynamicKey", "cron expression"),
    ],
)
async def test_choices_that_make_no_sense_are_refused(
    api: Api, controls: dict[str, Any], path: str, words: str
) -> None:
    body = {"name": "Digest", "workflowId": "digest", "steps": [digest(**controls)]}

    response = await api.post("/v2/workflows", json=body)

    assert response.status_code == 422
    (found,) = response.json()["errors"]
    assert found == f"steps.0.controlValues.{path}"
    assert words in str(response.json()["errors"][found])


async def test_a_path_that_the_payload_does_not_have_is_an_issue_and_time_is_none(api: Api) -> None:
    schema = {"type": "object", "properties": {"score": {"type": "number"}}, "additionalProperties": False}
    steps = [
        digest(retain={"by": "time"}),
        digest(retain={"by": "score"}) | {"name": "Second"},
        digest(retain={"by": "payload.scroe"}) | {"name": "Third"},
    ]
    body = {"name": "Digest", "workflowId": "digest", "steps": steps, "payloadSchema": schema}

    made = (await api.post("/v2/workflows", json=body | {"validatePayload": True})).json()

    issues = [(one.get("issues") or {}).get("controls", {}) for one in made["steps"]]
    assert [set(one) for one in issues] == [set(), set(), {"retain.by"}]


_numbers = st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False))


@given(values=st.lists(_numbers), is_descending=st.booleans())
def test_sort_keys_of_numbers_are_in_their_order(values: list[float], is_descending: bool) -> None:
    ordered = sorted(values, key=lambda one: make_sort_key(one, is_descending=is_descending))

    assert ordered == sorted(values, reverse=is_descending)


@given(values=st.lists(st.text("abcé \U0001f600", min_size=1, max_size=12).map(lambda one: f"x{one}x")))
def test_sort_keys_of_texts_are_in_their_order(values: list[str]) -> None:
    ordered = sorted(values, key=lambda one: make_sort_key(one, is_descending=False))

    assert ordered == sorted(values)


def test_what_has_no_value_comes_last_in_both_directions() -> None:
    values: list[Any] = [None, "", " ", [], {}, {"a": 1}, float("nan"), 10**400]
    for value in values:
        for is_descending in (False, True):
            last = make_sort_key(value, is_descending=is_descending)
            assert last > make_sort_key(1e300, is_descending=is_descending)
            assert last > make_sort_key("zzz", is_descending=is_descending)
