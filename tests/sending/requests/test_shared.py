"""One request for all people of a trigger: made once, used by all, on both databases."""

import asyncio
from typing import Any

import pytest

from clarion.clock import MINUTE, SECOND, ManualClock, Millis, iso_text
from clarion.db.port import Connection, Database
from clarion.db.query import Query, sql
from clarion.engine.shared_requests import FIND, LATE_AFTER, WAKE, WOKEN_TOGETHER
from clarion.engine.worker import Engine
from clarion.jobs.lanes import LANES, LaneSet
from clarion.providers.sending.gateway import ProviderGateway
from clarion.sending.retry import MAX_ATTEMPTS
from clarion.vault import Vault
from tests.engine.support import World, details, in_app
from tests.plans import explain
from tests.providers.loopback import answering
from tests.sending.requests.support import fetch, make_variable, serving
from tests.sending.requests.test_claims import claim, record

COUNT = sql("SELECT count(*) AS n FROM http_answers WHERE environment_id = :environment_id")
OUTPUTS = sql("""
    SELECT DISTINCT outputs FROM jobs WHERE environment_id = :environment_id AND type = 'http_request'
""")
SEEN = in_app("{{steps.fetch.ok}} {{steps.fetch.body.plan}}")


def share(*arguments: Any, **controls: Any) -> dict[str, Any]:
    return fetch(*arguments, share="trigger", **controls)


async def list_rows(world: World, database: Database, query: Query) -> list[Any]:
    async def read(db: Connection) -> list[Any]:
        return [next(iter(row.values())) for row in await db.fetch(query, environment_id=world.api.environment.id)]

    return await database.read(read)


async def make_crowd(world: World, size: int) -> list[str]:
    """People who are subscribed to a topic."""
    await world.api.post("/v2/topics", json={"key": "crowd", "name": "Crowd"})
    people = [f"p{number}" for number in range(size)]
    for start in range(0, size, 100):
        some = people[start : start + 100]
        bulk = {"subscribers": [{"subscriberId": one} for one in some]}
        assert (await world.api.post("/v1/subscribers/bulk", json=bulk)).status_code == 201
        answer = await world.api.post("/v2/topics/crowd/subscriptions", json={"subscriberIds": some})
        assert answer.status_code in (200, 201), answer.text
    return people


CROWD = {"type": "Topic", "topicKey": "crowd"}


async def count_seen(world: World, people: list[str]) -> int:
    feeds = [await world.feed(key) for key in people]
    return sum(feed == ["true pro"] for feed in feeds)


async def test_a_thousand_people_make_one_request(world: World, database: Database) -> None:
    async with serving() as server:
        people = await make_crowd(world, 1_000)
        await world.make_workflow(share(server), SEEN)
        await world.trigger(CROWD)
        await world.work()

        assert len(server.requests) == 1
        assert await count_seen(world, people[:20] + people[-20:]) == 40
    statuses = sql("""
        SELECT status || type || count(*) AS n FROM jobs WHERE environment_id = :environment_id
        GROUP BY status, type ORDER BY type
    """)
    assert await list_rows(world, database, statuses) == ["completedhttp_request1000", "completedin_app1000"]
    assert await list_rows(world, database, OUTPUTS) == ['{"shared":true}']


async def test_runs_that_wait_are_woken_some_at_a_time(world: World) -> None:
    async with serving() as server:
        people = await make_crowd(world, WOKEN_TOGETHER + 200)
        await world.make_workflow(share(server), SEEN)
        await world.trigger(CROWD)
        while await world.engine.work_lanes():
            pass
        assert server.requests == []
        await world.work()

        assert len(server.requests) == 1
        assert await count_seen(world, people) == len(people)


async def test_later_triggers_make_a_request_of_their_own(world: World) -> None:
    async with serving() as server:
        await world.make_workflow(share(server), SEEN)
        await world.trigger(["ada", "bob"], transactionId="one")
        await world.work()
        await world.trigger(["ada", "bob"], transactionId="two")
        await world.work()

        assert len(server.requests) == 2
        assert len({one.headers["idempotency-key"] for one in server.requests}) == 2


