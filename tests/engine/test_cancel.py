"""Cancelling: what has not been handed to a provider stops, and nothing else does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from clarion.clock import HOUR
from clarion.db.port import Database
from clarion.db.query import sql
from tests.engine.providers import Account, account
from tests.engine.support import World, details, in_app, step
from tests.sending.test_sends import EMAIL, integrate

ADA = {"subscriberId": "ada", "email": "ada@example.com"}
DIGEST = step("digest", "Digest", type="regular", amount=1, unit="hours")
SUMMARY = in_app("{{steps.digest.eventCount}}:{% for event in steps.digest.events %}{{event.payload.n}}{% endfor %}")
COUNT_STATUSES = sql("""
    SELECT j.status, count(*) AS n FROM jobs AS j
    JOIN notifications AS n ON n.environment_id = j.environment_id AND n.id = j.notification_id
    JOIN triggers AS t ON t.environment_id = n.environment_id AND t.id = n.trigger_id
    WHERE j.environment_id = :environment_id AND t.transaction_key = :key GROUP BY j.status
""")
FIND_SERVED = sql("""
    SELECT s.key FROM notifications AS n
    JOIN subscribers AS s ON s.environment_id = n.environment_id AND s.id = n.subscriber_id
    WHERE n.environment_id = :environment_id ORDER BY n.id LIMIT 1 OFFSET :place
