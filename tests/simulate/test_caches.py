"""A simulation leaves nothing in the caches of the process, where it would be taken for what is in the store."""

from clarion.db.port import Database
from clarion.db.query import sql
from tests.engine.support import World, in_app, step
from tests.simulate.support import simulate
from tests.webhooks.support import make_endpoint

LIST_EVENTS = sql("SELECT type FROM webhook_events WHERE environment_id = :environment_id")


async def list_events(world: World, database: Database) -> set[str]:
    rows = await database.read(lambda db: db.fetch(LIST_EVENTS, environment_id=world.api.environment.id))
    return {row["type"] for row in rows}


async def test_webhooks_are_told_of_runs_after_a_simulation(world: World, database: Database) -> None:
    await world.make_workflow(in_app("Hello"))
    await make_endpoint(world.api, "https://hooks.example.com/clarion")
    # The first that is loaded after the change of the configuration: in a sandbox there are no endpoints.
    await simulate(world)

    await world.trigger()
    await world.work()

    assert "message.sent" in await list_events(world, database)


async def test_a_run_sends_the_saved_steps_after_a_simulation_of_others(world: World) -> None:
    await world.make_workflow(in_app("saved"))
    unsaved = step("in_app", body="unsaved")
    await simulate(world, steps=[unsaved])

    await world.trigger()
    await world.work()

    feed = (await world.api.get("/v1/subscribers/ada/notifications/feed")).json()["data"]
    assert [one["content"] for one in feed] == ["saved"]
