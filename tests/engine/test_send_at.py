"""Triggers with `sendAt` begin at their moment, and those with `expiresAt` do nothing after it."""

import asyncio
from typing import Any

import pytest

from clarion.clock import DAY, HOUR, MINUTE, SECOND, Millis, iso_text
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.triggers.due import begin_due_triggers
from tests.engine.providers import EMAIL, account
from tests.engine.support import World, details, in_app, step
from tests.engine.test_erasure import erase

ADA = {"subscriberId": "ada", "email": "ada@example.com"}
COUNT_STATES = sql("SELECT state, count(*) AS n FROM triggers WHERE environment_id = :environment_id GROUP BY state")


def later(world: World, after: int) -> str:
    return iso_text(Millis(world.clock.now() + after))


async def find_job(world: World, place: int = 0) -> dict[str, Any]:
    (event,) = await world.events()
    job: dict[str, Any] = event["jobs"][place]
    return job


async def test_its_runs_begin_at_the_moment(world: World) -> None:
    await world.make_workflow(in_app("Hello"))
    answer = await world.trigger(sendAt=later(world, HOUR))

    await world.work(after=HOUR - SECOND)
    before = await world.feed()
    await world.work(after=SECOND)

    assert answer["status"] == "processed"
    assert (before, await world.feed()) == ([], ["Hello"])


async def test_one_of_the_past_begins_at_once(world: World) -> None:
    await world.make_workflow(in_app("Hello"))
    await world.trigger(sendAt=later(world, -DAY))

    await world.work()

    assert await world.feed() == ["Hello"]


async def test_a_moment_names_its_zone(world: World) -> None:
    await world.make_workflow(in_app("Hello"))
    moment = later(world, HOUR).removesuffix("Z")
    await world.trigger(sendAt=f"{moment}+00:30")

    await world.work(after=30 * MINUTE)

    assert await world.feed() == ["Hello"]


@pytest.mark.parametrize(
    ("field", "fields", "message"),
    [
        ("sendAt", {"sendAt": 367 * DAY}, "at most a year ahead"),
        ("expiresAt", {"expiresAt": -SECOND}, "in the future"),
        ("expiresAt", {"sendAt": HOUR, "expiresAt": HOUR}, "later than sendAt"),
    ],
)
async def test_moments_that_make_no_sense_are_refused(
    world: World, field: str, fields: dict[str, int], message: str
) -> None:
    await world.make_workflow(in_app())

    response = await world.post(**{name: later(world, after) for name, after in fields.items()})

    assert response.status_code == 422
    assert message in str(response.json()["errors"][field])


async def test_a_text_that_is_no_moment_is_refused(world: World) -> None:
    await world.make_workflow(in_app())

    response = await world.post(sendAt="tomorrow")

    assert response.status_code == 422
    assert "sendAt" in response.json()["errors"]


async def test_events_of_a_bulk_and_broadcasts_have_moments_too(world: World) -> None:
    await world.make_workflow(in_app("Hello"))
    await world.api.post("/v2/subscribers", json=ADA)
    events = [{"name": "welcome", "to": "ada", "sendAt": later(world, HOUR)}, {"name": "welcome", "to": "ada"}]
    assert (await world.api.post("/v1/events/trigger/bulk", json={"events": events})).status_code == 201
    body = {"name": "welcome", "sendAt": later(world, 2 * HOUR)}
    assert (await world.api.post("/v1/events/trigger/broadcast", json=body)).status_code == 201

    seen = []
    for _ in range(3):
        await world.work()
        seen.append(len(await world.feed()))
        world.clock.move(HOUR)

    assert seen == [1, 2, 3]


async def test_those_of_one_moment_keep_their_order(world: World) -> None:
    await world.make_workflow(in_app("{{payload.n}}"))
    moment = later(world, HOUR)
    for n in range(5):
        await world.trigger(payload={"n": n}, sendAt=moment)
    await world.trigger(payload={"n": 5}, sendAt=later(world, HOUR - SECOND))
    world.clock.move(HOUR + SECOND)
    await world.trigger(payload={"n": 6})

    await world.work()

    assert await world.feed() == ["5", "0", "1", "2", "3", "4", "6"]


