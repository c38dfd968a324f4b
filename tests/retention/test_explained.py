"""What explain tells of data that retention deleted."""

from typing import Any

from clarion.clock import DAY
from clarion.db.port import Database
from tests.engine.support import World, in_app
from tests.explain.support import explain_newest, only
from tests.retention.support import delete_old

ADA = {"subscriberId": "ada", "firstName": "Ada"}


async def keep(world: World, **days: Any) -> None:
    me = (await world.api.get("/v1/environments/me")).json()
    response = await world.api.patch(f"/v1/environments/{me['_id']}", json={"retentionDays": days})
    assert response.status_code == 200, response.text


async def test_an_in_app_message_that_is_deleted_before_its_run_is_told_so(world: World, database: Database) -> None:
    await keep(world, inAppMessages=2, runs=90)
    await world.make_workflow(in_app())
    await world.trigger(ADA)
    await world.work()
    world.clock.move(10 * DAY)
    await delete_old(database, world.clock)

    found = await explain_newest(world)

    assert "by retention, because it was older than in-app messages are kept" in only(found, "receipt")["summary"]
    assert found["channels"]["in_app"]["outcome"] == "deleted"
