"""Steps that wait for events: what lets them go on, what does not, and what is left of them."""

from typing import Any

import pytest

from clarion.clock import HOUR, MINUTE, SECOND, Millis
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.waits.model import EVENTS_KEPT, MAX_WAITS
from tests.engine.support import World, details, in_app, step
from tests.engine.test_erasure import erase

TWO_HOURS = {"amount": 2, "unit": "hours"}
SHOWN = in_app("{{steps.wait.matched}} {{steps.wait.data.order}}")
COUNT = sql("""
    SELECT (SELECT count(*) FROM event_waits WHERE environment_id = :environment_id) AS waits,
        (SELECT count(*) FROM emitted_events WHERE environment_id = :environment_id) AS events
""")


def wait_for(event: str = "order.paid", **controls: Any) -> dict[str, Any]:
    return step("wait_for", "Wait", event=event, **{"timeout": TWO_HOURS} | controls)


async def emit(world: World, name: str = "order.paid", **fields: Any) -> dict[str, Any]:
    if "everyone" not in fields and "topic" not in fields:
        fields.setdefault("to", "ada")
    response = await world.api.post("/v1/events/emit", json={"name": name, **fields})
    assert response.status_code == 201, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def start(world: World, *steps: dict[str, Any], to: Any = "ada", **fields: Any) -> None:
    """Let a run wait at the first of the steps."""
    await world.make_workflow(*steps)
    await world.trigger(to, **fields)
    await world.work()


async def count_rows(world: World, database: Database) -> dict[str, int]:
    row = await database.read(lambda db: db.fetch_one(COUNT, environment_id=world.api.environment.id))
    assert row is not None
    return dict(row)


async def find_job(world: World, place: int = 0) -> dict[str, Any]:
    (event,) = await world.events()
    job: dict[str, Any] = event["jobs"][place]
    return job


async def explain(world: World) -> list[str]:
    (event,) = await world.events()
    response = await world.api.get(f"/v1/notifications/{event['_id']}/explain")
    assert response.status_code == 200, response.text
    return [one["summary"] for one in response.json()["decisions"] if one["kind"] == "event"]


async def test_a_run_goes_on_when_its_event_comes(world: World, database: Database) -> None:
    await start(world, wait_for(), SHOWN)
    before = await world.feed()

    answer = await emit(world, data={"order": 7})
    await world.work()

    assert answer == {"acknowledged": True, "emitted": 1, "awaited": True, "unknown": []}
    assert (before, await world.feed()) == ([], ["true 7"])
    assert "The event came" in details(await find_job(world))
    assert (await count_rows(world, database))["waits"] == 0


@pytest.mark.parametrize(("on_timeout", "feed"), [(None, ["false "]), ("continue", ["false "]), ("exit", [])])
async def test_without_its_event_a_run_goes_on_or_ends(
    world: World, database: Database, on_timeout: str | None, feed: list[str]
) -> None:
    await start(world, wait_for(**({"onTimeout": on_timeout} if on_timeout else {})), SHOWN)

    await world.work(after=2 * HOUR - SECOND)
    before = await world.feed()
    await world.work(after=SECOND)
    await emit(world)
    await world.work()

    assert (before, await world.feed()) == ([], feed)
    assert "The event did not come in time" in details(await find_job(world))
    assert (await count_rows(world, database))["waits"] == 0


async def test_events_about_others_and_with_other_names_are_not_taken(world: World) -> None:
    await world.make_workflow(wait_for(), SHOWN)
    await world.make_workflow(wait_for("order.sent"), key="sent")
    await world.trigger(["ada", "bob"])
    await world.work()

    await emit(world, to="bob")
    await emit(world, "order.sent")
    await world.work()

    assert (await world.feed(), await world.feed("bob")) == ([], ["true "])


