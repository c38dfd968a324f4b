"""Runs are deleted with everything that belongs to them, and stay while anything needs them."""

from typing import Any

import pytest

from clarion.bus import Bus
from clarion.clock import DAY, HOUR, MINUTE
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.ids import find_id, id_text
from clarion.inbox.snoozes import Waker
from clarion.retention import runs
from clarion.retention.periods import days_of
from clarion.retention.walks import FIRST, WalkScope
from clarion.settings.model import Settings
from tests.engine.support import World, in_app, step
from tests.records import (
    MadeJob,
    make_job,
    make_message,
    make_notification,
    make_subscriber,
    make_trigger,
    make_workflow,
)
from tests.retention.support import count_rows, delete_old, fetch

TABLES = ("triggers", "notifications", "jobs", "messages")
NOTHING = dict.fromkeys(TABLES, 0)


async def set_days(world: World, **days: int) -> None:
    me = (await world.api.get("/v1/environments/me")).json()
    response = await world.api.patch(f"/v1/environments/{me['_id']}", json={"retentionDays": days})
    assert response.status_code == 200, response.text


async def count(world: World, database: Database, *tables: str) -> dict[str, int]:
    return await count_rows(database, world.api.environment.id, *(tables or TABLES))


async def make_mailer(world: World) -> None:
    await world.api.post("/v1/integrations", json={"providerId": "svc-email", "channel": "email", "active": True})
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "email": "ada@example.com"})


async def test_a_finished_run_goes_with_its_jobs_messages_and_trigger(world: World, database: Database) -> None:
    await make_mailer(world)
    await world.make_workflow(in_app(), step("email", subject="Hi", body="there"))
    await set_days(world, inAppMessages=30)
    await world.trigger(payload={"name": "Ada"})
    await world.work()
    await delete_old(database, world.clock)
    before = await count(world, database)
    world.clock.move(30 * DAY + MINUTE)
    retention = await delete_old(database, world.clock)

    assert before == {"triggers": 1, "notifications": 1, "jobs": 2, "messages": 2}
    assert await count(world, database) == NOTHING
    assert retention.deleted["runs"] >= 1


async def test_a_run_that_waits_stays_and_ends_as_if_it_were_young(world: World, database: Database) -> None:
    await world.make_workflow(step("delay", type="regular", amount=90, unit="days"), in_app("late {{payload.name}}"))
    await world.trigger(payload={"name": "Ada"})
    await world.work()
    world.clock.move(89 * DAY)
    await delete_old(database, world.clock)
    await world.work(after=DAY)
    feed = await world.feed()
    world.clock.move(29 * DAY)
    await delete_old(database, world.clock)
    kept = await count(world, database, "notifications", "jobs")
    world.clock.move(2 * DAY)
    await delete_old(database, world.clock)

    assert feed == ["late Ada"]
    assert kept == {"notifications": 1, "jobs": 2}
    assert await count(world, database, "notifications", "jobs") == {"notifications": 0, "jobs": 0}


async def test_an_inbox_shows_a_message_for_longer_than_its_run_is_kept(world: World, database: Database) -> None:
    await world.make_workflow(in_app("Hello {{payload.name}}"))
    await world.trigger(payload={"name": "Ada", "deep": {"a": 1}}, transactionId="t-1")
    await world.work()
    world.clock.move(31 * DAY)
    await delete_old(database, world.clock)

    assert await count(world, database) == {"triggers": 1, "notifications": 0, "jobs": 0, "messages": 1}
    (item,) = (await world.api.get("/v1/subscribers/ada/notifications/feed")).json()["data"]
    marked = await world.api.post(
        "/v1/subscribers/ada/messages/mark-as", json={"messageId": item["_id"], "markAs": "read"}
    )
    (message,) = (await world.api.get("/v1/messages", params={"transactionId": "t-1"})).json()["data"]
    assert (item["payload"], item["content"]) == ({"name": "Ada", "deep": {"a": 1}}, "Hello Ada")
    assert marked.status_code == 201
    assert message["read"] is True

    world.clock.move(60 * DAY)
    await delete_old(database, world.clock)
    assert await count(world, database) == NOTHING


async def test_a_transaction_is_refused_as_a_duplicate_for_as_long_as_runs_are_kept(
    world: World, database: Database
) -> None:
    await world.make_workflow(step("delay", type="regular", amount=1, unit="hours"))
    await world.trigger(transactionId="once")
    await world.work()
    await world.work(after=2 * HOUR)
    world.clock.move(29 * DAY)
    await delete_old(database, world.clock)
    await world.trigger(transactionId="once")
    await world.work()
    second = await count(world, database, "notifications")
    world.clock.move(2 * DAY)
    await delete_old(database, world.clock)
    await world.trigger(transactionId="once")
    await world.work()

    assert second == {"notifications": 1}
    assert [event["createdAt"][:10] for event in await world.events()] == ["2026-02-01"]


