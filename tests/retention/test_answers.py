"""Answers are deleted with their runs."""

from clarion.clock import DAY
from clarion.db.port import Database
from tests.answers.support import answer_by_api, ask
from tests.engine.support import World
from tests.retention.support import count_rows, delete_old
from tests.retention.test_explained import keep


async def test_an_answer_is_kept_as_long_as_its_run(world: World, database: Database) -> None:
    await keep(world, runs=2)
    await world.make_workflow(ask())
    await world.trigger()
    await world.work()
    await answer_by_api(world)
    await world.work()

    await delete_old(database, world.clock)
    kept = await count_rows(database, world.api.environment.id, "answers")
    world.clock.move(10 * DAY)
    await delete_old(database, world.clock)

    assert kept == {"answers": 1}
    assert await count_rows(database, world.api.environment.id, "answers", "notifications") == {
        "answers": 0,
        "notifications": 0,
    }
