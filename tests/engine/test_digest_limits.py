"""Digests that further events extend, up to a longest time, and digests that go on when they are full."""

from typing import Any

import pytest

from clarion.clock import HOUR, MINUTE, Millis, iso_text
from clarion.db.port import Database
from clarion.db.query import sql
from tests.engine.support import World, details, in_app, step
from tests.support import Api

SUMMARY = in_app("{{steps.digest.eventCount}}:{% for one in steps.digest.events %}{{one.payload.n}}{% endfor %}")
SLIDING = {"slideUpTo": {"amount": 30, "unit": "minutes"}}
FULL = {"maxItems": 3}
# Runs that wait join the window half an hour after their trigger.
LATER = step("delay", type="regular", amount=30, unit="minutes", skip={"==": [{"var": "payload.waits"}, True]})
COUNT_OPEN = sql("""
    SELECT count(*) AS n FROM digest_windows WHERE environment_id = :environment_id AND leader_id IS NOT NULL
""")


def digest(**controls: Any) -> dict[str, Any]:
    return step("digest", "Digest", **{"type": "regular", "amount": 10, "unit": "minutes", **controls})


async def trigger(world: World, *numbers: int, to: Any = "ada", **payload: Any) -> None:
    for number in numbers:
        await world.trigger(to, payload={"n": number, **payload}, transactionId=f"t{number}")
    await world.work()


async def count_open(world: World, database: Database) -> int:
    scope = {"environment_id": world.api.environment.id}
    row = await database.read(lambda db: db.fetch_one(COUNT_OPEN, **scope))
    assert row is not None
    return int(row["n"])


async def explain(world: World, run: dict[str, Any]) -> list[dict[str, Any]]:
    """The decisions of a run at its digest."""
    told = (await world.api.get(f"/v1/notifications/{run['_id']}/explain")).json()["decisions"]
    return [one for one in told if one["kind"] == "digest"]


async def test_each_event_starts_the_time_anew_until_the_longest_time_is_over(world: World) -> None:
    await world.make_workflow(digest(**SLIDING), SUMMARY)
    for number in range(4):
        await trigger(world, number)
        await world.work(after=8 * MINUTE)

    # 32 minutes have gone by: the window closed at the thirtieth, and the next event is the first of another one.
    assert await world.feed() == ["4:0123"]
    await trigger(world, 4)
    await world.work(after=10 * MINUTE)

    assert await world.feed() == ["4:0123", "1:4"]


async def test_without_further_events_a_sliding_digest_ends_after_its_time(world: World) -> None:
    await world.make_workflow(digest(**SLIDING), SUMMARY)
    await trigger(world, 1)
    await world.work(after=5 * MINUTE)
    await trigger(world, 2)

    await world.work(after=10 * MINUTE - 1)
    assert await world.feed() == []
    await world.work(after=1)
    assert await world.feed() == ["2:12"]


async def test_a_digest_that_does_not_slide_ends_when_it_said(world: World) -> None:
    await world.make_workflow(digest(), SUMMARY)
    await trigger(world, 1)
    await world.work(after=9 * MINUTE)
    await trigger(world, 2)

    await world.work(after=MINUTE)

    assert await world.feed() == ["2:12"]


async def test_explain_says_how_a_digest_is_extended(world: World) -> None:
    start = world.clock.now()
    await world.make_workflow(digest(**SLIDING), SUMMARY)
    await trigger(world, 1)
    await world.work(after=9 * MINUTE)
    await trigger(world, 2)
    for _ in range(2):
        await world.work(after=5 * MINUTE)
        await trigger(world, 3 + world.clock.now() % 100_000)

    leader, follower = (await world.events())[:2]
    told = await explain(world, leader)

    assert details(leader["jobs"][0]).count("Digest was extended by further events") == 1
    first, *_, extended = [one for one in told if "latest" in one["values"]]
    assert {one["values"]["latest"] for one in (first, extended)} == {_text(start, 30)}
    assert first["values"]["until"] == _text(start, 10)
    assert extended["values"]["until"] == _text(start, 19)
    assert "have extended the digest" in extended["summary"], told
    joined = await explain(world, follower)
    assert joined[0]["values"]["until"] == _text(start, 19)


def _text(start: int, minutes: int) -> str:
    return iso_text(Millis(start + minutes * MINUTE))


async def test_the_follower_of_a_canceled_leader_keeps_the_longest_time(world: World) -> None:
    await world.make_workflow(digest(**SLIDING), SUMMARY)
    await trigger(world, 1)
    await world.work(after=8 * MINUTE)
    await trigger(world, 2)
    assert (await world.api.delete("/v1/events/trigger/t1")).json() is True
    for number in (3, 4):
        await world.work(after=8 * MINUTE)
        await trigger(world, number)
    assert await world.feed() == []

    await world.work(after=6 * MINUTE)

    assert await world.feed() == ["3:234"]


async def test_a_full_digest_goes_on_at_once_and_the_next_event_opens_another(world: World, database: Database) -> None:
    await world.make_workflow(digest(**FULL), SUMMARY)
    for number in range(4):
        await trigger(world, number)

    assert await world.feed() == ["3:012"]
    assert await count_open(world, database) == 1
    await world.work(after=10 * MINUTE)
    assert await world.feed() == ["3:012", "1:3"]
    assert await count_open(world, database) == 0