async def test_values_that_do_not_match_are_counted_and_explained(world: World) -> None:
    pairs = [{"path": "order", "value": "{{payload.order}}"}]
    await start(world, wait_for(match=pairs), SHOWN, payload={"order": 7})

    await emit(world, data={"order": 6})
    await emit(world, data={"order": 8})
    await world.work()
    waiting = await explain(world)
    await emit(world, data={"order": 7})
    await world.work()

    assert await world.feed() == ["true 7"]
    assert "'order' is '7'" in waiting[0]
    assert "2 events with this name came and were not taken" in waiting[0]
    assert "'order' has another value" in (await explain(world))[-1]


async def test_a_condition_chooses_the_event(world: World) -> None:
    rule = {">": [{"var": "event.data.amount"}, "{{payload.least}}"]}
    await start(world, wait_for(condition=rule), in_app("{{steps.wait.data.amount}}"), payload={"least": 100})

    for amount in (50, 100, 150, 200):
        await emit(world, data={"amount": amount})
    await world.work()

    assert await world.feed() == ["150"]


async def test_one_emission_reaches_several_people(world: World) -> None:
    await start(world, wait_for(), SHOWN, to=["ada", "bob", "cleo"])

    answer = await emit(world, to=["ada", "bob", "nobody"])
    await world.work()

    assert (answer["emitted"], answer["unknown"]) == (2, ["nobody"])
    assert [await world.feed(key) for key in ("ada", "bob", "cleo")] == [["true "], ["true "], []]


async def test_an_event_with_an_id_is_emitted_once(world: World) -> None:
    await world.make_workflow(wait_for(), SHOWN)
    await world.trigger()
    await world.work()
    first = await emit(world, id="payment-1")
    await world.work(after=SECOND)
    await world.trigger()
    await world.work()

    again = await emit(world, id="payment-1")
    await world.work()

    assert (first["emitted"], again["emitted"]) == (1, 0)
    assert await world.feed() == ["true "]


async def test_events_for_everyone_reach_all_who_wait(world: World) -> None:
    await start(world, wait_for(), SHOWN, to=["ada", "bob"])

    await emit(world, everyone=True, data={"order": 1})
    await world.work()

    assert [await world.feed(key) for key in ("ada", "bob")] == [["true 1"], ["true 1"]]


async def test_events_for_a_topic_reach_its_members(world: World) -> None:
    await world.api.post("/v2/topics", json={"key": "team", "name": "Team"})
    await start(world, wait_for(), SHOWN, to=["ada", "bob"])
    await world.api.post("/v2/topics/team/subscriptions", json={"subscriberIds": ["ada"]})

    await emit(world, topic="team")
    await world.work()

    assert [await world.feed(key) for key in ("ada", "bob")] == [["true "], []]


async def test_an_event_for_everyone_comes_to_more_waits_than_are_offered_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clarion.waits.matcher.CHUNK", 3)
    people = [f"p{number}" for number in range(11)]
    await start(world, wait_for(), SHOWN, to=people)

    await emit(world, everyone=True)
    await world.work()

    assert [await world.feed(key) for key in people] == [["true "]] * 11


@pytest.mark.parametrize(("since", "feed"), [("trigger", ["true 7"]), ("reached", [])])
async def test_an_event_before_the_step_counts_if_it_looks_back(world: World, since: str, feed: list[str]) -> None:
    delay = step("delay", type="regular", amount=10, unit="minutes")
    await start(world, delay, wait_for(since=since), SHOWN)

    await emit(world, data={"order": 7})
    await world.work()
    await world.work(after=10 * MINUTE)

    assert await world.feed() == feed


@pytest.mark.parametrize("target", [{"everyone": True}, {"topic": "team"}])
async def test_events_for_many_are_looked_back_at(world: World, target: dict[str, Any]) -> None:
    await world.api.post("/v2/topics", json={"key": "team", "name": "Team"})
    delay = step("delay", type="regular", amount=10, unit="minutes")
    await start(world, delay, wait_for(since="trigger"), SHOWN)
    await world.api.post("/v2/topics/team/subscriptions", json={"subscriberIds": ["ada"]})

    await emit(world, **target)
    await world.work()
    await world.work(after=10 * MINUTE)

    assert await world.feed() == ["true "]


