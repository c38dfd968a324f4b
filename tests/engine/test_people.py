"""What a trigger says of its recipients and its actor is written when the trigger is accepted."""

import asyncio
from typing import Any

from clarion.db.port import Database
from clarion.db.query import sql
from clarion.jsontext import json_value
from tests.engine.support import World, in_app

RECIPIENTS = sql("SELECT recipients FROM triggers WHERE environment_id = :environment_id ORDER BY id")
ADA = {"subscriberId": "ada", "firstName": "Ada", "email": "ada@example.com", "data": {"plan": "pro"}}
GRACE = {"subscriberId": "grace", "firstName": "Grace", "phone": "+15550100"}


async def get(world: World, key: str = "ada") -> dict[str, Any]:
    found: dict[str, Any] = (await world.api.get(f"/v2/subscribers/{key}")).json()
    return found


async def test_fields_are_there_before_the_trigger_is_worked_on(world: World) -> None:
    await world.make_workflow(in_app("x"))

    await world.trigger(ADA)

    ada = await get(world)
    assert (ada["firstName"], ada["email"], ada["data"]) == ("Ada", "ada@example.com", {"plan": "pro"})


async def test_a_later_change_of_the_person_wins(world: World) -> None:
    await world.make_workflow(in_app("{{subscriber.firstName}}"))
    await world.trigger(ADA)

    await world.api.patch("/v2/subscribers/ada", json={"firstName": "Augusta"})
    await world.work()

    assert await world.feed() == ["Augusta"]
    assert (await get(world))["firstName"] == "Augusta"


async def test_the_later_of_two_triggers_wins_whatever_the_order_of_work(world: World) -> None:
    await world.make_workflow(in_app("{{subscriber.firstName}}"))
    await world.trigger({"subscriberId": "ada", "firstName": "First"})
    await world.trigger({"subscriberId": "ada", "firstName": "Second"})
    await world.work()

    assert await world.feed() == ["Second", "Second"]


async def test_a_transaction_that_was_seen_before_changes_nobody(world: World) -> None:
    await world.make_workflow(in_app("x"))
    await world.trigger(ADA, transactionId="once", actor=GRACE)
    await world.api.patch("/v2/subscribers/ada", json={"firstName": "Augusta"})
    before = [await get(world), await get(world, "grace")]

    again: dict[str, Any] = {"transactionId": "once", "actor": {"subscriberId": "grace", "firstName": "Amazing"}}
    await asyncio.gather(*(world.trigger({"subscriberId": "ada", "firstName": "Other"}, **again) for _ in range(5)))
    await world.trigger({"subscriberId": "zoe", "firstName": "Zoe"}, **again)
    await world.work()

    assert [await get(world), await get(world, "grace")] == before
    assert (await world.api.get("/v2/subscribers/zoe")).status_code == 404


async def test_one_of_two_triggers_with_one_transaction_in_a_bulk_changes_people(world: World) -> None:
    await world.make_workflow(in_app("x"))
    events = [
        {"name": "welcome", "to": {"subscriberId": "ada", "firstName": name}, "transactionId": "once"}
        for name in ("First", "Second")
    ]

    await world.api.post("/v1/events/trigger/bulk", json={"events": events})

    assert (await get(world))["firstName"] == "First"


async def test_fields_of_the_actor_are_written_once_for_all_recipients(world: World) -> None:
    await world.make_workflow(in_app("{{actor.firstName}} to {{subscriber.firstName}}"))
    await world.trigger([ADA, "bob", "carol"], actor=GRACE)
    written = await get(world, "grace")
    world.clock.move(1000)
    await world.work()

    assert (written["firstName"], written["phone"]) == ("Grace", "+15550100")
    assert await get(world, "grace") == written
    assert await world.feed("ada") == ["Grace to Ada"]
    assert await world.feed("bob") == ["Grace to "]
    assert await world.feed("grace") == []


async def test_null_clears_and_what_is_left_out_stays(world: World) -> None:
    await world.make_workflow(in_app("x"))
    await world.trigger(ADA)

    await world.trigger({"subscriberId": "ada", "email": None, "lastName": "Lovelace"})
    await world.trigger("ada")
    await world.work()

    ada = await get(world)
    assert (ada["firstName"], ada["lastName"], ada["email"]) == ("Ada", "Lovelace", None)
    assert ada["data"] == {"plan": "pro"}


async def test_stored_recipients_hold_keys_alone(world: World, database: Database) -> None:
    await world.make_workflow(in_app("x"))
    await world.trigger([ADA, "bob"], actor=GRACE)
    await world.trigger(ADA)

    rows = await database.read(lambda db: db.fetch(RECIPIENTS, environment_id=world.api.environment.id))

    assert [json_value(row["recipients"]) for row in rows] == [
        {"people": [{"key": "ada"}, {"key": "bob"}], "actor": {"key": "grace"}},
        {"people": [{"key": "ada"}]},
    ]


async def test_a_trigger_that_is_refused_or_not_run_changes_nobody(world: World) -> None:
    await world.make_workflow(in_app("x"), active=False)
    await world.trigger(ADA)
    refused = await world.post(ADA, name="unknown")

    assert refused.status_code == 422
    assert (await world.api.get("/v2/subscribers/ada")).status_code == 404


async def test_triggers_that_change_the_same_people_at_once_are_all_accepted(world: World) -> None:
    await world.make_workflow(in_app("x"))
    people = [{"subscriberId": f"p{number}", "firstName": str(number)} for number in range(8)]

    await asyncio.gather(*(world.trigger(people[::step], transactionId=f"t{step}") for step in (1, -1, 2, -2, 3, -3)))
    await world.work()

    assert [(await get(world, f"p{number}"))["firstName"] for number in range(8)] == [str(one) for one in range(8)]
