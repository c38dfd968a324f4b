"""Deleting a person erases them from the triggers that named them."""

from typing import Any

from clarion.clock import HOUR
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.engine.recipients import expand_trigger
from clarion.ids import SubscriberKey, TransactionKey
from clarion.jobs.lanes import lane_of
from clarion.jsontext import json_value
from clarion.triggers.store import find_trigger_by_transaction, mark_triggers_done
from tests.engine.support import World, in_app, step

DELAY = step("delay", type="regular", amount=1, unit="hours")
TRIGGERS = sql("SELECT * FROM triggers WHERE environment_id = :environment_id ORDER BY id")
PARTS = sql("SELECT subscriber_ids FROM trigger_parts WHERE environment_id = :environment_id")


async def triggers(world: World, database: Database) -> list[dict[str, Any]]:
    rows = await database.read(lambda db: db.fetch(TRIGGERS, environment_id=world.api.environment.id))
    return [dict(row) for row in rows]


async def erase(world: World, key: str = "ada") -> None:
    assert (await world.api.delete(f"/v2/subscribers/{key}")).status_code == 200


def neighbour(key: str) -> str:
    """Another person in the same lane."""
    others = (f"p{number}" for number in range(10_000))
    return next(one for one in others if lane_of(SubscriberKey(one)) == lane_of(SubscriberKey(key)))


async def test_triggers_for_one_person_are_emptied_and_stay_known(world: World, database: Database) -> None:
    await world.make_workflow(in_app("x"), DELAY, in_app("y"))
    secret: dict[str, Any] = {"payload": {"code": "sesame"}, "overrides": {"email": {"toRecipient": "ada@example.org"}}}
    await world.trigger("ada", transactionId="plain", **secret)
    await world.trigger("ada", transactionId="acted", actor="grace", **secret)
    await world.work()

    await erase(world)
    await world.trigger("ada", transactionId="plain", **secret)
    await world.work(after=HOUR)

    stored = await triggers(world, database)
    assert [(one["payload"], one["overrides"], one["recipients"]) for one in stored] == [
        ("{}", None, '{"erased":1}')
    ] * 2
    assert await world.events() == []
    assert (await world.api.get("/v2/subscribers/ada")).status_code == 404


async def test_a_queued_trigger_does_not_create_the_person_again(world: World, database: Database) -> None:
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
    await world.make_workflow(in_app("x"))
    await world.trigger("ada", payload={"code": "sesame"})
    await world.trigger("ada", payload={"code": "sesame"}, actor="grace")
    await world.trigger(["ada", {"type": "Topic", "topicKey": "nobody"}], payload={"code": "sesame"})

    await erase(world)
    await world.work()

    stored = await triggers(world, database)
    assert [(one["state"], one["payload"], one["recipients"]) for one in stored] == [
        *[("canceled", "{}", '{"erased":1}')] * 2,
        ("canceled", "{}", '{"missing_topics":["nobody"],"erased":1}'),
    ]
    assert (await world.api.get("/v2/subscribers/ada")).status_code == 404


async def test_triggers_for_several_people_lose_that_one_alone(world: World, database: Database) -> None:
    await world.make_workflow(in_app("{{payload.code}}"))
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
    near = neighbour("ada")
    await world.trigger(["ada", near, "bob"], payload={"code": "done"})
    await world.work()
    await world.trigger(["ada", near], payload={"code": "queued"})
    await world.trigger(["ada", near, "bob"], payload={"code": "splitting"})

    await erase(world)
    stored = await triggers(world, database)
    await world.work()

    left = [[one["key"] for one in json_value(row["recipients"])["people"]] for row in stored]
    assert left == [[near, "bob"], [near], [near, "bob"]]
    assert await world.feed(near) == ["done", "queued", "splitting"]
    assert await world.feed("bob") == ["done", "splitting"]
    assert (await world.api.get("/v2/subscribers/ada")).status_code == 404


async def test_parts_and_actors_are_erased_too(world: World, database: Database) -> None:
    await world.make_workflow(in_app("x"))
    near = neighbour("ada")
    people = ["ada", near, "bob"]
    await world.api.post("/v2/topics/all/subscriptions", json={"subscriberIds": people})
    to = [*people, {"type": "Topic", "topicKey": "all", "exclude": ["ada"]}]
    await world.trigger(to, transactionId="crowd", actor="ada")
    await _split_only(world, database)
    ada = (await world.api.get("/v2/subscribers/ada")).json()["_id"].replace("-", "")

    before = await _parts(world, database)
    await erase(world)
    after = await _parts(world, database)
    stored = await triggers(world, database)
    await world.work()

    assert ada in "".join(before)
    assert ada not in "".join(after)
    assert '"ada"' not in stored[0]["recipients"]
    assert (await world.feed(near), await world.feed("bob")) == (["x"], ["x"])
    assert (await world.api.get("/v2/subscribers/ada")).status_code == 404


async def test_another_persons_triggers_are_left_alone(world: World, database: Database) -> None:
    await world.make_workflow(in_app("x"), DELAY, in_app("y"))
    for key in ("ada", "adam", "ad"):
        await world.trigger(key, payload={"to": key, "from": "ada"})
    await world.work()
    before = await triggers(world, database)

    await erase(world)
    await world.work(after=HOUR)

    assert (await triggers(world, database))[1:] == before[1:]
    assert await world.feed("adam") == ["x", "y"]


async def _split_only(world: World, database: Database) -> None:
    """Hand the people of the trigger to their lanes, and start none of their runs."""
    environment_id = world.api.environment.id

    async def split(db: Connection) -> None:
        trigger = await find_trigger_by_transaction(db, environment_id, TransactionKey("crowd"))
        assert trigger is not None
        assert (await expand_trigger(db, environment_id, trigger, world.clock.now())).position is None
        await mark_triggers_done(db, environment_id, [trigger.id])

    await database.transaction(split)


async def _parts(world: World, database: Database) -> list[str]:
    rows = await database.read(lambda db: db.fetch(PARTS, environment_id=world.api.environment.id))
    return [bytes(row["subscriber_ids"]).hex() for row in rows]
