"""Schedules trigger their workflow at their moments, each once."""

import asyncio

import pytest

from clarion.clock import MINUTE
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.environments.deletion import delete_environment
from clarion.jsontext import json_text
from clarion.schedules.firing import ScheduleService, fire_due
from clarion.schedules.store import CLAIM_DUE, FIND_NEXT_DUE, LIST_ZONES
from tests.engine.test_erasure import erase
from tests.plans import explain
from tests.schedules.support import ScheduledWorld, list_transactions, make_people, make_schedule

SET_RULE = sql("UPDATE schedules SET timing = :timing WHERE environment_id = :environment_id AND key = :key")


async def test_it_triggers_at_its_moment_and_not_before(world: ScheduledWorld) -> None:
    await world.begin("2026-01-01T08:00Z", payload={"name": "you"})

    await world.work("2026-01-01T08:59:59Z")
    before = await world.list_moments()
    await world.work("2026-01-01T09:00Z")
    (run,) = await world.list_runs()
    await world.work("2026-01-01T09:01Z")

    assert before == []
    assert run == {
        "moment": "2026-01-01T09:00:00.000Z",
        "at": "2026-01-01T09:00:00.000Z",
        "transactionId": run["transactionId"],
        "people": 1,
        "peopleCapped": False,
    }
    assert len(await world.list_runs()) == 1
    assert await world.world.feed() == ["Hello"]
    assert (await world.api.get("/v1/schedules/daily")).json()["lastRun"]["transactionId"] == run["transactionId"]


async def test_summer_time_does_not_change_the_local_time(world: ScheduledWorld) -> None:
    await world.begin("2026-03-28T00:00Z", timezone="Europe/Berlin", cron="30 2 * * *")

    for moment in ("2026-03-28T01:30Z", "2026-03-29T01:29Z", "2026-03-29T01:30Z", "2026-03-30T00:30Z"):
        await world.work(moment)

    assert await world.list_moments() == ["2026-03-28T01:30", "2026-03-29T01:30", "2026-03-30T00:30"]


async def test_an_hour_that_comes_twice_counts_once(world: ScheduledWorld) -> None:
    await world.begin("2026-10-24T12:00Z", timezone="Europe/Berlin", cron="30 2 * * *")

    for moment in ("2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-10-25T02:30Z", "2026-10-26T01:30Z"):
        await world.work(moment)

    assert await world.list_moments() == ["2026-10-25T00:30", "2026-10-26T01:30"]


@pytest.mark.parametrize(
    ("catch_up", "expected"),
    [
        ("one", ["2026-01-05T09:00"]),
        ("none", []),
        ("all", ["2026-01-03T09:00", "2026-01-04T09:00", "2026-01-05T09:00"]),
    ],
)
async def test_after_three_days_of_downtime(world: ScheduledWorld, catch_up: str, expected: list[str]) -> None:
    await world.begin("2026-01-02T12:00Z", catchUp=catch_up)

    await world.work("2026-01-05T12:00Z")
    caught_up = await world.list_moments()
    await world.work("2026-01-06T09:00Z")

    assert caught_up == expected
    assert await world.list_moments() == [*expected, "2026-01-06T09:00"]
    assert len(await world.world.feed()) == len(expected) + 1


async def test_a_run_says_why_nothing_was_triggered(world: ScheduledWorld) -> None:
    await world.begin("2026-01-01T12:00Z", to=[{"topicKey": "news"}])
    workflows = (await world.api.get("/v2/workflows")).json()["workflows"]
    path = f"/v2/workflows/{workflows[0]['_id']}"

    await world.work("2026-01-02T09:00Z")
    await world.api.patch(path, json={"active": False})
    await world.work("2026-01-03T09:00Z")
    await world.api.delete(path)
    await world.work("2026-01-04T09:00Z")

    troubles = [(run.get("transactionId") is not None, run["trouble"]) for run in await world.list_runs()]
    assert troubles == [
        (True, "Topic 'news' does not exist in this environment"),
        (False, "The workflow was not active"),
        (False, "name: Workflow 'welcome' does not exist in this environment"),
    ]
    assert (await world.api.get("/v1/schedules/daily")).json()["status"] == "active"


async def test_what_passes_during_a_pause_is_not_made_up_for(world: ScheduledWorld) -> None:
    await world.begin("2026-01-01T12:00Z", catchUp="all")
    await world.patch(paused=True)
    await world.work("2026-01-03T12:00Z")
    await world.patch(paused=False)

    await world.work()
    await world.work("2026-01-04T09:00Z")

    assert await world.list_moments() == ["2026-01-04T09:00"]


async def test_other_times_hold_from_now_on(world: ScheduledWorld) -> None:
    await world.begin("2026-01-01T08:00Z", catchUp="all")
    world.move_to("2026-01-01T12:00Z")
    await world.patch(cron="0 7 * * *")

    await world.work()
    await world.work("2026-01-02T09:00Z")

    assert await world.list_moments() == ["2026-01-02T07:00"]


async def test_a_change_of_anything_else_loses_no_moment(world: ScheduledWorld) -> None:
    await world.begin("2026-01-01T08:00Z")
    world.move_to("2026-01-01T09:00:30Z")
    await world.patch(name="Other")

    await world.work()

    assert await world.list_moments() == ["2026-01-01T09:00"]


