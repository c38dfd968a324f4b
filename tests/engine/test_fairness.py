"""Who goes first: other environments, critical workflows, single triggers before crowds."""

from typing import Any

import pytest

from clarion.db.port import Connection, Database
from clarion.db.query import sql
from tests.engine.support import World, in_app
from tests.support import Api

COUNT = sql("SELECT count(*) AS n FROM triggers WHERE environment_id = :environment_id AND state = 'queued'")


async def waiting(database: Database, api: Api) -> int:
    row = await database.read(lambda db: db.fetch_one(COUNT, environment_id=api.environment.id))
    return 0 if row is None else int(row["n"])


async def flood(api: Api, count: int, **fields: Any) -> None:
    for start in range(0, count, 100):
        size = min(100, count - start)
        events = [{"name": "welcome", "to": "ada", "payload": {"n": start + n}, **fields} for n in range(size)]
        response = await api.post("/v1/events/trigger/bulk", json={"events": events})
        assert {one["status"] for one in response.json()} == {"processed"}


async def test_a_backlog_of_one_environment_does_not_hold_up_another(
    world: World, other_api: Api, database: Database
) -> None:
    other = World(other_api, world.engine, world.clock)
    await world.make_workflow(in_app("x"))
    await other.make_workflow(in_app("y"))
    await flood(world.api, 600)
    await other.trigger()

    await world.engine.work_lanes()

    assert await other.feed() == ["y"]
    assert await waiting(database, world.api) > 0
    await world.work()


async def test_a_critical_trigger_overtakes_the_backlog_of_its_own_environment(
    world: World, database: Database
) -> None:
    await world.make_workflow(in_app("x"))
    critical = {"workflow": {"all": {"enabled": True, "readOnly": True}, "channels": {}}}
    await world.make_workflow(in_app("now"), key="critical", preferences=critical)
    await flood(world.api, 600)
    await world.trigger("boss", name="critical")

    await world.engine.work_lanes()

    assert await world.feed("boss") == ["now"]
    assert await waiting(database, world.api) > 0
    await world.work()


async def test_one_persons_messages_come_in_the_order_of_their_triggers(world: World) -> None:
    await world.make_workflow(in_app("{{payload.n}}"))
    await flood(world.api, 300)
    await world.work()

    feed = "/v1/subscribers/ada/notifications/feed"
    shown: list[int] = []
    for page in range(3):
        items = (await world.api.get(feed, params={"limit": 100, "page": page})).json()["data"]
        shown += [int(item["content"]) for item in items]
    assert shown == list(range(299, -1, -1))


@pytest.mark.parametrize("chunks", [1, 3])
async def test_cancelling_during_a_fan_out_stops_it(world: World, database: Database, chunks: int) -> None:
    await world.make_workflow(in_app("x"))
    people = [f"p{number}" for number in range(1500)]
    for start in range(0, 1500, 500):
        bulk = [{"subscriberId": key} for key in people[start : start + 500]]
        await world.api.post("/v1/subscribers/bulk", json={"subscribers": bulk})
    for start in range(0, 1500, 100):
        await world.api.post("/v2/topics/all/subscriptions", json={"subscriberIds": people[start : start + 100]})
    await world.trigger({"type": "Topic", "topicKey": "all"}, transactionId="crowd")
    for _ in range(chunks):
        await world.engine.work_lanes()
    total = "/v1/messages?limit=1&transactionId=crowd"
    before = (await world.api.get(total)).json()["totalCount"]

    canceled = await world.api.delete("/v1/events/trigger/crowd")
    await world.work()

    assert canceled.json() is True
    assert 0 < before < 1500
    assert (await world.api.get(total)).json()["totalCount"] == before


@pytest.mark.usefixtures("logged_errors")
async def test_a_row_that_nobody_foresaw_is_set_aside_and_holds_up_nobody(world: World, database: Database) -> None:
    await world.make_workflow(in_app("x"))
    await world.trigger("first", transactionId="first")
    await world.trigger("broken", transactionId="broken")
    await world.trigger("last", transactionId="last")

    async def break_it(db: Connection) -> None:
        query = sql("""
            UPDATE triggers SET recipients = 'not json'
            WHERE environment_id = :environment_id AND transaction_key = 'broken'
        """)
        await db.execute(query, environment_id=world.api.environment.id)

    await database.transaction(break_it)
    await world.work()

    assert await world.feed("first") == await world.feed("last") == ["x"]
    assert await waiting(database, world.api) == 0
