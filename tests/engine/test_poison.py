"""Runs that fail unexpectedly: each fails alone, with the reason, and holds up nobody."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from clarion.clock import HOUR
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.jobs.lanes import lane_of
from tests.engine.support import World, details, in_app, step
from tests.sending.test_sends import EMAIL, integrate

DELAY = step("delay", type="regular", amount=1, unit="hours")
DIGEST = step("digest", "Digest", type="regular", amount=1, unit="hours")
FAILURE = "There was one or more errors when trying to execute the notification"
CANCELED = "Step was canceled because a previous step failed"

# Stored values that no request can bring about. The step reads them as objects and fails with an AttributeError.
BREAK_OVERRIDES = sql("""
    UPDATE triggers SET overrides = '[1]' WHERE environment_id = :environment_id AND transaction_key = :key
""")
BREAK_SCHEDULE = sql("UPDATE subscribers SET schedule = '5' WHERE environment_id = :environment_id AND key = :key")
# These cannot even be loaded.
BREAK_PERSON = sql("UPDATE subscribers SET data = 'not json' WHERE environment_id = :environment_id AND key = :key")
BREAK_DETAILS = sql("""
    UPDATE jobs SET details = 'not json' WHERE environment_id = :environment_id AND notification_id IN (
        SELECT n.id FROM notifications AS n
        JOIN triggers AS t ON t.environment_id = n.environment_id AND t.id = n.trigger_id
        WHERE n.environment_id = :environment_id AND t.transaction_key = :key
    )
""")
LIST_STATUSES = sql("""
    SELECT j.status, j.queue FROM jobs AS j
    JOIN notifications AS n ON n.environment_id = j.environment_id AND n.id = j.notification_id
    JOIN triggers AS t ON t.environment_id = n.environment_id AND t.id = n.trigger_id
    WHERE j.environment_id = :environment_id AND t.transaction_key = :key ORDER BY j.step