async def test_it_is_canceled_until_its_moment(world: World) -> None:
    await world.make_workflow(in_app())
    await world.trigger(transactionId="t", sendAt=later(world, HOUR))

    canceled = (await world.api.delete("/v1/events/trigger/t")).json()
    again = (await world.api.delete("/v1/events/trigger/t")).json()
    await world.work(after=DAY)

    assert (canceled, again) == (True, False)
    assert await world.events() == []


async def test_its_transaction_is_refused_as_a_duplicate_while_it_waits(world: World) -> None:
    await world.make_workflow(in_app())
    await world.trigger(transactionId="t", sendAt=later(world, HOUR))

    await world.trigger(transactionId="t")
    await world.work()
    before = await world.feed()
    await world.work(after=HOUR)

    assert (len(before), len(await world.feed())) == (0, 1)


async def test_the_workflow_runs_as_it_is_at_the_moment(world: World) -> None:
    made = await world.make_workflow(in_app("Old"))
    await world.trigger(sendAt=later(world, HOUR))
    body = {"name": "Welcome", "active": True, "steps": [in_app("New")]}
    assert (await world.api.put(f"/v2/workflows/{made['_id']}", json=body)).status_code == 200

    await world.work(after=HOUR)

    assert await world.feed() == ["New"]


async def test_members_of_a_topic_at_the_moment_get_it(world: World) -> None:
    await world.make_workflow(in_app())
    for key in ("ada", "bob"):
        await world.api.post("/v2/subscribers", json={"subscriberId": key})
    await world.api.post("/v2/topics/all/subscriptions", json={"subscriberIds": ["ada"]})
    await world.trigger({"type": "Topic", "topicKey": "all"}, sendAt=later(world, HOUR))
    await world.api.post("/v2/topics/all/subscriptions", json={"subscriberIds": ["bob"]})

    await world.work(after=HOUR)

    assert [len(await world.feed(key)) for key in ("ada", "bob")] == [1, 1]


async def explain(world: World, **query: str) -> dict[str, object]:
    response = await world.api.get("/v1/explain", params={"subscriberId": "ada", **query})
    assert response.status_code == 200, response.text
    answer: dict[str, object] = response.json()
    return answer


async def test_one_whose_workflow_is_inactive_at_the_moment_is_not_begun(world: World, database: Database) -> None:
    made = await world.make_workflow(in_app())
    await world.trigger(transactionId="t", sendAt=later(world, HOUR))
    await world.api.patch(f"/v2/workflows/{made['_id']}", json={"active": False})

    await world.work(after=HOUR)

    assert await world.events() == []
    rows = await database.read(lambda db: db.fetch(COUNT_STATES, environment_id=world.api.environment.id))
    assert [(row["state"], row["n"]) for row in rows] == [("refused", 1)]
    assert "was deleted, inactive or without" in str(await explain(world, transactionId="t"))


async def test_explain_tells_that_it_waits(world: World) -> None:
    await world.make_workflow(in_app())
    await world.trigger(transactionId="t", sendAt=later(world, HOUR))

    by_transaction = await explain(world, transactionId="t")
    by_workflow = await explain(world, workflowId="welcome")

    assert "waits for its moment" in str(by_transaction)
    assert "waits for its moment" in str(by_workflow)


async def test_a_person_who_is_erased_is_taken_out_of_it(world: World) -> None:
    await world.make_workflow(in_app())
    await world.api.post("/v2/subscribers", json=ADA)
    await world.trigger(["ada", "bob"], sendAt=later(world, HOUR))
    await world.trigger("ada", transactionId="alone", sendAt=later(world, HOUR))
    await erase(world)

    await world.work(after=HOUR)

    assert [event["subscriber"]["subscriberId"] for event in await world.events()] == ["bob"]


