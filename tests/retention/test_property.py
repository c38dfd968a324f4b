"""Random runs in random states and of random ages: what must stay stays, the rest goes, and no row is orphaned."""

from collections.abc import Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clarion.clock import DAY, HOUR
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from tests.chaos.invariants import find_orphans
from tests.engine.support import World, in_app, step
from tests.records import make_subscriber, make_workflow
from tests.retention.plans import Days, RunPlan, insert_runs, make_runs, plans
from tests.retention.support import delete_old, fetch
from tests.retention.test_runs import set_days

DELETE_ALL = [
    sql(f"DELETE FROM {table} WHERE environment_id = :environment_id")
    for table in ("triggers", "notifications", "jobs", "messages", "retention_progress")
]
LIST_IDS = {
    table: sql(f"SELECT id FROM {table} WHERE environment_id = :environment_id")
    for table in ("triggers", "notifications", "jobs", "messages")
}


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    wanted=plans,
    days=st.sampled_from([Days(30, 60, 10), Days(30, 5, 90), Days(60, 30, 30)]),
)
async def test_exactly_what_is_needed_or_young_stays(
    world: World, database: Database, wanted: Sequence[RunPlan], days: Days
) -> None:
    environment = world.api.environment
    scope = {"environment_id": environment.id}

    async def empty(db: Connection) -> None:
        for query in DELETE_ALL:
            await db.execute(query, **scope)

    await database.transaction(empty)
    await set_days(world, runs=days.runs, inAppMessages=days.in_app, outbox=days.outbox)
    workflow = await make_workflow(database, environment)
    person = await make_subscriber(database, environment)
    made = make_runs(wanted, world.clock.now())
    await database.transaction(
        lambda db: insert_runs(db, environment, workflow, [person.id] * len(made), made),
    )

    await delete_old(database, world.clock)

    kept = {
        table: {bytes(row["id"]) for row in await fetch(database, query, **scope)} for table, query in LIST_IDS.items()
    }
    assert kept["notifications"] == {one.run for one in made if one.keeps_run(days)}
    assert kept["jobs"] == {job for one in made if one.keeps_run(days) for job in one.jobs}
    assert kept["messages"] == {
        message for one in made for message, kind in one.messages if one.keeps_message(kind, days)
    }
    assert kept["triggers"] == {one.trigger for one in made if one.keeps_trigger(days)}
    assert await database.read(lambda db: find_orphans(db, environment.id)) == {}


moves = st.lists(
    st.sampled_from(["ada", "bob", "work", "delete", "1", "8", "30", "60"]),
    min_size=4,
    max_size=16,
)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(script=moves)
async def test_every_event_of_a_digest_is_told_although_old_data_is_deleted_all_the_time(
    world: World, database: Database, script: Sequence[str]
) -> None:
    """Numbers let so many hours pass; a digest lasts two days, and its run waits two more."""
    name = f"w{world.clock.now()}"
    world.clock.move(1)
    await set_days(world, runs=1, inAppMessages=700)
    await world.make_workflow(
        step("digest", "Digest", type="regular", amount=2, unit="days"),
        step("delay", type="regular", amount=2, unit="days"),
        in_app(name + "{% for event in steps.digest.events %} {{event.payload.n}}{% endfor %}"),
        key=name,
    )
    sent: dict[str, list[int]] = {"ada": [], "bob": []}
    for number, move in enumerate(script):
        if move in sent:
            await world.trigger(move, name=name, payload={"n": number}, transactionId=f"{name}-{number}")
            sent[move].append(number)
        elif move == "work":
            await world.work()
        elif move == "delete":
            await delete_old(database, world.clock)
        else:
            await world.work(after=int(move) * HOUR)
    for _ in range(3):
        await world.work(after=2 * DAY)
        await delete_old(database, world.clock)

    for person, numbers in sent.items():
        shown = [text.split()[1:] for text in await world.feed(person) if text.startswith(name)]
        assert [int(one) for window in shown for one in window] == numbers