async def test_a_snoozed_message_stays_and_counts_as_new_when_it_is_back(world: World, database: Database) -> None:
    await set_days(world, inAppMessages=10, runs=10)
    ada = await make_subscriber(database, world.api.environment)
    now = world.clock.now()
    snoozed = await make_message(database, world.api.environment, subscriber=ada, snoozed_until=now + 20 * DAY, now=now)
    plain = await make_message(database, world.api.environment, subscriber=ada, now=now)
    world.clock.move(11 * DAY)
    await delete_old(database, world.clock)
    hidden = await list_message_ids(database, world)
    world.clock.move(10 * DAY)
    assert await Waker(database, clock=world.clock, bus=Bus()).work()
    await delete_old(database, world.clock)
    back = await world.feed()
    world.clock.move(11 * DAY)
    await delete_old(database, world.clock)

    assert hidden == {snoozed.id}
    assert plain.id not in hidden
    assert back == ["Hello"]
    assert await list_message_ids(database, world) == set()


async def list_message_ids(database: Database, world: World) -> set[bytes]:
    listing = sql("SELECT id FROM messages WHERE environment_id = :environment_id")
    rows = await database.read(lambda db: db.fetch(listing, environment_id=world.api.environment.id))
    return {bytes(row["id"]) for row in rows}


async def test_a_message_stays_while_a_later_step_may_ask_whether_it_was_read(world: World, database: Database) -> None:
    await set_days(world, inAppMessages=10, runs=10)
    unread = {"==": [{"var": "steps.inbox.read"}, False]}
    await world.make_workflow(
        in_app("first"), step("delay", type="regular", amount=20, unit="days"), in_app("second", skip=unread)
    )
    await world.trigger()
    await world.work()
    (item,) = (await world.api.get("/v1/subscribers/ada/notifications/feed")).json()["data"]
    await world.api.post("/v1/subscribers/ada/messages/mark-as", json={"messageId": item["_id"], "markAs": "read"})
    world.clock.move(15 * DAY)
    await delete_old(database, world.clock)
    await world.work(after=6 * DAY)

    assert [job["status"] for job in (await world.events(after="2020-01-01"))[0]["jobs"]] == [
        "completed",
        "completed",
        "skipped",
    ]


async def test_a_run_that_was_merged_stays_as_long_as_the_digest_that_tells_it(
    world: World, database: Database
) -> None:
    await world.make_workflow(
        step("digest", "Digest", type="regular", amount=2, unit="days"),
        step("delay", type="regular", amount=60, unit="days"),
        in_app("{% for event in steps.digest.events %}{{event.payload.n}} {% endfor %}"),
    )
    for number in range(3):
        await world.trigger(payload={"n": number})
        await world.work()
    await world.work(after=2 * DAY)
    world.clock.move(40 * DAY)
    await delete_old(database, world.clock)
    await world.work(after=20 * DAY)
    feed, kept = await world.feed(), await count(world, database, "triggers", "notifications", "digest_events")
    world.clock.move(31 * DAY)
    await delete_old(database, world.clock)

    assert feed == ["0 1 2 "]
    assert kept == {"triggers": 3, "notifications": 3, "digest_events": 3}
    assert await count(world, database, "notifications", "jobs", "digest_events") == {
        "notifications": 0,
        "jobs": 0,
        "digest_events": 0,
    }
    # The message outlives the digest and its run; the events of other triggers are in its text already.
    assert await count(world, database, "triggers", "messages") == {"triggers": 1, "messages": 1}


async def test_a_chain_of_digests_stays_while_the_last_one_is_under_way(world: World, database: Database) -> None:
    workflow = await make_workflow(database, world.api.environment)
    now = world.clock.now()

    async def make_run(into: Any = None) -> Any:
        trigger = await make_trigger(database, world.api.environment, workflow=workflow, now=now)
        run = await make_notification(database, world.api.environment, trigger=trigger, digested_into=into, now=now)
        await make_job(database, world.api.environment, notification=run, now=now)
        return run

    last = await make_run()
    middle = await make_run(last.id)
    first = await make_run(middle.id)
    alone = await make_run()
    waiting = sql("UPDATE jobs SET status = :status WHERE environment_id = :environment_id AND notification_id = :id")
    scope = {"environment_id": world.api.environment.id, "id": last.id}
    await database.transaction(lambda db: db.execute(waiting, **scope, status="delayed"))
    world.clock.move(31 * DAY)
    await delete_old(database, world.clock)
    listing = sql("SELECT id FROM notifications WHERE environment_id = :environment_id")
    rows = await database.read(lambda db: db.fetch(listing, environment_id=world.api.environment.id))
    await database.transaction(lambda db: db.execute(waiting, **scope, status="completed"))
    world.clock.move(DAY)
    await delete_old(database, world.clock)

    assert {bytes(row["id"]) for row in rows} == {first.id, middle.id, last.id}
    assert alone.id not in {bytes(row["id"]) for row in rows}
    assert (await count(world, database))["notifications"] == 0


async def make_dead_letter(world: World, database: Database, *, after: int) -> MadeJob:
    """A send that was given up so many milliseconds from now."""
    dead = await make_job(database, world.api.environment, now=world.clock.now())
    dying = sql("""
        UPDATE jobs SET status = 'failed', type = 'email', dead_at = :at, updated_at = :at
        WHERE environment_id = :environment_id AND id = :id
    """)
    values = {"environment_id": world.api.environment.id, "id": dead.id, "at": world.clock.now() + after}
    await database.transaction(lambda db: db.execute(dying, **values))
    return dead


