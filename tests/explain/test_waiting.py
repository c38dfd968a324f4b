"""Runs that wait, are merged, throttled or canceled."""

from typing import Any

from clarion.clock import DAY, HOUR, Millis, iso_text
from clarion.db.port import Database
from clarion.db.query import sql
from tests.engine.support import World, in_app, step
from tests.explain.support import explain_id, explain_newest, of_kind, only

HOURLY: dict[str, Any] = {"type": "regular", "amount": 1, "unit": "hours"}
ADA = {"subscriberId": "ada", "firstName": "Ada"}


async def test_a_digest_is_followed_from_its_first_event_to_the_message(world: World) -> None:
    await world.make_workflow(step("digest", **HOURLY, digestKey="room"), in_app("now"))
    for _ in range(2):
        await world.trigger(ADA, payload={"room": "blue"})
    await world.work()
    leader_id, follower_id = [one["_id"] for one in await world.events()]
    until = iso_text(Millis(world.clock.now() + HOUR))

    waiting = await explain_id(world, leader_id)
    merged = await explain_id(world, follower_id)
    await world.work(after=HOUR)
    closed = await explain_id(world, leader_id)
    sent = await explain_id(world, follower_id)

    started = of_kind(waiting, "digest")[0]
    assert started["values"] | {"until": until, "digestKey": "room", "value": "blue"} == started["values"]
    assert waiting["channels"]["in_app"]["outcome"] == "waiting"
    assert "comes after the step 'Digest'" in waiting["channels"]["in_app"]["summary"]
    joined = of_kind(merged, "digest")[0]
    assert (joined["verdict"], joined["values"]["_digestedNotificationId"]) == ("stopped", leader_id)
    assert merged["channels"]["in_app"]["outcome"] == "merged"
    assert of_kind(merged, "digest")[-1]["verdict"] == "waiting"
    assert of_kind(closed, "digest")[-1]["summary"] == "The digest closed with 2 events, and the run went on."
    assert sent["channels"]["in_app"]["summary"] == (
        f"Merged into the digest of the run {leader_id}. "
        "That one is delivered: The message was put into the inbox of Ada."
    )
    link = of_kind(sent, "digest")[-1]
    assert (link["at"], link["verdict"], link["values"]["notificationId"]) == (None, "passed", leader_id)


async def test_a_run_that_takes_the_place_of_a_canceled_leader_says_so(world: World) -> None:
    await world.make_workflow(step("digest", **HOURLY), in_app("now"))
    first = await world.trigger(ADA)
    await world.work()
    await world.trigger(ADA)
    await world.work()
    await world.api.delete(f"/v1/events/trigger/{first['transactionId']}")

    found = await explain_newest(world)

    assert "this one took its place" in of_kind(found, "digest")[1]["summary"]
    assert found["channels"]["in_app"]["outcome"] == "waiting"


async def test_a_digest_with_a_look_back_lets_the_first_event_go_on(world: World) -> None:
    await world.make_workflow(step("digest", **HOURLY, lookBackWindow={"amount": 1, "unit": "hours"}), in_app("now"))
    await world.trigger(ADA)
    await world.work()

    decision = only(await explain_newest(world), "digest", "passed")

    assert decision["values"] == {"amount": 1, "unit": "hours"}


async def test_a_delay_tells_until_when_and_why(world: World) -> None:
    await world.make_workflow(step("delay", type="regular", amount=2, unit="days"), in_app("now"))
    await world.trigger(ADA)
    await world.work()
    until = world.clock.now() + 2 * DAY

    waiting = await explain_newest(world)
    await world.work(after=2 * DAY)
    over = await explain_newest(world)

    decision = of_kind(waiting, "delay")[0]
    assert decision["verdict"] == "waiting"
    assert decision["values"] == {"until": iso_text(Millis(until)), "type": "regular", "amount": 2, "unit": "days"}
    assert "(2 days)" in decision["summary"]
    assert of_kind(over, "delay")[-1]["summary"] == "The delay was over."


