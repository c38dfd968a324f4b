"""What a tenant makes Clarion store: once, and no more than is needed."""

import base64
from typing import Any

import pytest

from clarion.app import Application
from clarion.clock import ManualClock
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.engine.digest_events import MAX_EVENT_BYTES, MAX_EVENTS
from clarion.engine.worker import Engine
from clarion.triggers.attachments import LAST_USE, MAX_PAUSE, delete_unneeded_files
from tests.engine.providers import EMAIL, account
from tests.engine.support import World, in_app, step
from tests.support import Api

DIGEST = step("digest", type="regular", amount=1, unit="minutes")
DELAY = step("delay", type="regular", amount=1, unit="minutes")
COUNTS = in_app("{{steps.digest.eventCount}} {{steps.digest.events.size}} {{step.total_count}} {{step.events.size}}")
LEADER = "first"
LARGEST_JOB = sql("""
    SELECT max(coalesce(octet_length(digest), 0) + coalesce(octet_length(outputs), 0)) AS size FROM jobs
    WHERE environment_id = :environment_id
""")


@pytest.fixture
def world(api: Api, application: Application, clock: ManualClock) -> World:
    engine = Engine(
        application.database,
        clock=clock,
        vault=application.vault,
        bus=application.services.bus,
        gateway=application.services.gateway,
    )
    return World(api, engine, clock)


async def measure(database: Database, world: World, query: Any) -> int:
    async def read(db: Connection) -> int:
        row = await db.fetch_one(query, environment_id=world.api.environment.id)
        return 0 if row is None else int(row["size"] or 0)

    return await database.read(read)


async def trigger_many(world: World, count: int, payload: dict[str, Any]) -> None:
    for first in range(0, count, 100):
        numbers = range(first, min(first + 100, count))
        events = [{"name": "welcome", "to": "ada", "payload": payload | {"n": n}} for n in numbers]
        if not first:
            events[0]["transactionId"] = LEADER
        response = await world.api.post("/v1/events/trigger/bulk", json={"events": events})
        assert response.status_code == 201, response.text


async def test_a_digest_of_many_events_shows_the_first_and_counts_all(world: World, database: Database) -> None:
    await world.make_workflow(DIGEST, COUNTS, DELAY, COUNTS)
    await trigger_many(world, MAX_EVENTS + 30, {"text": "x" * 50})

    await world.work()
    await world.work(after=60_000)
    await world.work(after=60_000)
    (leader,) = await world.events(transactionId=LEADER)
    digest = leader["jobs"][0]["digest"]

    total = MAX_EVENTS + 30
    assert await world.feed() == [f"{total} {MAX_EVENTS} {total} {MAX_EVENTS}"] * 2
    assert [event["payload"]["n"] for event in digest["events"]] == list(range(MAX_EVENTS))
    assert digest["eventCount"] == total


async def test_a_digest_of_large_payloads_stays_small(world: World, database: Database) -> None:
    await world.make_workflow(DIGEST, COUNTS)
    await trigger_many(world, 20, {"text": "x" * 250_000})

    await world.work()
    await world.work(after=60_000)

    shown = MAX_EVENT_BYTES // 250_000
    assert await world.feed() == [f"20 {shown} 20 {shown}"]
    assert await measure(database, world, LARGEST_JOB) < 10_000


async def test_the_payload_of_a_crowd_is_not_copied_into_their_digests(world: World, database: Database) -> None:
    look_back = step(
        "digest", type="regular", amount=1, unit="minutes", lookBackWindow={"amount": 5, "unit": "minutes"}
    )
    text = "{% for event in steps.digest.events %}{{event.payload.text | size}}{% endfor %}"
    await world.make_workflow(look_back, DELAY, in_app(text))
    people = [f"p{n}" for n in range(20)]

    await world.trigger(people, payload={"text": "x" * 100_000})
    await world.work()
    await world.work(after=60_000)

    assert await world.feed("p7") == ["100000"]
    assert await measure(database, world, LARGEST_JOB) < 1_000


async def test_a_digest_of_an_earlier_time_is_not_read_again(world: World) -> None:
    await world.make_workflow(DIGEST, COUNTS)

    for start in ("a", "b", "c"):
        for number in range(4):
            await world.trigger(transactionId=f"{start}{number}")
        await world.work()
        await world.work(after=60_000)

    assert await world.feed() == ["4 4 4 4"] * 3


async def test_a_digest_that_shows_one_event_of_many_outlives_the_cancel_of_that_one(world: World) -> None:
    await world.make_workflow(DIGEST, DELAY, COUNTS)
    transactions = [
        (await world.trigger(payload={"text": "x" * 250_000}, transactionId=f"t{n}"))["transactionId"] for n in range(4)
    ]
    await world.work()
    await world.work(after=60_000)

    await world.api.delete(f"/v1/events/trigger/{transactions[0]}")
    await world.work()
    await world.work(after=60_000)

    (text,) = await world.feed()
    assert text.split()[0] == text.split()[2] == "3"