async def test_a_dead_letter_that_is_redriven_after_it_was_chosen_for_deletion_stays(
    world: World, database: Database
) -> None:
    """Of two old dead letters that retention has chosen, one is redriven before they are deleted."""
    redriven, other = [await make_dead_letter(world, database, after=HOUR) for _ in range(2)]
    world.clock.move(45 * DAY)
    environment = world.api.environment
    days = days_of(environment.options, Settings())
    scope = WalkScope(environment_id=environment.id, now=world.clock.now(), days=days, by_environment={})

    page = await database.read(lambda db: runs.choose_runs(db, scope, FIRST, 100))
    answer = await world.api.post("/v1/dead-letters/redrive", json={"ids": [id_text(redriven.id)]})
    deleted = await database.transaction(lambda db: runs.delete_runs(db, scope, page.rows))

    assert answer.status_code in (200, 201), answer.text
    assert {row["id"] for row in page.rows} == {redriven.notification.id, other.notification.id}
    assert deleted.count == 1
    rows = await fetch(database, sql("SELECT id, status FROM jobs WHERE environment_id = :e"), e=environment.id)
    assert [(row["id"], row["status"]) for row in rows] == [(redriven.id, "queued")]
    assert await count(world, database, "triggers", "notifications") == {"triggers": 1, "notifications": 1}


async def test_a_dead_letter_stays_for_the_days_of_runs_after_it_died(world: World, database: Database) -> None:
    dead = await make_dead_letter(world, database, after=20 * DAY)
    world.clock.move(45 * DAY)
    await delete_old(database, world.clock)
    listed = (await world.api.get("/v1/dead-letters")).json()["data"]
    world.clock.move(6 * DAY)
    await delete_old(database, world.clock)

    assert [find_id(one["_id"]) for one in listed] == [dead.id]
    assert (await world.api.get("/v1/dead-letters")).json()["data"] == []
    assert await count(world, database) == NOTHING


async def test_a_trigger_that_never_had_a_run_goes_too(world: World, database: Database) -> None:
    await world.make_workflow(in_app())
    await world.api.post("/v2/topics", json={"key": "empty", "name": "Empty"})
    await world.trigger([{"type": "Topic", "topicKey": "empty"}])
    await world.work()
    before = await count(world, database, "triggers")
    world.clock.move(91 * DAY)
    await delete_old(database, world.clock)

    assert before == {"triggers": 1}
    assert await count(world, database) == NOTHING


@pytest.mark.parametrize(("outbox", "runs"), [(3, 30), (30, 3)])
async def test_messages_of_the_outbox_have_days_of_their_own(
    world: World, database: Database, outbox: int, runs: int
) -> None:
    await make_mailer(world)
    await set_days(world, outbox=outbox, runs=runs)
    await world.make_workflow(step("email", subject="Hi", body="there"))
    await world.trigger()
    await world.work()
    world.clock.move(4 * DAY)
    await delete_old(database, world.clock)
    after_four = await count(world, database)
    world.clock.move(27 * DAY)
    await delete_old(database, world.clock)

    shown = 1 if outbox > runs else 0
    assert after_four == {"triggers": 1, "notifications": 1 - shown, "jobs": 1 - shown, "messages": shown}
    assert await count(world, database) == NOTHING


async def test_each_environment_has_days_of_its_own(
    world: World, database: Database, other_api: Any, site: Any
) -> None:
    await set_days(world, runs=5, inAppMessages=5)
    for environment in (site.development, site.production):
        await make_message(database, environment, now=world.clock.now())
    world.clock.move(6 * DAY)
    await delete_old(database, world.clock)

    assert await count(world, database) == NOTHING
    assert await count_rows(database, site.production.id, *TABLES) == dict.fromkeys(TABLES, 1)


async def test_closed_windows_and_old_passes_are_forgotten_when_no_step_asks_for_them(
    world: World, database: Database
) -> None:
    await world.make_workflow(
        step("throttle", type="fixed", amount=40, unit="days", threshold=1),
        step("digest", "Digest", type="regular", amount=1, unit="hours"),
        in_app("{{steps.digest.eventCount}}"),
    )
    for key in ("ada", "bob"):
        await world.trigger(key)
    await world.work()
    await world.work(after=2 * HOUR)
    world.clock.move(35 * DAY)
    await world.trigger("bob")
    await delete_old(database, world.clock)
    await world.work()
    remembered = await count(world, database, "digest_windows", "throttle_passes")
    feed = await world.feed("bob")
    world.clock.move(60 * DAY)
    await delete_old(database, world.clock)

    assert remembered == {"digest_windows": 2, "throttle_passes": 2}
    assert feed == ["1"], "the throttle still counts the first run"
    assert await count(world, database, "digest_windows", "throttle_passes", "digest_events") == {
        "digest_windows": 0,
        "throttle_passes": 0,
        "digest_events": 0,
    }