""")
FIND_STATE = sql("SELECT state FROM triggers WHERE environment_id = :environment_id AND transaction_key = :key")


async def cancel(world: World, key: str = "t") -> bool:
    response = await world.api.delete(f"/v1/events/trigger/{key}")
    assert response.status_code == 200, response.text
    answer: bool = response.json()
    return answer


async def count_statuses(world: World, database: Database, key: str = "crowd") -> dict[str, int]:
    """How many jobs of a transaction have each status."""
    scope = {"environment_id": world.api.environment.id, "key": key}
    rows = await database.read(lambda db: db.fetch(COUNT_STATUSES, **scope))
    return {row["status"]: row["n"] for row in rows}


async def find_state(world: World, database: Database, key: str = "crowd") -> str | None:
    row = await database.read(lambda db: db.fetch_one(FIND_STATE, environment_id=world.api.environment.id, key=key))
    return None if row is None else str(row["state"])


async def make_crowd(world: World, count: int, **fields: Any) -> list[str]:
    """A topic `all` with `count` members."""
    people = [f"p{number:04}" for number in range(count)]
    for start in range(0, count, 500):
        bulk = [{"subscriberId": key, **fields} for key in people[start : start + 500]]
        await world.api.post("/v1/subscribers/bulk", json={"subscribers": bulk})
    for start in range(0, count, 100):
        await world.api.post("/v2/topics/all/subscriptions", json={"subscriberIds": people[start : start + 100]})
    return people


async def find_served(world: World, database: Database, place: int) -> str:
    """The member of the crowd whose run is started and canceled at this place."""
    await world.make_workflow(in_app("probe"), key="probe")
    await world.trigger({"type": "Topic", "topicKey": "all"}, name="probe")
    await world.work()
    scope = {"environment_id": world.api.environment.id, "place": place}
    row = await database.read(lambda db: db.fetch_one(FIND_SERVED, **scope))
    assert row is not None
    return str(row["key"])


async def trigger_crowd(world: World, **fields: Any) -> None:
    await world.trigger({"type": "Topic", "topicKey": "all"}, transactionId="crowd", **fields)
    while await world.engine.work_lanes():
        pass


@asynccontextmanager
async def under_way(world: World, first: Account) -> AsyncIterator[None]:
    """The send of the one job is with its provider, which answers when the block is left."""
    asked, may_answer, respond = asyncio.Event(), asyncio.Event(), first.respond

    async def wait(request: bytes, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await may_answer.wait()
        await respond(request, writer)

    first.server.respond = wait
    await world.engine.work_lanes()
    sending = asyncio.create_task(world.engine.sender.work())
    await asked.wait()
    try:
        yield
    finally:
        may_answer.set()
        await sending
        first.server.respond = respond


async def test_what_is_delivered_while_it_is_canceled_stays_completed_and_the_rest_is_canceled(world: World) -> None:
    async with account(world, "first") as first:
        await world.make_workflow(EMAIL, in_app("after"))
        await world.trigger(ADA, transactionId="t")
        async with under_way(world, first):
            assert await cancel(world) is True
        await world.work(after=HOUR)

        (message,) = await world.messages()
        assert (message["status"], first.count) == ("sent", 1)
        assert await world.statuses() == [["completed", "canceled"]]
        assert await cancel(world) is False


async def test_an_attempt_that_fails_after_the_cancel_is_the_last_one(world: World) -> None:
    async with account(world, "first") as first:
        await world.make_workflow(EMAIL, in_app("after"))
        await world.trigger(ADA, transactionId="t")
        first.break_down()
        async with under_way(world, first):
            assert await cancel(world) is True
        for _ in range(3):
            await world.work(after=HOUR)

        (event,) = await world.events()
        assert first.count == 1
        assert [job["status"] for job in event["jobs"]] == ["canceled", "canceled"]
        assert "Unexpected provider error" in details(event["jobs"][0])


async def test_a_canceled_message_that_one_provider_refuses_is_not_given_to_another(world: World) -> None:
    async with account(world, "first") as first, account(world, "second") as second:
        await world.make_workflow(EMAIL, in_app("after"))
        await world.trigger(ADA, transactionId="t")
        first.break_down(400)
        async with under_way(world, first):
            assert await cancel(world) is True
        await world.work(after=HOUR)

        assert (first.count, second.count) == (1, 0)
        assert await world.statuses() == [["canceled", "canceled"]]


async def test_canceled_jobs_of_a_worker_that_died_are_not_sent(world: World) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL, in_app("after"))
    await world.trigger(ADA, transactionId="t")
    await world.engine.work_lanes()

    assert await cancel(world) is True
    await world.work(after=HOUR)

    assert (await world.api.get("/v1/outbox")).json()["totalCount"] == 0
    assert await world.statuses() == [["canceled", "canceled"]]


async def test_a_canceled_follower_leaves_the_open_window_and_is_canceled(world: World) -> None:
    await world.make_workflow(DIGEST, SUMMARY)
    for number in (1, 2, 3):
        await world.trigger(payload={"n": number}, transactionId=f"t{number}")
    await world.work()

    assert await cancel(world, "t2") is True
    await world.work(after=HOUR)

    assert await world.feed() == ["2:13"]
    assert await world.statuses(transactionId="t2") == [["canceled", "canceled"]]
    assert await world.statuses(transactionId="t3") == [["merged", "merged"]]


async def test_a_promoted_leader_goes_when_its_window_closes_and_not_before(world: World) -> None:
    await world.make_workflow(DIGEST, SUMMARY)
    await world.trigger(payload={"n": 1}, transactionId="t")
    await world.work()
    await world.trigger(payload={"n": 2})
    await world.work(after=HOUR // 2)

    assert await cancel(world)
    await world.work()
    assert await world.feed() == []
    await world.work(after=HOUR // 2 - 1)
    assert await world.feed() == []
    await world.work(after=1)

    assert await world.feed() == ["1:2"]


async def test_a_follower_whose_event_is_out_stays_as_it_is(world: World) -> None:
    await world.make_workflow(DIGEST, SUMMARY)
    await world.trigger(payload={"n": 1}, transactionId="t1")
    await world.trigger(payload={"n": 2}, transactionId="t2")
    await world.work()
    await world.work(after=HOUR)
    before = await world.events()

    assert await cancel(world, "t2") is False
    await world.work(after=HOUR)

    assert await world.events() == before
    assert await world.feed() == ["2:12"]


async def test_a_leader_whose_digest_is_out_keeps_the_record_of_what_was_told(world: World) -> None:
    await world.make_workflow(DIGEST, SUMMARY)
    await world.trigger(payload={"n": 1}, transactionId="t1")
    await world.trigger(payload={"n": 2}, transactionId="t2")
    await world.work()
    await world.work(after=HOUR)
    before = await world.events()

    assert await cancel(world, "t1") is False

    assert await world.events() == before


async def test_cancelling_the_leader_of_a_closed_window_drops_only_its_own_event(world: World) -> None:
    await world.make_workflow(DIGEST, step("delay", type="regular", amount=1, unit="hours"), SUMMARY)
    for number in (1, 2, 3):
        await world.trigger(payload={"n": number}, transactionId=f"t{number}")
    await world.work()
    await world.work(after=HOUR)

    assert await cancel(world, "t1") is True
    assert await cancel(world, "t1") is False
    await world.work(after=HOUR)

    assert await world.feed() == ["2:23"]
    assert await world.statuses(transactionId="t1") == [["completed", "completed", "completed"]]


async def test_the_email_of_a_digest_goes_out_for_the_others_when_its_leader_is_canceled(world: World) -> None:
    await integrate(world, "svc-email", "email")
    body = "{% for event in steps.digest.events %}{{event.payload.n}}{% endfor %}"
    delay = step("delay", type="regular", amount=1, unit="hours")
    await world.make_workflow(DIGEST, delay, step("email", subject="Hi", body=body))
    await world.trigger(ADA, payload={"n": 1}, transactionId="t1")
    await world.trigger(ADA, payload={"n": 2}, transactionId="t2")
    await world.work()
    await world.work(after=HOUR)

    assert await cancel(world, "t1") is True
    await world.work(after=HOUR)

    assert [one["content"] for one in await world.messages()] == ["2"]


async def test_a_crowd_larger_than_a_chunk_is_canceled_to_the_end(world: World, database: Database) -> None:
    await world.make_workflow(in_app("before"), step("delay", type="regular", amount=1, unit="hours"), in_app("after"))
    await make_crowd(world, 700)
    await trigger_crowd(world)
    assert await count_statuses(world, database) == {"completed": 700, "delayed": 700, "pending": 700}

    assert await cancel(world, "crowd") is True
    assert await find_state(world, database) == "canceling"
    assert await cancel(world, "crowd") is False
    await world.work(after=HOUR)

    assert await find_state(world, database) == "canceled"
    assert await count_statuses(world, database) == {"completed": 700, "canceled": 1400}


async def test_no_send_of_a_canceled_crowd_begins_after_the_answer(world: World, database: Database) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL)
    await make_crowd(world, 700, email="p@example.com")
    await trigger_crowd(world)

    assert await cancel(world, "crowd") is True
    assert (await count_statuses(world, database))["queued"] == 200
    await world.engine.sender.work()
    await world.work()

    assert await count_statuses(world, database) == {"canceled": 700}
    assert (await world.api.get("/v1/outbox")).json()["totalCount"] == 0


async def test_the_answer_says_that_something_was_stopped_however_late_in_the_crowd_it_is(
    world: World, database: Database
) -> None:
    late = {"==": [{"var": "subscriber.lastName"}, "late"]}
    await world.make_workflow(step("delay", type="regular", amount=1, unit="hours", skip=late), in_app("after"))
    await make_crowd(world, 700)
    last = await find_served(world, database, 699)
    await world.api.patch(f"/v2/subscribers/{last}", json={"lastName": "late"})
    await trigger_crowd(world)
    assert await count_statuses(world, database) == {"completed": 699, "skipped": 699, "delayed": 1, "pending": 1}

    assert await cancel(world, "crowd") is True
    await world.work(after=HOUR)

    assert await count_statuses(world, database) == {"completed": 699, "skipped": 699, "canceled": 2}


async def test_a_large_crowd_that_is_served_has_nothing_to_stop(world: World, database: Database) -> None:
    await world.make_workflow(in_app("x"))
    await make_crowd(world, 600)
    await trigger_crowd(world)

    assert await cancel(world, "crowd") is False
    await world.work()

    assert await count_statuses(world, database) == {"completed": 600}


@pytest.mark.parametrize("leads", [True, False])
async def test_windows_that_close_while_a_crowd_is_being_canceled_tell_the_other_events(
    world: World, database: Database, leads: bool
) -> None:
    await world.make_workflow(DIGEST, SUMMARY)
    await make_crowd(world, 1200)
    # The request cancels 500 runs and the engine another 500 before it takes on the next ones that are due.
    late = await find_served(world, database, 1050)
    if not leads:
        await world.trigger(late, payload={"n": 1}, transactionId="other")
        await world.work()
    await trigger_crowd(world, payload={"n": 2})
    if leads:
        await world.trigger(late, payload={"n": 1}, transactionId="other")
        await world.work()
    world.clock.move(HOUR)

    assert await cancel(world, "crowd") is True
    await world.work()

    assert await world.feed(late) == ["probe", "1:1"]
    assert (await world.api.get("/v1/messages?limit=1&transactionId=crowd")).json()["totalCount"] == 0
    await world.trigger(late, payload={"n": 3})
    await world.work()
    await world.work(after=HOUR)
    assert await world.feed(late) == ["probe", "1:1", "1:3"]