async def test_a_delay_that_finds_no_moment_in_the_payload_shows_what_it_found(world: World) -> None:
    await world.make_workflow(step("delay", type="scheduled", delayPath="when"), in_app("now"))
    await world.trigger(ADA, payload={"when": "tomorrow"})
    await world.work()

    decision = only(await explain_newest(world), "delay", "failed")

    assert (decision["values"]["path"], decision["values"]["value"]) == ("when", "tomorrow")


async def test_a_throttled_run_tells_how_many_passed_and_when_the_next_does(world: World) -> None:
    throttle = step("throttle", type="fixed", amount=1, unit="hours", threshold=1, throttleKey="room")
    await world.make_workflow(throttle, in_app("pass"))
    for _ in range(2):
        await world.trigger(ADA, payload={"room": "blue"})
    await world.work()

    passed = await explain_id(world, (await world.events())[0]["_id"])
    found = await explain_newest(world)

    assert only(passed, "throttle", "passed")["summary"] == (
        "None had passed within 1 hour for room = 'blue', and 1 may."
    )
    own, behind = of_kind(found, "throttle")
    assert own["summary"].startswith("1 had passed within 1 hour for room = 'blue', and no more than 1 may.")
    assert own["values"]["until"] == iso_text(Millis(world.clock.now() + HOUR))
    assert (behind["channel"], behind["verdict"]) == ("in_app", "stopped")
    assert found["channels"]["in_app"] == {
        "outcome": "skipped",
        "summary": "A throttle step before this one ended the run.",
    }


async def test_a_second_throttle_step_behind_one_that_ended_the_run_says_so(world: World) -> None:
    throttle = step("throttle", type="fixed", amount=1, unit="hours", threshold=1)
    await world.make_workflow(throttle, throttle, in_app("pass"))
    for _ in range(2):
        await world.trigger(ADA)
    await world.work()

    _, second, message = of_kind(await explain_newest(world), "throttle")

    assert second["summary"] == message["summary"] == "A throttle step before this one ended the run."


async def test_a_canceled_trigger_stops_the_steps_that_are_left(world: World) -> None:
    await world.make_workflow(in_app("first"), step("delay", type="regular", amount=1, unit="days"), in_app("second"))
    answer = await world.trigger(ADA)
    await world.work()
    await world.api.delete(f"/v1/events/trigger/{answer['transactionId']}")

    found = await explain_newest(world)

    assert [one["verdict"] for one in of_kind(found, "cancel")] == ["stopped", "stopped"]
    assert found["channels"]["in_app"]["outcome"] == "delivered"


async def test_an_end_without_a_recorded_reason_is_said_to_have_none(world: World, database: Database) -> None:
    await world.make_workflow(in_app())
    await world.trigger(ADA)
    await world.work()
    forget = sql("UPDATE jobs SET status = 'failed', details = '[]' WHERE environment_id = :environment_id")
    await database.transaction(lambda db: db.execute(forget, environment_id=world.api.environment.id))

    found = await explain_newest(world)

    decision = found["decisions"][-1]
    assert decision["summary"] == "The step is failed; why was not recorded."
    assert (decision["at"], decision["verdict"], decision["source"]) == (None, "failed", "derived")
    assert found["channels"]["in_app"]["outcome"] == "failed"


async def test_a_detail_that_is_not_known_is_told_as_it_is(world: World, database: Database) -> None:
    await world.make_workflow(in_app())
    await world.trigger(ADA)
    await world.work()
    details = '[{"at":1,"status":"Failed","detail":"Something new","raw":{"a":1}}]'
    write = sql("UPDATE jobs SET status = 'failed', details = :details WHERE environment_id = :environment_id")
    await database.transaction(lambda db: db.execute(write, environment_id=world.api.environment.id, details=details))

    decision = only(await explain_newest(world), "attempt", "failed")

    assert (decision["summary"], decision["values"]) == ("Something new.", {"a": 1})