async def test_events_of_one_unit_of_work_fill_as_many_digests_as_they_need(world: World) -> None:
    await world.make_workflow(digest(**FULL), SUMMARY)

    await trigger(world, *range(8))
    assert await world.feed() == ["3:012", "3:345"]

    await trigger(world, 8)
    assert await world.feed() == ["3:012", "3:345", "3:678"]


async def test_a_digest_is_filled_by_stored_events_and_new_ones_together(world: World) -> None:
    await world.make_workflow(digest(**FULL), SUMMARY)
    await trigger(world, 0, 1)

    await trigger(world, 2, 3, 4, 5, 6)
    await world.work(after=10 * MINUTE)

    assert await world.feed() == ["3:012", "3:345", "1:6"]


async def test_a_digest_that_is_filled_in_the_unit_of_work_in_which_it_ends_is_told_whole(world: World) -> None:
    await world.make_workflow(LATER, digest(amount=30, **FULL), SUMMARY)
    await trigger(world, 1)
    await world.work(after=30 * MINUTE)
    for number in (2, 3, 4):
        await trigger(world, number, waits=True)
    # Some join an open window, and it may be due or not; nobody works until all is.
    await world.work(after=2 * HOUR)

    told = await world.feed()
    assert sorted("".join(one.partition(":")[2] for one in told)) == ["1", "2", "3", "4"]
    assert all(int(one.partition(":")[0]) <= 3 for one in told)


async def test_explain_says_that_a_digest_was_full(world: World) -> None:
    await world.make_workflow(digest(**FULL), SUMMARY)
    await trigger(world, 0, 1, 2)

    leader, _, last = await world.events()

    told = await explain(world, leader)
    assert any("3 events, as many as it takes" in one["summary"] for one in told)
    told = await explain(world, last)
    assert "which had 3 events then" in told[0]["summary"]


async def test_events_of_canceled_triggers_do_not_fill_a_digest(world: World) -> None:
    await world.make_workflow(digest(**FULL), SUMMARY)
    await trigger(world, 1, 2)
    assert (await world.api.delete("/v1/events/trigger/t2")).json() is True

    await trigger(world, 3)
    assert await world.feed() == []
    await trigger(world, 4)

    assert await world.feed() == ["3:134"]


async def test_a_full_digest_whose_leader_is_canceled_before_it_goes_on_is_told_by_the_next(world: World) -> None:
    hours = {day: [("09:00 AM", "05:00 PM")] for day in ("monday", "tuesday", "wednesday", "thursday", "friday")}
    await world.make_workflow(digest(**FULL, extendToSchedule=True), SUMMARY)
    assert (await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})).status_code == 201
    await world.set_schedule(**hours)
    # It is full while the person's schedule is out, and waits for it, while another one opens.
    world.clock.move(_until_night(world))
    await trigger(world, 1, 2, 3, 4)
    assert await world.feed() == []

    assert (await world.api.delete("/v1/events/trigger/t1")).json() is True
    for _ in range(80):
        await world.work(after=HOUR)

    assert sorted(await world.feed()) == ["1:4", "2:23"]


def _until_night(world: World) -> int:
    """Until the next 22:00 UTC."""
    return (22 * HOUR - world.clock.now() % (24 * HOUR)) % (24 * HOUR)


async def test_the_number_of_events_is_known_to_the_follower_of_a_canceled_leader(world: World) -> None:
    await world.make_workflow(digest(**FULL), SUMMARY)
    await trigger(world, 1, 2)
    assert (await world.api.delete("/v1/events/trigger/t1")).json() is True

    await trigger(world, 3, 4)

    assert await world.feed() == ["3:234"]


async def test_workers_with_half_of_the_lanes_each_fill_digests_of_many_people(world: World) -> None:
    people = [f"person-{number}" for number in range(12)]
    await world.make_workflow(digest(**FULL), SUMMARY)
    for number in range(5):
        await world.trigger(people, payload={"n": number}, transactionId=f"t{number}")
        await world.work_by_turns()
    await world.work(after=10 * MINUTE)
    await world.work_by_turns()

    for person in people:
        assert await world.feed(person) == ["3:012", "2:34"]


@pytest.mark.parametrize(
    ("controls", "path", "words"),
    [
        ({"slideUpTo": {"amount": 5, "unit": "minutes"}}, "slideUpTo.amount", "must not be shorter"),
        ({"slideUpTo": {"amount": 200, "unit": "months"}}, "slideUpTo.amount", "3660 days"),
        ({"slideUpTo": {"unit": "minutes"}}, "slideUpTo.amount", ""),
        ({"type": "timed", "cron": "0 9 * * *", **SLIDING}, "slideUpTo", "cron expression"),
        ({"maxItems": 1}, "maxItems", ""),
        ({"maxItems": 10_001}, "maxItems", ""),
        ({"maxItems": 2.5}, "maxItems", ""),
    ],
)
async def test_limits_that_make_no_sense_are_refused(api: Api, controls: dict[str, Any], path: str, words: str) -> None:
    body = {"name": "Digest", "workflowId": "digest", "steps": [digest(**controls)]}

    response = await api.post("/v2/workflows", json=body)

    assert response.status_code == 422
    (found,) = response.json()["errors"]
    assert found == f"steps.0.controlValues.{path}"
    assert words in str(response.json()["errors"][found])


async def test_a_whole_number_may_come_as_a_float(world: World) -> None:
    await world.make_workflow(digest(maxItems=3.0), SUMMARY)

    await trigger(world, 0, 1, 2)

    assert await world.feed() == ["3:012"]
