"""Runs that go on with another version of their workflow, because somebody asks for it."""

import asyncio
from typing import Any

import pytest

from clarion.audit.model import Action
from clarion.clock import HOUR, MINUTE
from clarion.db.port import Connection, Database
from clarion.engine.moved_runs import Moved, MoveLimits, MovePosition, move_runs
from clarion.runs.move_wire import MoveIn, write_position
from clarion.vocabulary import Scope
from clarion.workflows.history import get_past_version
from clarion.workflows.store import get_workflow
from tests.audit.support import list_entries
from tests.engine.support import World, details, in_app, step
from tests.engine.test_versions import change, digest, explain
from tests.sending.test_sends import EMAIL, integrate
from tests.support import Api, MakeApi

DELAY = {**step("delay", type="regular", amount=1, unit="hours"), "name": "Wait"}
OLD, NEW = in_app("old"), in_app("new {{payload.n}}")
LAST = {**in_app("last"), "name": "Last"}


async def trigger(world: World, number: int = 1, to: Any = "ada") -> None:
    await world.trigger(to, payload={"n": number}, transactionId=f"t{number}")
    await world.work()


async def move(world: World, base: int = 1, to: int = 2, **fields: Any) -> dict[str, Any]:
    body = {"from": base, "to": to, **fields}
    response = await world.api.post("/v1/workflows/welcome/runs/move", json=body)
    assert response.status_code == 200, response.text
    await world.work()
    found: dict[str, Any] = response.json()
    assert found["next"] is None
    return found


def told(moved: dict[str, Any]) -> list[tuple[str, int, str, str | None]]:
    return sorted((one["stepId"], one["count"], one["outcome"], one["nextStepId"]) for one in moved["steps"])


async def test_a_run_that_waits_goes_on_with_the_other_version_when_its_moment_comes(world: World) -> None:
    await world.make_workflow(in_app("first"), DELAY, OLD)
    await trigger(world)
    await change(world, in_app("first"), DELAY, {**NEW, "name": "New"}, LAST)

    counted = await move(world, dryRun=True)
    assert told(counted) == [("wait", 1, "stays", "new")]
    await world.work(after=30 * MINUTE)
    moved = await move(world)

    assert (counted["dryRun"], counted["capped"], moved["dryRun"]) == (True, False, False)
    assert told(moved) == told(counted)
    await world.work(after=30 * MINUTE)
    assert await world.feed() == ["first", "new 1", "last"]
    assert (await move(world))["steps"] == []
    (run,) = await world.events()
    assert "Run goes on with another version of the workflow, as was asked for" in details(run["jobs"][1])
    assert any(
        "with version 2 of the workflow, not with version 1" in one["summary"] for one in await explain(world, run)
    )


async def test_a_delay_that_is_gone_is_skipped(world: World) -> None:
    await world.make_workflow(DELAY, OLD, LAST)
    await trigger(world)
    await change(world, LAST)

    moved = await move(world)

    assert told(moved) == [("wait", 1, "skipped", "last")]
    assert await world.feed() == ["last"]
    assert await world.statuses() == [["skipped", "completed"]]


async def test_a_run_of_which_nothing_is_left_ends(world: World) -> None:
    await world.make_workflow(DELAY, OLD)
    await trigger(world)
    await change(world, {**NEW, "name": "Other"})

    moved = await move(world)

    assert told(moved) == [("wait", 1, "skipped", None)]
    assert (await world.feed(), await world.statuses()) == ([], [["skipped"]])


async def test_a_digest_that_is_gone_goes_on_with_all_its_events(world: World) -> None:
    summary = {**in_app("{{step.total_count}}"), "name": "Last"}
    await world.make_workflow(digest(), OLD, summary)
    await trigger(world, 1)
    await trigger(world, 2)
    await change(world, summary)

    moved = await move(world)

    assert told(moved) == [("digest", 1, "closed", "last")]
    assert await world.feed() == ["2"]


async def test_a_pinned_digest_that_is_moved_keeps_gathering(world: World) -> None:
    pinned = digest(version="pinned")
    await world.make_workflow(pinned, in_app("old {{step.total_count}}"))
    await trigger(world, 1)
    await change(world, pinned, in_app("new {{step.total_count}}"))
    assert told(await move(world)) == [("digest", 1, "stays", "inbox")]
    await trigger(world, 2)

    await world.work(after=10 * MINUTE)

    assert await world.feed() == ["new 2"]


async def test_a_message_on_its_way_is_sent_as_it_is(world: World) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL, OLD, LAST)
    await world.trigger({"subscriberId": "ada", "email": "ada@example.com"}, payload={"n": 1})
    await world.engine.work_lanes()
    await change(world, {**NEW, "name": "New"}, LAST)

    moved = await move(world)

    assert told(moved) == [("email", 1, "ends", "last")]
    assert len((await world.api.get("/v1/outbox")).json()["data"]) == 1
    assert await world.feed() == ["last"]


async def test_runs_on_a_path_of_a_branch_go_on_there_and_then_behind_it(world: World) -> None:
    def fork(*steps: dict[str, Any]) -> dict[str, Any]:
        return step("branch", "Fork", paths=[{"name": "all", "condition": {"==": [1, 1]}, "steps": list(steps)}])

    made = await world.make_workflow(fork(DELAY, {**OLD, "name": "Inner"}), LAST)
    await trigger(world)
    paths = made["steps"][0]["controlValues"]["paths"]
    inner = [
        {name: one[name] for name in ("_id", "stepId", "name", "type", "controlValues")} for one in paths[0]["steps"]
    ]
    inner[1]["controlValues"] = {"body": "inner {{payload.n}}"}
    await change(world, fork(*inner), {**in_app("very last"), "name": "Last"})

    moved = await move(world)

    assert told(moved) == [("wait", 1, "stays", "inner")]
    await world.work(after=HOUR)
    assert await world.feed() == ["inner 1", "very last"]


