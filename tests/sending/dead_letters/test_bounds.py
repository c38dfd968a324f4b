"""Dead letters are bounded: what one holds, what one call does, and what counting them reads."""

from typing import Any

from clarion.db.port import Database
from clarion.db.query import sql
from clarion.jobs.sends import MAX_DETAILS_BYTES
from tests.engine.providers import ADA, EMAIL, account, trigger_many
from tests.engine.support import World
from tests.sending.dead_letters.test_routes import dead_letters, redrive, world  # noqa: F401 - a fixture

PAD_DETAILS = sql("""
    UPDATE jobs SET details = '[{"at":1,"status":"Failed","detail":"Old","raw":"' || :text || '"}]'
    WHERE environment_id = :environment_id
""")
GIVE_UP = sql("UPDATE jobs SET status = 'failed', dead_at = 1 WHERE environment_id = :environment_id")
LENGTHEN_ERRORS = sql("UPDATE messages SET error_text = error_text || :text WHERE environment_id = :environment_id")


async def read_details(world: World, job_id: str) -> list[dict[str, Any]]:  # noqa: F811
    response = await world.api.get(f"/v1/dead-letters/{job_id}")
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["executionDetails"]
    return found


async def test_a_call_does_a_thousand_and_says_that_there_are_more(
    world: World,  # noqa: F811
    database: Database,
) -> None:
    await world.make_workflow(EMAIL)
    await trigger_many(world, 1_100)
    await world.work()
    environment: dict[str, Any] = {"environment_id": world.api.environment.id}
    await database.transaction(lambda db: db.execute(GIVE_UP, **environment))

    first = (await world.api.post("/v1/dead-letters/redrive", json={"all": True, "limit": 10_000})).json()
    await database.transaction(lambda db: db.execute(GIVE_UP, **environment))
    second = (await world.api.post("/v1/dead-letters/discard", json={"all": True})).json()
    third = (await world.api.post("/v1/dead-letters/discard", json={"all": True})).json()

    assert first == {"redriven": 1_000, "hasMore": True, "remaining": 100}
    assert second == {"discarded": 1_000, "hasMore": True, "remaining": 100}
    assert third == {"discarded": 100, "hasMore": False, "remaining": 0}


async def test_one_that_is_redriven_again_and_again_keeps_what_it_says_short(
    world: World,  # noqa: F811
    database: Database,
) -> None:
    async with account(world, "a") as one:
        one.break_down(400)
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()
        (found,) = await dead_letters(world)
        environment: dict[str, Any] = {"environment_id": world.api.environment.id}
        await redrive(world, all=True)
        await world.work()
        short = await read_details(world, found["_id"])

        await database.transaction(lambda db: db.execute(PAD_DETAILS, **environment, text="x" * MAX_DETAILS_BYTES))
        await redrive(world, all=True)
        await world.work()
        long = await read_details(world, found["_id"])

    assert [one["detail"] for one in short].count("Redriven") == 1
    assert len(short) > 3
    assert long[0]["detail"] == "Redriven"
    assert str(MAX_DETAILS_BYTES) in long[0]["raw"]
    assert len(str(long)) < 5_000


async def test_long_errors_are_counted_and_found_by_how_they_begin(
    world: World,  # noqa: F811
    database: Database,
) -> None:
    async with account(world, "a") as one:
        one.break_down(400)
        await world.make_workflow(EMAIL)
        await trigger_many(world, 3)
        await world.work()
    environment: dict[str, Any] = {"environment_id": world.api.environment.id}
    await database.transaction(lambda db: db.execute(LENGTHEN_ERRORS, **environment, text=" again" * 1_000))

    counts = (await world.api.get("/v1/dead-letters/counts", params={"groupBy": "reason"})).json()
    (group,) = counts["groups"]

    assert group["count"] == 3
    assert len(await dead_letters(world, reason=group["value"])) == 3
    assert await redrive(world, reason=group["value"]) == 3