async def test_two_workers_with_half_of_the_people_each_make_one_request(
    world: World, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> None:
    bus = world.engine._bus
    async with serving() as server:
        people = await make_crowd(world, 120)
        await world.make_workflow(share(server), SEEN)
        await world.trigger(CROWD)
        engines = [Engine(database, clock=clock, vault=vault, bus=bus, gateway=gateway) for _ in range(2)]
        for number, engine in enumerate(engines):
            engine.membership.lanes = LaneSet.of(range(number, LANES, 2))
        for _ in range(30):
            await asyncio.gather(*(engine.work_lanes() for engine in engines))
            await asyncio.gather(*(engine.sender.work() for engine in engines))

        assert len(server.requests) == 1
        assert await count_seen(world, people) == len(people)


async def test_a_refusal_is_that_of_all(world: World) -> None:
    async with serving(answering(404, "{}")) as server:
        await world.make_workflow(share(server), in_app("after"))
        await world.trigger(["ada", "bob", "cid"])
        await world.work()

        assert len(server.requests) == 1
        assert await world.statuses() == [["failed", "canceled"]] * 3


async def test_runs_that_go_on_see_the_refusal_after_all_attempts(world: World) -> None:
    async with serving(answering(500, '{"plan": "none"}')) as server:
        await world.make_workflow(share(server, onFailure="continue"), SEEN)
        await world.trigger(["ada", "bob", "cid"])
        await world.work()
        for _ in range(6 * MAX_ATTEMPTS):
            await world.work(after=10 * MINUTE)

        assert len(server.requests) == MAX_ATTEMPTS
        assert [await world.feed(key) for key in ("ada", "bob", "cid")] == [["false none"]] * 3
        assert len({one.headers["idempotency-key"] for one in server.requests}) == 1


async def test_a_request_that_cannot_be_rendered_fails_for_all(world: World) -> None:
    await world.make_workflow(share("{{payload.url}}"), in_app("after"))
    await world.trigger(["ada", "bob"])
    await world.work()

    assert await world.statuses() == [["failed", "canceled"]] * 2


async def test_nothing_of_a_person_is_sent_and_saving_says_so(world: World) -> None:
    await make_variable(world, "KEY", "a-secret-key")
    async with serving() as server:
        url = server.url("/{{payload.order}}?p={{subscriber.subscriberId}}")
        headers = [{"key": "X-Key", "value": "{{env.KEY}}"}]
        body = {"workflow": "{{workflow.name}}", "steps": "{{steps.x.y}}"}
        made = await world.make_workflow(share(url, method="POST", headers=headers, body=body))
        await world.trigger(["ada", "bob"], payload={"order": 7})
        await world.work()

        (request,) = server.requests
        assert (request.path, request.headers["x-key"]) == ("/7?p=", "a-secret-key")
        assert request.json == {"workflow": "Welcome", "steps": ""}
    issues = made["steps"][0]["issues"]["controls"]
    assert "'subscriber' is empty here" in str(issues["url"])
    assert "'steps' is empty here" in str(issues)


async def test_conditions_are_those_of_each_person(world: World) -> None:
    async with serving() as server:
        skip = {"==": [{"var": "subscriber.firstName"}, "Bob"]}
        await world.make_workflow(share(server, skip=skip), SEEN)
        await world.trigger([{"subscriberId": "ada", "firstName": "Ada"}, {"subscriberId": "bob", "firstName": "Bob"}])
        await world.work()

        assert len(server.requests) == 1
        assert (await world.feed("ada"), await world.feed("bob")) == ([" "], ["true pro"])


async def test_a_request_that_nobody_makes_any_more_is_made_by_another(world: World) -> None:
    async with serving() as server:
        await world.make_workflow(share(server), SEEN)
        await world.trigger(["ada", "bob", "cid"])
        await world.engine.work_lanes()
        leaders = [event for event in await world.events() if event["jobs"][0]["status"] == "queued"]
        (leader,) = (event["subscriber"]["subscriberId"] for event in leaders)
        assert (await world.api.delete(f"/v2/subscribers/{leader}")).status_code == 200
        await world.work()
        assert server.requests == []
        await world.work(after=LATE_AFTER)

        assert len(server.requests) == 1
        assert await world.statuses() == [["completed", "completed"]] * 2


async def test_a_late_answer_is_waited_for_longer(world: World) -> None:
    async with serving() as server:
        await world.make_workflow(share(server), SEEN)
        await world.trigger(["ada", "bob"])
        await world.engine.work_lanes()
        (request,) = await claim(world)
        request.lease_until = Millis(request.lease_until + 2 * LATE_AFTER)
        world.clock.move(LATE_AFTER)
        await world.engine.work_lanes()
        await record(world, request)
        await world.work()

        assert len(server.requests) == 1
        assert await world.statuses() == [["completed", "completed"]] * 2


async def test_a_cancel_ends_those_who_wait_and_makes_no_request(world: World) -> None:
    async with serving() as server:
        await world.make_workflow(share(server), in_app("after"))
        await world.trigger(["ada", "bob"], transactionId="t-1")
        await world.engine.work_lanes()
        await world.api.delete("/v1/events/trigger/t-1")
        await world.work(after=LATE_AFTER)

        assert server.requests == []
        assert await world.statuses() == [["canceled", "canceled"]] * 2


async def test_those_who_wait_end_with_their_trigger(world: World) -> None:
    async with serving(answering(500)) as server:
        await world.make_workflow(share(server), in_app("after"))
        expires_at = iso_text(Millis(world.clock.now() + 30 * SECOND))
        await world.trigger(["ada", "bob"], expiresAt=expires_at)
        await world.work()
        await world.work(after=31 * SECOND)

        assert await world.statuses() == [["canceled", "canceled"]] * 2


async def test_it_is_explained_whose_answer_was_used(world: World) -> None:
    async with serving() as server:
        await world.make_workflow(share(server), SEEN)
        await world.trigger(["ada", "bob"])
        await world.work()
        told = []
        for key in ("ada", "bob"):
            answer = await world.api.get("/v1/explain", params={"subscriberId": key, "workflowId": "welcome"})
            told += [one["summary"] for one in answer.json()["decisions"] if one["kind"] == "request"]

        assert any("the run waits for its answer" in one for one in told)
        assert any("It was answered with 200" in one for one in told)
        assert sum("A request was prepared" in one for one in told) == 1
    jobs = [event["jobs"][0] for event in await world.events()]
    assert sorted(details(job)[-1] for job in jobs) == [
        "HTTP request answered",
        "The answer that the trigger's runs share was used",
    ]


async def test_the_answer_of_an_erased_person_alone_is_forgotten(world: World, database: Database) -> None:
    async with serving() as server:
        await world.make_workflow(share(server), SEEN)
        await world.trigger("ada")
        await world.trigger(["ada", "bob"])
        await world.work()
        assert await list_rows(world, database, COUNT) == [2]
        await world.api.delete("/v2/subscribers/ada")
        await world.work()

        assert await list_rows(world, database, COUNT) == [1]


@pytest.mark.parametrize("query", [FIND, WAKE])
async def test_those_who_wait_are_found_by_an_index(world: World, database: Database, query: Query) -> None:
    scope: dict[str, Any] = {"environment_id": world.api.environment.id}
    scope |= {"trigger_id": bytes(16), "step_id": bytes(16), "wake_at": 2, "now": 1, "limit": 1}
    plan = await explain(database, query, **{name: scope[name] for name in query.names})

    assert any(index in plan for index in ("jobs_due", "jobs_decide", "http_answers"))