async def test_events_before_the_trigger_do_not_count(world: World) -> None:
    await world.make_workflow(wait_for(since="trigger"), SHOWN)
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
    await emit(world)
    await world.work(after=SECOND)

    await world.trigger()
    await world.work()

    assert await world.feed() == []


async def test_an_event_that_is_not_offered_yet_is_found_when_the_step_is_reached(world: World) -> None:
    await world.make_workflow(wait_for(since="trigger"), SHOWN)
    await world.trigger()
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
    await emit(world)

    await world.work()

    assert await world.feed() == ["true "]


async def test_events_that_nobody_waits_for_are_not_stored(world: World, database: Database) -> None:
    await world.make_workflow(wait_for(), SHOWN)
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})

    answer = await emit(world, "order.sent")

    assert (answer["awaited"], answer["emitted"]) == (False, 0)
    assert (await count_rows(world, database))["events"] == 0


async def test_events_are_deleted_after_an_hour(world: World, database: Database) -> None:
    await world.make_workflow(wait_for(), SHOWN)
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
    await emit(world)
    await world.work()

    await world.work(after=EVENTS_KEPT)
    kept = await count_rows(world, database)
    await world.work(after=MINUTE)

    assert (kept["events"], (await count_rows(world, database))["events"]) == (1, 0)


async def test_a_canceled_run_waits_for_nothing(world: World, database: Database) -> None:
    await start(world, wait_for(), SHOWN, transactionId="order-7")

    canceled = await world.api.delete("/v1/events/trigger/order-7")
    left = await count_rows(world, database)
    await emit(world)
    await world.work(after=2 * HOUR)

    assert canceled.json() is True
    assert left["waits"] == 0
    assert (await world.feed(), await world.statuses()) == ([], [["canceled", "canceled"]])


async def test_a_run_that_expires_waits_for_nothing(world: World, database: Database) -> None:
    expires_at = {"expiresAt": "2026-01-01T01:00:00.000Z"}
    await start(world, wait_for(), SHOWN, **expires_at)

    await world.work(after=HOUR)
    await emit(world)
    await world.work()

    assert (await world.feed(), (await count_rows(world, database))["waits"]) == ([], 0)


async def test_an_erased_person_leaves_nothing(world: World, database: Database) -> None:
    await start(world, wait_for(match=[{"path": "order", "value": "sesame"}]), SHOWN)
    await emit(world, data={"order": "open"})

    await erase(world)

    assert await count_rows(world, database) == {"waits": 0, "events": 0}


async def test_only_so_many_steps_wait_for_a_person(world: World) -> None:
    await world.make_workflow(wait_for(), in_app("{{steps.wait.matched}}"))
    for _ in range(MAX_WAITS + 1):
        await world.trigger()
    await world.work()

    (newest,) = (await world.events())[-1:]
    assert "Too many steps wait for the subscriber" in details(newest["jobs"][0])
    assert (await world.statuses(page=0))[-1][0] == "failed"


async def test_waits_in_branches(world: World) -> None:
    paths = [{"name": "big", "condition": {"==": [{"var": "payload.big"}, True]}, "steps": [wait_for(), SHOWN]}]
    await start(world, step("branch", "Check", paths=paths), payload={"big": True})

    await emit(world)
    await world.work()

    assert await world.feed() == ["true "]


async def test_events_in_other_workers_lanes_are_taken_over(world: World) -> None:
    await start(world, wait_for(), SHOWN)
    await emit(world)

    await world.work_by_turns()

    assert await world.feed() == ["true "]


async def test_moments_are_those_of_the_events(world: World) -> None:
    await start(world, wait_for(), in_app("{{steps.wait.at}}"))
    world.clock.move(Millis(1_500))

    await emit(world)
    await world.work(after=MINUTE)

    assert await world.feed() == ["2026-01-01T00:00:01.500Z"]
