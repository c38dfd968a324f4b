"""The stored status of runs is always the one that their jobs have, whatever happens to them."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clarion.clock import HOUR, MINUTE
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.runs.status import LIST_JOBS, STATUSES, decide_from_facts, read_fact
from clarion.vocabulary import RunStatus
from tests.engine.providers import ADA, EMAIL, account
from tests.engine.support import World, in_app, step

LIST_RUNS = sql("SELECT id, status FROM notifications WHERE environment_id = :environment_id ORDER BY id")
BOB = {"subscriberId": "bob", "email": "bob@example.com"}
STEPS = {
    "inbox": in_app("Hi"),
    "mail": EMAIL,
    "strict": EMAIL | {"name": "Strict", "shouldStopOnFail": True},
    "delay": step("delay", "Delay", type="regular", amount=5, unit="minutes"),
    "digest": step("digest", "Digest", type="regular", amount=10, unit="minutes"),
    "skipped": in_app("Never", skip={"==": [1, 2]}) | {"name": "Never"},
}
MOVES = st.one_of(
    st.tuples(st.just("trigger"), st.sampled_from([ADA, BOB])),
    st.tuples(st.just("work"), st.sampled_from([0, 1, 6 * MINUTE, HOUR])),
    st.tuples(st.just("cancel"), st.integers(0, 3)),
    st.tuples(st.just("break"), st.sampled_from([503, 400, 200, 429])),
    st.tuples(st.just("redrive"), st.none()),
)


async def read_statuses(database: Database, world: World) -> tuple[list[RunStatus], list[RunStatus]]:
    """The statuses that are stored, and those that the jobs have."""

    async def read(db: Connection) -> tuple[list[RunStatus], list[RunStatus]]:
        scope = {"environment_id": world.api.environment.id}
        runs = await db.fetch(LIST_RUNS, **scope)
        facts: dict[bytes, list[str]] = {run["id"]: [] for run in runs}
        for job in await db.fetch(LIST_JOBS, **scope, ids=list(facts)):
            facts[job["notification_id"]].append(read_fact(job))
        return [STATUSES[run["status"]] for run in runs], [decide_from_facts(one) for one in facts.values()]

    return await database.read(read)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    names=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=4, unique=True),
    script=st.lists(MOVES, min_size=3, max_size=14),
)
async def test_the_stored_status_is_the_one_of_the_jobs(
    world: World, database: Database, names: list[str], script: list[tuple[str, Any]]
) -> None:
    name = f"w{world.clock.now()}"
    world.clock.move(1)
    await world.make_workflow(*(STEPS[one] for one in names), key=name)
    async with account(world, f"a-{name}") as provider:
        transactions: list[str] = []
        for what, value in script:
            if what == "trigger":
                transactions.append(f"{name}-{len(transactions)}")
                await world.trigger(value, name=name, transactionId=transactions[-1])
            elif what == "work":
                await world.work(after=value)
            elif what == "cancel" and transactions:
                await world.api.delete(f"/v1/events/trigger/{transactions[value % len(transactions)]}")
            elif what == "break":
                provider.break_down(value)
            elif what == "redrive":
                await world.api.post("/v1/dead-letters/redrive", json={"all": True})
            stored, derived = await read_statuses(database, world)
            assert stored == derived


async def test_a_run_waits_between_attempts_and_runs_again_when_it_is_redriven(
    world: World, database: Database
) -> None:
    async def only() -> RunStatus:
        stored, derived = await read_statuses(database, world)
        assert stored == derived
        return stored[0]

    async with account(world, "a") as provider:
        await world.make_workflow(EMAIL)
        provider.break_down(503)
        await world.trigger(ADA)
        await world.work()
        assert await only() is RunStatus.WAITING

        provider.break_down(400)
        await world.work(after=HOUR)
        assert await only() is RunStatus.FAILED

        provider.come_back()
        await world.api.post("/v1/dead-letters/redrive", json={"all": True})
        assert await only() is RunStatus.RUNNING
        await world.work()
        assert await only() is RunStatus.COMPLETED


async def test_a_follower_that_is_promoted_waits_in_place_of_the_canceled_leader(
    world: World, database: Database
) -> None:
    await world.make_workflow(STEPS["digest"], in_app("Hi"))
    await world.trigger("ada", transactionId="t-1")
    await world.trigger("ada", transactionId="t-2")
    await world.work()
    assert (await read_statuses(database, world))[0] == [RunStatus.WAITING, RunStatus.MERGED]

    await world.api.delete("/v1/events/trigger/t-1")

    assert (await read_statuses(database, world))[0] == [RunStatus.CANCELED, RunStatus.WAITING]