""")

pytestmark = pytest.mark.usefixtures("logged_errors")


def person(key: str) -> dict[str, Any]:
    return {"subscriberId": key, "email": f"{key}@example.com"}


async def damage(world: World, database: Database, query: Any, key: str) -> None:
    scope = {"environment_id": world.api.environment.id, "key": key}
    assert await database.transaction(lambda db: db.execute(query, **scope)) > 0


def people_of_one_lane(count: int) -> list[str]:
    keys = (f"p{number}" for number in range(10_000))
    return [key for key in keys if lane_of(key) == 0][:count]  # type: ignore[arg-type]


async def test_a_run_that_fails_unexpectedly_fails_alone_with_the_reason(
    world: World, database: Database, logged_errors: Callable[[], list[str]]
) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(in_app("before"), EMAIL, in_app("after"))
    for key in ("ada", "bob", "cy"):
        await world.trigger(person(key), transactionId=key)
    await damage(world, database, BREAK_OVERRIDES, "bob")

    await world.work()

    assert "Unit of work failed" in logged_errors()
    for key in ("ada", "cy"):
        assert await world.statuses(transactionId=key) == [["completed"] * 3]
        assert await world.feed(key) == ["before", "after"]
    (failed,) = await world.events(transactionId="bob")
    assert [job["status"] for job in failed["jobs"]] == ["failed", "canceled", "canceled"]
    assert failed["subscriber"]["subscriberId"] == "bob"
    reason = failed["jobs"][0]["executionDetails"][-1]
    assert (reason["detail"], reason["status"]) == (FAILURE, "Failed")
    assert "AttributeError" in json.loads(reason["raw"])["reason"]
    assert details(failed["jobs"][1])[-1] == CANCELED
    assert await world.feed("bob") == []


async def test_a_run_that_fails_later_keeps_what_it_did_and_ends(world: World, database: Database) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(in_app("before"), DELAY, EMAIL, in_app("after"))
    for key in ("ada", "bob"):
        await world.trigger(person(key), transactionId=key)
    await world.work()
    await damage(world, database, BREAK_OVERRIDES, "bob")

    await world.work(after=HOUR)
    await world.work(after=HOUR)

    assert await world.statuses(transactionId="ada") == [["completed"] * 4]
    assert await world.statuses(transactionId="bob") == [["completed", "failed", "canceled", "canceled"]]
    assert await world.feed("bob") == ["before"]


async def test_a_digest_leader_that_fails_hands_its_window_to_a_follower(world: World, database: Database) -> None:
    await integrate(world, "svc-email", "email")
    body = "{% for event in steps.digest.events %}{{event.payload.n}}{% endfor %}"
    await world.make_workflow(DIGEST, step("email", subject="Hi", body=body))
    for number in (1, 2, 3):
        await world.trigger(person("ada"), payload={"n": number}, transactionId=f"t{number}")
    await world.work()
    await damage(world, database, BREAK_OVERRIDES, "t1")

    await world.work(after=HOUR)

    assert await world.statuses(transactionId="t1") == [["failed", "canceled"]]
    assert await world.statuses(transactionId="t2") == [["completed", "completed"]]
    assert [one["content"] for one in await world.messages()] == ["23"]


async def test_a_digest_leader_that_fails_alone_closes_its_window(world: World, database: Database) -> None:
    await integrate(world, "svc-email", "email")
    body = "{% for event in steps.digest.events %}{{event.payload.n}}{% endfor %}"
    await world.make_workflow(DIGEST, step("email", subject="Hi", body=body))
    await world.trigger(person("ada"), payload={"n": 1}, transactionId="t1")
    await world.work()
    await damage(world, database, BREAK_OVERRIDES, "t1")
    await world.work(after=HOUR)

    await world.trigger(person("ada"), payload={"n": 2}, transactionId="t2")
    await world.work()
    await world.work(after=HOUR)

    assert await world.statuses(transactionId="t1") == [["failed", "canceled"]]
    assert [one["content"] for one in await world.messages()] == ["2"]


@pytest.mark.parametrize("by_topic", [True, False])
async def test_a_bad_recipient_does_not_end_a_fan_out(world: World, database: Database, by_topic: bool) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL, in_app("after"))
    keys = people_of_one_lane(4) if by_topic else [*people_of_one_lane(4), "bob", "cy"]
    for key in keys:
        await world.api.post("/v2/subscribers", json=person(key))
    await world.api.post("/v2/topics/all/subscriptions", json={"subscriberIds": keys})
    await damage(world, database, BREAK_SCHEDULE, keys[1])

    await world.trigger({"type": "Topic", "topicKey": "all"} if by_topic else keys, transactionId="crowd")
    await world.work()

    runs = {event["subscriber"]["subscriberId"]: event for event in await world.events(transactionId="crowd")}
    assert sorted(runs) == sorted(keys)
    for key in keys:
        wanted = ["failed", "canceled"] if key == keys[1] else ["completed", "completed"]
        assert [job["status"] for job in runs[key]["jobs"]] == wanted
    topics = {bool(event.get("topics")) for event in runs.values()}
    assert topics == {by_topic}


async def test_several_people_of_one_lane_are_told_apart_when_one_is_bad(world: World, database: Database) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL)
    keys = people_of_one_lane(3)
    for key in keys:
        await world.api.post("/v2/subscribers", json=person(key))
    await damage(world, database, BREAK_SCHEDULE, keys[0])

    await world.trigger(keys, transactionId="crowd")
    await world.work()

    assert sorted(await world.statuses(transactionId="crowd")) == [["completed"], ["completed"], ["failed"]]


async def test_a_person_who_cannot_be_loaded_does_not_end_a_fan_out(world: World, database: Database) -> None:
    await world.make_workflow(in_app("x"))
    keys = people_of_one_lane(4)
    for key in keys:
        await world.api.post("/v2/subscribers", json=person(key))
    await world.api.post("/v2/topics/all/subscriptions", json={"subscriberIds": keys})
    await damage(world, database, BREAK_PERSON, keys[1])

    await world.trigger({"type": "Topic", "topicKey": "all"}, transactionId="crowd")
    await world.work()

    for key in (keys[0], *keys[2:]):
        assert await world.feed(key) == ["x"]


async def test_a_run_that_cannot_be_loaded_is_taken_out_of_its_queue(world: World, database: Database) -> None:
    await world.make_workflow(DELAY, in_app("after"))
    for key in ("ada", "bob"):
        await world.trigger(key, transactionId=key)
    await world.work()
    await damage(world, database, BREAK_DETAILS, "bob")

    await world.work(after=HOUR)

    assert await world.feed("ada") == ["after"]
    scope = {"environment_id": world.api.environment.id, "key": "bob"}
    rows = await database.read(lambda db: db.fetch(LIST_STATUSES, **scope))
    assert [(row["status"], row["queue"]) for row in rows] == [("failed", None), ("canceled", None)]


async def test_a_digest_leader_that_cannot_be_loaded_hands_its_window_to_a_follower(
    world: World, database: Database
) -> None:
    await world.make_workflow(DIGEST, in_app("{{steps.digest.eventCount}}"))
    for number in (1, 2, 3):
        await world.trigger(transactionId=f"t{number}")
    await world.work()
    await damage(world, database, BREAK_DETAILS, "t1")

    await world.work(after=HOUR)

    assert await world.feed() == ["2"]


async def test_a_character_that_no_store_holds_is_left_out_of_texts(world: World) -> None:
    await world.make_workflow(in_app("{{payload.n | url_decode}}"), in_app("after"))
    for key, name in (("ada", "ok"), ("bob", "a%00b")):
        await world.trigger(key, payload={"n": name}, transactionId=key)

    await world.work()

    assert await world.feed("ada") == ["ok", "after"]
    assert await world.feed("bob") == ["ab", "after"]
