"""Open digests that are let go on before their time."""

from typing import Any

import pytest

from clarion.audit.model import Action
from clarion.clock import DAY, HOUR, MINUTE, Millis
from clarion.db.port import Connection, Database
from clarion.engine.flush import Flushed, FlushFilter, FlushLimits, FlushPosition, flush_digests
from clarion.ids import JobId, WorkflowId, find_id
from clarion.runs.digest_wire import FlushedOut, FlushIn
from clarion.vocabulary import Scope
from tests.audit.support import list_entries
from tests.engine.support import World, details, in_app, step
from tests.engine.test_digest_limits import digest, trigger
from tests.support import Api, MakeApi

SUMMARY = in_app("{{steps.digest.eventCount}}:{% for one in steps.digest.events %}{{one.payload.n}}{% endfor %}")


async def flush_now(world: World, **body: Any) -> int:
    response = await world.api.post("/v1/digests/flush", json={"workflowId": "welcome", **body})
    assert response.status_code == 200, response.text
    await world.work()
    answer = response.json()
    assert answer["next"] is None
    return int(answer["flushed"])


async def test_open_digests_go_on_now_with_the_events_that_they_have(world: World) -> None:
    await world.make_workflow(digest(), SUMMARY)
    await trigger(world, 1, 2)
    await trigger(world, 3, to="bob")

    assert await flush_now(world) == 2

    assert (await world.feed(), await world.feed("bob")) == (["2:12"], ["1:3"])
    assert await flush_now(world) == 0
    await trigger(world, 4)
    await world.work(after=10 * MINUTE)
    assert await world.feed() == ["2:12", "1:4"]


async def test_an_event_that_comes_before_the_worker_joins_and_one_after_opens_the_next(world: World) -> None:
    await world.make_workflow(digest(), SUMMARY)
    await trigger(world, 1)
    await world.api.post("/v1/digests/flush", json={"workflowId": "welcome"})

    await trigger(world, 2)
    await trigger(world, 3)
    await world.work(after=10 * MINUTE)

    told = await world.feed()
    assert "".join(one.partition(":")[2] for one in told) == "123"
    assert len(told) == 2


async def test_digests_are_chosen_by_workflow_step_person_and_key(world: World) -> None:
    first, second = digest(digestKey="payload.room"), digest(amount=1, unit="hours") | {"name": "Later"}
    body = in_app("{{step.total_count}}:{% for one in step.events %}{{one.n}}{% endfor %}")
    await world.make_workflow(first, second, body)
    await world.make_workflow(digest(), SUMMARY, key="other")
    await trigger(world, 1, room="x")
    await trigger(world, 2, room="y")
    await trigger(world, 3, to="bob", room="x")
    await world.trigger(name="other", payload={"n": 9})
    await world.work()

    assert await flush_now(world, stepId="later") == 0
    assert await flush_now(world, digestKey="z") == 0
    assert await flush_now(world, digestKey=None) == 0
    assert await flush_now(world, digestKey="x", subscriberId="bob", stepId="digest") == 1
    assert await flush_now(world, digestKey="y") == 1
    assert await flush_now(world, subscriberId="bob") == 1
    assert (await world.feed(), await world.feed("bob")) == ([], ["1:3"])
    assert await flush_now(world, stepId="digest") == 1
    assert await flush_now(world) == 1
    # Both of Ada's events are in the second digest.
    assert await world.feed() == ["2:12"]
    await world.work(after=10 * MINUTE)
    assert sorted(await world.feed()) == ["1:9", "2:12"]


async def test_digests_of_contexts_are_chosen_by_their_key(world: World) -> None:
    await world.make_workflow(digest(digestKey="payload.room"), SUMMARY)
    for number, tenant in ((1, "acme"), (2, "globex")):
        await world.trigger(payload={"n": number, "room": "x"}, context={"tenant": tenant})
    await world.trigger(payload={"n": 3, "room": "y"}, context={"tenant": "acme"})
    await world.work()

    assert await flush_now(world, digestKey="x") == 2


async def test_a_sliding_digest_ends_and_a_promoted_leader_goes_on_too(world: World) -> None:
    await world.make_workflow(digest(slideUpTo={"amount": 1, "unit": "hours"}), SUMMARY)
    await trigger(world, 1)
    await world.work(after=9 * MINUTE)
    await trigger(world, 2)
    await world.work(after=2 * MINUTE)
    await trigger(world, 3)
    await world.api.post("/v1/digests/flush", json={"workflowId": "welcome"})

    assert (await world.api.delete("/v1/events/trigger/t1")).json() is True
    await world.work()

    assert await world.feed() == ["2:23"]