async def test_it_ends_behind_its_last_moment(world: ScheduledWorld) -> None:
    await world.begin("2026-01-01T08:00Z", until="2026-01-02T09:00:00Z")

    await world.work("2026-01-01T09:00Z")
    before = (await world.api.get("/v1/schedules/daily")).json()["status"]
    await world.work("2026-01-02T09:00Z")
    await world.work("2026-01-03T09:00Z")

    after = (await world.api.get("/v1/schedules/daily")).json()
    assert (before, after["status"], after["nextMoments"]) == ("active", "ended", [])
    assert len(await world.list_moments()) == 2


async def test_several_workers_trigger_each_moment_once(world: ScheduledWorld, database: Database) -> None:
    await world.begin("2026-01-01T08:00Z", catchUp="all", cron="* * * * *")
    for number in range(8):
        await make_schedule(world.api, identifier=f"s{number}", catchUp="all", cron="* * * * *")
    world.move_to("2026-01-01T08:30:30Z")
    now = world.world.clock.now()

    async def fire() -> int:
        return (await database.transaction(lambda db: fire_due(db, now, limit=2))).triggers

    fired = sum(await asyncio.gather(*(fire() for _ in range(8))))
    await world.work()

    assert fired <= 270
    assert len(await list_transactions(database, world.api)) == 270
    assert len(await world.list_moments("s7")) == 30


async def test_a_clock_that_goes_back_repeats_nothing(world: ScheduledWorld, database: Database) -> None:
    await world.begin("2026-01-01T08:00Z", cron="* * * * *")
    await world.work("2026-01-01T08:03:30Z")

    world.move_to("2026-01-01T08:01:30Z")
    await world.patch(name="Other")
    await world.work()
    await world.work("2026-01-01T08:04:30Z")

    assert [one[-5:] for one in await world.list_moments()] == ["08:01", "08:02", "08:03", "08:04"]
    assert len(await list_transactions(database, world.api)) == 4


async def test_only_the_last_runs_are_kept(world: ScheduledWorld, database: Database) -> None:
    await world.begin("2026-01-01T00:00Z", cron="* * * * *", catchUp="all")
    for hour in (2, 4, 6):
        await world.work(f"2026-01-01T{hour:02}:00Z")

    count = sql("SELECT count(*) AS n FROM schedule_runs WHERE environment_id = :environment_id")
    row = await database.read(lambda db: db.fetch_one(count, environment_id=world.api.environment.id))
    assert row is not None
    assert row["n"] == 200


async def test_one_that_fails_does_not_stop_the_others(
    world: ScheduledWorld, database: Database, service: ScheduleService
) -> None:
    await world.begin("2026-01-01T08:00Z")
    await make_schedule(world.api, identifier="other", cron="1 9 * * *")
    zones = {"timezone": "UTC", "fallback_timezone": "UTC"}
    broken = json_text({"cron": "x", "rrule": None, **zones, "starts_at": None, "ends_at": None, "anchor": 0})
    scope = {"environment_id": world.api.environment.id, "key": "daily"}
    await database.transaction(lambda db: db.execute(SET_RULE, **scope, timing=broken))
    world.move_to("2026-01-01T09:02Z")

    for _ in range(2):
        with pytest.raises(IndexError):
            await service.work()
    await world.work()

    assert await world.list_moments("other") == ["2026-01-01T09:01"]


async def test_a_deleted_environment_triggers_nothing(world: ScheduledWorld, database: Database) -> None:
    await world.begin("2026-01-01T08:00Z")
    environment = world.api.environment
    await database.transaction(lambda db: delete_environment(db, environment, world.world.clock.now()))
    world.move_to("2026-01-01T09:00Z")

    assert not await world.service.work()
    assert await list_transactions(database, world.api) == []


async def test_a_person_who_is_erased_is_taken_out_of_it(world: ScheduledWorld) -> None:
    await make_people(world)
    await world.begin("2026-01-01T08:00Z", to=["ada", "bob", {"topicKey": "news", "exclude": ["ada"]}])
    await make_schedule(world.api, identifier="alone", to="ada", payload={"code": "sesame"})
    await erase(world.world)

    shared = (await world.api.get("/v1/schedules/daily")).json()
    alone = (await world.api.get("/v1/schedules/alone")).json()
    await world.work("2026-01-01T09:00Z")
    resumed = await world.api.patch("/v1/schedules/alone", json={"cron": "0 10 * * *"})

    assert shared["to"] == ["bob", {"type": "Topic", "topicKey": "news"}]
    assert (alone["to"], alone["payload"], alone["status"]) == ([], {}, "ended")
    assert await world.list_moments("alone") == []
    assert "names nobody any more" in resumed.text
    assert (await world.api.patch("/v1/schedules/alone", json={"to": "bob"})).json()["status"] == "active"


async def test_the_next_moment_is_found_by_an_index(database: Database) -> None:
    next_due = await explain(database, FIND_NEXT_DUE, postponed=[bytes(16)])
    due = await explain(database, CLAIM_DUE, now=0, postponed=[bytes(16)], limit=20)
    zones = await explain(database, LIST_ZONES, environment_id=bytes(16))

    for plan in (next_due, due):
        assert "schedules_due" in plan
        assert "TEMP B-TREE" not in plan
    assert "subscribers_timezone" in zones


async def test_the_next_look_is_at_the_next_moment(world: ScheduledWorld, service: ScheduleService) -> None:
    await world.begin("2026-01-01T08:00Z")

    assert not await service.work()

    assert service.next_at is not None
    assert service.next_at - world.world.clock.now() <= 60 * MINUTE