COUNT_FILES = sql("SELECT count(*) AS size FROM attachments WHERE environment_id = :environment_id")
LARGEST_OVERRIDES = sql("""
    SELECT max(octet_length(overrides)) AS size FROM triggers WHERE environment_id = :environment_id
""")
FILE = base64.b64encode(bytes(range(256)) * 400).decode()
ATTACHED = {"email": {"attachments": [{"file": FILE, "name": "a.bin", "mime": "application/octet-stream"}]}}


async def clean_up(world: World, database: Database) -> int:
    """Let time pass and the maintenance run; return how many files are left."""
    for _ in range(3):
        world.clock.move(MAX_PAUSE + LAST_USE)
        await delete_unneeded_files(database, world.clock.now())
    return await measure(database, world, COUNT_FILES)


async def test_a_file_for_many_people_and_triggers_is_stored_once_and_sent_to_all(
    world: World, database: Database
) -> None:
    async with account(world, "first") as mail:
        await world.make_workflow(EMAIL)
        people = [{"subscriberId": f"p{n}", "email": f"p{n}@example.com"} for n in range(20)]
        for _ in range(2):
            await world.trigger(people, overrides=ATTACHED)
        stored = await measure(database, world, COUNT_FILES), await measure(database, world, LARGEST_OVERRIDES)

        await world.work()
        left = await clean_up(world, database)
        (message, *_) = await world.messages()

        assert stored[0] == 1
        assert stored[1] < 1_000
        assert len(mail.taken) == 40
        assert all(FILE.encode() in request for request in mail.server.requests)
        assert left == 0
        (shown,) = message["overrides"]["email"]["attachments"]
        assert (shown["name"], shown["fileLength"], "file" in shown) == ("a.bin", len(FILE), False)


async def test_a_file_is_kept_while_a_run_waits_and_gone_afterwards(world: World, database: Database) -> None:
    long = step("delay", type="regular", amount=3, unit="hours")
    async with account(world, "first") as mail:
        await world.make_workflow(long, EMAIL)
        await world.trigger({"subscriberId": "ada", "email": "ada@example.com"}, overrides=ATTACHED)
        await world.work()
        during = await clean_up(world, database)
        await world.work(after=3 * 3_600_000)

        assert (during, await clean_up(world, database)) == (1, 0)
        assert FILE.encode() in mail.server.requests[0]


async def test_a_file_is_kept_for_a_dead_letter_and_sent_when_it_is_redriven(world: World, database: Database) -> None:
    async with account(world, "first") as mail:
        mail.break_down(400)
        await world.make_workflow(EMAIL)
        await world.trigger({"subscriberId": "ada", "email": "ada@example.com"}, overrides=ATTACHED)
        await world.work()
        dead = await clean_up(world, database)
        mail.come_back()

        await world.api.post("/v1/dead-letters/redrive", json={"channel": "email"})
        await world.work()

        assert dead == 1
        assert len(mail.taken) == 1
        assert FILE.encode() in mail.server.requests[-1]
        assert await clean_up(world, database) == 0


async def test_a_file_of_a_merged_run_is_kept_while_the_run_may_still_lead(world: World, database: Database) -> None:
    digest = step("digest", type="regular", amount=2, unit="hours")
    ada = {"subscriberId": "ada", "email": "ada@example.com"}
    async with account(world, "first") as mail:
        await world.make_workflow(digest, EMAIL)
        await world.trigger(ada, transactionId="leads")
        await world.trigger(ada, transactionId="follows", overrides=ATTACHED)
        await world.work()
        during = await clean_up(world, database)

        await world.api.delete("/v1/events/trigger/leads")
        await world.work(after=3 * 3_600_000)

        assert during == 1
        assert FILE.encode() in mail.server.requests[0]
        assert await clean_up(world, database) == 0


async def test_files_of_canceled_repeated_and_erased_triggers_are_gone(world: World, database: Database) -> None:
    long = step("delay", type="regular", amount=30, unit="days")
    await world.make_workflow(long, EMAIL)
    other = {"email": {"attachments": [{"file": FILE[4:], "name": "b.bin"}]}}
    await world.trigger("ada", transactionId="canceled", overrides=ATTACHED)
    await world.trigger("bob", transactionId="again")
    await world.trigger("bob", transactionId="again", overrides=other)
    await world.trigger("eve", overrides=other)
    await world.work()
    assert await clean_up(world, database) == 2

    await world.api.delete("/v1/events/trigger/canceled")
    await world.api.delete("/v2/subscribers/eve")
    await world.work()

    assert await clean_up(world, database) == 0


async def test_a_reference_that_the_caller_made_up_attaches_nothing(world: World, database: Database) -> None:
    async with account(world, "first") as mail:
        await world.make_workflow(EMAIL)
        ada = {"subscriberId": "ada", "email": "ada@example.com"}
        await world.trigger(ada, overrides=ATTACHED)
        await world.work()
        (message,) = await world.messages()
        (reference,) = message["overrides"]["email"]["attachments"]

        await world.trigger(ada, overrides={"email": {"attachments": [reference]}})
        await world.work()

        assert len(mail.taken) == 1
        assert (await world.messages())[1]["errorText"] == "The attachment 1 must have a file in base64"