async def test_a_delay_is_not_let_go_on(world: World) -> None:
    await world.make_workflow(step("delay", type="regular", amount=1, unit="hours"), in_app("late"))
    await world.trigger()
    await world.work()

    assert await flush_now(world) == 0
    assert await world.feed() == []


async def test_the_schedule_of_the_person_still_holds(world: World) -> None:
    await world.make_workflow(digest(extendToSchedule=True), SUMMARY)
    assert (await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})).status_code == 201
    days = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    await world.set_schedule(**{day: [("09:00 AM", "05:00 PM")] for day in days})
    world.clock.move((22 * HOUR - world.clock.now() % DAY) % DAY)
    await trigger(world, 1)

    assert await flush_now(world) == 1
    assert await world.feed() == []
    await world.work(after=12 * HOUR)

    assert await world.feed() == ["1:1"]


async def test_one_call_goes_so_far_and_the_next_one_goes_on(world: World, database: Database) -> None:
    people = [f"person-{number}" for number in range(7)]
    made = await world.make_workflow(digest(), SUMMARY)
    await world.make_workflow(digest(), SUMMARY, key="other")
    await world.trigger(people, payload={"n": 1})
    await world.trigger(people, name="other", payload={"n": 2})
    await world.work()
    wanted = FlushFilter(workflow_id=WorkflowId(find_id(made["_id"]) or b""))
    limits = FlushLimits(flushed=2, examined=5)
    counts: list[int] = []
    position: FlushPosition | None = None

    async def flush_some(db: Connection) -> Flushed:
        return await flush_digests(db, world.api.environment.id, wanted, world.clock.now(), position, limits)

    while not counts or position is not None:
        flushed = await database.transaction(flush_some)
        counts.append(flushed.count)
        position = flushed.position
    await world.work()

    assert (sum(counts), max(counts)) == (7, 2)
    assert [await world.feed(person) for person in people] == [["1:1"]] * 7


async def test_explain_and_the_log_say_who_let_digests_go_on(world: World) -> None:
    await world.make_workflow(digest(), SUMMARY)
    await trigger(world, 1)
    before = len(await list_entries(world.api))

    assert await flush_now(world, subscriberId="ada", stepId="digest") == 1
    assert await flush_now(world) == 0

    (run,) = await world.events()
    assert "Digest was let go on before its time" in details(run["jobs"][0])
    told = (await world.api.get(f"/v1/notifications/{run['_id']}/explain")).json()["decisions"]
    assert any("/v1/digests/flush" in one["summary"] for one in told)
    entries = await list_entries(world.api)
    assert len(entries) == before + 1
    assert entries[0]["action"] == Action.DIGEST_FLUSH
    assert entries[0]["after"] == {"flushed": 1, "isOfOnePerson": True, "stepId": "digest"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "workflowId"),
        ({"workflowId": "nothing"}, "workflowId"),
        ({"workflowId": "welcome", "stepId": "inbox"}, "stepId"),
        ({"workflowId": "welcome", "stepId": "nothing"}, "stepId"),
        ({"workflowId": "welcome", "subscriberId": "nobody"}, "subscriberId"),
        ({"workflowId": "welcome", "after": "rubbish"}, "after"),
        ({"workflowId": "welcome", "after": "kwHEEAAA"}, "after"),
        ({"workflowId": "welcome", "all": True}, "all"),
    ],
)
async def test_what_is_not_there_is_refused(world: World, body: dict[str, Any], field: str) -> None:
    await world.make_workflow(digest(), SUMMARY)

    response = await world.api.post("/v1/digests/flush", json=body)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == [field]


async def test_another_environment_is_not_reached(world: World, other_api: Api) -> None:
    await world.make_workflow(digest(), SUMMARY)
    await trigger(world, 1)
    made = {"name": "Welcome", "workflowId": "welcome", "steps": [digest(), SUMMARY], "active": True}
    assert (await other_api.post("/v2/workflows", json=made)).status_code == 201

    response = await other_api.post("/v1/digests/flush", json={"workflowId": "welcome"})

    assert response.json() == {"flushed": 0, "next": None}
    await world.work()
    assert await world.feed() == []


async def test_a_key_that_may_only_read_lets_nothing_go_on(world: World, make_api: MakeApi) -> None:
    await world.make_workflow(digest(), SUMMARY)
    reader = await make_api(scopes=frozenset({Scope.EVENTS_READ}))

    response = await reader.post("/v1/digests/flush", json={"workflowId": "welcome"})

    assert response.status_code == 403


def test_the_next_page_is_read_as_it_was_written() -> None:
    position = FlushPosition(Millis(1_700_000_000_123), JobId(bytes(range(16))))

    body = FlushIn(workflow_id="x", after=FlushedOut.of(1, position).next)

    assert body.read_position() == position
    assert FlushedOut.of(1, None).next is None