async def test_a_run_is_moved_again_and_versions_between_are_named_by_their_number(world: World) -> None:
    await world.make_workflow(DELAY, OLD)
    await trigger(world)
    await change(world, DELAY, NEW)
    await move(world)
    await change(world, DELAY, NEW, LAST)

    assert (await move(world, 1, 3))["steps"] == []
    assert told(await move(world, 2, 3)) == [("wait", 1, "stays", "inbox")]
    await world.work(after=HOUR)

    assert await world.feed() == ["new 1", "last"]


async def test_runs_that_are_over_and_those_of_other_workflows_and_versions_stay(world: World) -> None:
    await world.make_workflow(OLD)
    await world.make_workflow(DELAY, key="other")
    await trigger(world)
    await world.trigger(name="other")
    await world.work()
    await change(world, DELAY, NEW)
    await trigger(world, 2)

    assert (await move(world))["steps"] == []
    assert (await move(world, dryRun=True))["steps"] == []


async def test_cancelling_after_a_move_stops_what_was_moved(world: World) -> None:
    await world.make_workflow(DELAY, OLD)
    await trigger(world)
    await change(world, DELAY, NEW)
    await move(world)

    assert (await world.api.delete("/v1/events/trigger/t1")).json() is True
    await world.work(after=HOUR)

    assert (await world.feed(), await world.statuses()) == ([], [["canceled", "canceled"]])


async def test_one_call_goes_so_far_and_the_next_one_goes_on(world: World, database: Database) -> None:
    people = [f"person-{number}" for number in range(9)]
    await world.make_workflow(DELAY, OLD)
    await world.make_workflow(DELAY, key="other")
    await trigger(world, 1, people)
    await world.trigger(people, name="other")
    await world.work()
    await change(world, DELAY, NEW)
    limits, position, counts = MoveLimits(moved=2, examined=5), None, list[int]()

    async def move_some(db: Connection) -> Moved:
        workflow = await get_workflow(db, world.api.environment.id, "welcome")
        versions = await get_past_version(db, workflow, "1"), await get_past_version(db, workflow, "2")
        return await move_runs(db, workflow, versions, world.clock.now(), position, limits)

    while not counts or position is not None:
        moved = await database.transaction(move_some)
        counts.append(sum(count for _, count in moved.steps))
        position = moved.position
    await world.work(after=HOUR)

    assert (sum(counts), max(counts)) == (9, 2)
    assert [await world.feed(person) for person in people] == [["new 1"]] * 9


async def test_runs_are_moved_while_workers_go_on(world: World) -> None:
    people = [f"person-{number}" for number in range(40)]
    steps, old = (in_app("first"), DELAY), {**OLD, "name": "Old"}
    await world.make_workflow(*steps, old)
    await change(world, *steps, {**NEW, "name": "New"})
    await change(world, *steps, old)
    for number in range(3):
        await world.trigger(people, payload={"n": number})
    await asyncio.gather(world.work(), move(world, 3, 2), world.work(), move(world, 3, 2))
    await world.work()
    await asyncio.gather(world.work(after=HOUR), move(world, 3, 2))
    await world.work(after=HOUR)

    for person in people:
        seen = await world.feed(person)
        assert [one for one in seen if one == "first"] == ["first"] * 3
        assert len(seen) == 6, seen


async def test_the_log_says_who_moved_how_many(world: World) -> None:
    await world.make_workflow(DELAY, OLD)
    await trigger(world)
    await change(world, DELAY, NEW)
    before = len(await list_entries(world.api))

    await move(world, dryRun=True)
    await move(world)
    await move(world)

    entries = await list_entries(world.api)
    assert len(entries) == before + 1
    assert (entries[0]["action"], entries[0]["after"]) == (Action.RUNS_MOVE, {"from": 1, "to": 2, "moved": 1})


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"from": 1, "to": 1}, "to"),
        ({"from": 1, "to": 9}, "to"),
        ({"from": 9, "to": 1}, "from"),
        ({"from": 0, "to": 1}, "from"),
        ({"from": 1}, "to"),
        ({"from": 1, "to": 2, "after": "rubbish"}, "after"),
        ({"from": 1, "to": 2, "all": True}, "all"),
    ],
)
async def test_what_makes_no_sense_is_refused(world: World, body: dict[str, Any], field: str) -> None:
    await world.make_workflow(DELAY)
    await change(world, DELAY, NEW)

    response = await world.api.post("/v1/workflows/welcome/runs/move", json=body)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == [field]


async def test_neighbours_and_lesser_keys_move_nothing(world: World, other_api: Api, make_api: MakeApi) -> None:
    made = await world.make_workflow(DELAY, OLD)
    await trigger(world)
    await change(world, DELAY, NEW)
    body = {"from": 1, "to": 2}

    theirs = await other_api.post(f"/v1/workflows/{made['_id']}/runs/move", json=body)
    for scopes in ({Scope.WORKFLOWS_WRITE}, {Scope.EVENTS_WRITE}):
        lesser = await make_api(scopes=frozenset(scopes))
        assert (await lesser.post("/v1/workflows/welcome/runs/move", json=body)).status_code == 403

    assert theirs.status_code == 404
    await world.work(after=HOUR)
    assert await world.feed() == ["old"]


def test_the_next_page_is_read_as_it_was_written() -> None:
    position = MovePosition(2, bytes(range(16)))  # type: ignore[arg-type]

    assert MoveIn(base=1, to=2, after=write_position(position)).read_position() == position
    assert write_position(None) is None