async def test_two_workers_begin_each_once(world: World, database: Database) -> None:
    await world.make_workflow(in_app())
    for _ in range(20):
        await world.trigger(sendAt=later(world, HOUR))
    world.clock.move(HOUR)

    async def begin() -> int:
        return await database.transaction(lambda db: begin_due_triggers(db, world.clock.now(), limit=15))

    begun = await asyncio.gather(*(begin() for _ in range(4)))
    await world.work()

    assert sum(begun) == 20
    assert len(await world.feed()) == 20


async def test_a_delay_ends_when_the_trigger_expires(world: World) -> None:
    await world.make_workflow(step("delay", amount=1, unit="days", type="regular"), in_app())
    await world.trigger(transactionId="t", expiresAt=later(world, HOUR))

    await world.work()
    await world.work(after=HOUR)

    assert await world.statuses() == [["canceled", "canceled"]]
    assert "before the trigger expired" in details(await find_job(world, 1))[-1]
    assert "The trigger expired on" in str(await explain(world, transactionId="t"))


async def test_runs_that_begin_late_say_that_they_are_expired(world: World) -> None:
    await world.make_workflow(in_app())
    await world.trigger(sendAt=later(world, HOUR), expiresAt=later(world, 2 * HOUR))

    await world.work(after=3 * HOUR)

    assert (await world.statuses(), await world.feed()) == ([["canceled"]], [])


async def test_a_digest_goes_on_with_the_events_that_have_not_expired(world: World) -> None:
    digest = step("digest", "Digest", type="regular", amount=2, unit="hours")
    shown = in_app("{% for event in steps.digest.events %}{{event.payload.n}}{% endfor %}")
    await world.make_workflow(digest, shown)
    await world.trigger(payload={"n": 1}, expiresAt=later(world, HOUR))
    await world.trigger(payload={"n": 2})
    await world.trigger(payload={"n": 3}, expiresAt=later(world, HOUR))

    await world.work()
    await world.work(after=2 * HOUR)

    assert await world.feed() == ["2"]


async def test_a_digest_whose_events_have_all_expired_sends_nothing(world: World) -> None:
    digest = step("digest", "Digest", type="regular", amount=2, unit="hours")
    await world.make_workflow(digest, in_app())
    await world.trigger(expiresAt=later(world, HOUR))

    await world.work()
    await world.work(after=2 * HOUR)

    assert (await world.statuses(), await world.feed()) == ([["canceled", "canceled"]], [])


async def test_a_message_is_not_tried_again_after_the_trigger_has_expired(world: World) -> None:
    async with account(world, "first") as first:
        await world.make_workflow(EMAIL, in_app("after"))
        await world.trigger(ADA, transactionId="t", expiresAt=later(world, 5 * SECOND))
        first.break_down()
        await world.work()
        first.come_back()
        await world.work(after=HOUR)

        assert first.count == 1
        assert await world.statuses() == [["canceled", "canceled"]]
        assert "before the trigger expired" in details(await find_job(world))[-1]


async def test_a_message_that_is_sent_in_time_is_sent(world: World) -> None:
    async with account(world, "first") as first:
        await world.make_workflow(EMAIL, in_app("after"))
        await world.trigger(ADA, expiresAt=later(world, HOUR))
        await world.work()

        assert (first.count, await world.statuses()) == (1, [["completed", "completed"]])


async def test_simulate_tells_when_its_messages_would_be_sent(world: World) -> None:
    await world.make_workflow(step("delay", amount=1, unit="hours", type="regular"), in_app("Hi"))
    await world.api.post("/v2/subscribers", json=ADA)
    body = {"name": "welcome", "to": "ada", "sendAt": later(world, DAY)}

    response = await world.api.post("/v1/simulate", json=body)

    assert response.status_code == 200, response.text
    (recipient,) = response.json()["recipients"]
    assert [one["at"] for one in recipient["messages"]] == [later(world, DAY + HOUR)]
