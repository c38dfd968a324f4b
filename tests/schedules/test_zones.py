"""Schedules in the time zones of people trigger once for each zone."""

from typing import Any

import pytest

from clarion.db.port import Database
from clarion.schedules.firing import fire_due
from tests.schedules.support import PEOPLE, ScheduledWorld, list_feeds, list_transactions, make_people
from tests.segments.support import make_segment


async def test_the_rest_of_a_large_catch_up_comes_in_further_units(world: ScheduledWorld, database: Database) -> None:
    await world.begin("2026-01-02T12:00Z", timezone="subscriber", catchUp="all", to={"type": "Everyone"})
    for ahead in range(11):
        await world.api.post("/v2/subscribers", json={"subscriberId": f"p{ahead}", "timezone": f"Etc/GMT-{ahead}"})
    await world.patch(cron="0 0,3,6,9,12,15,18,21 * * *")

    world.move_to("2026-01-20T12:00Z")
    first = await database.transaction(lambda db: fire_due(db, world.world.clock.now()))
    await world.work()

    runs = await world.list_runs()
    # Ten of each zone, and of the people without one: whole moments in each unit.
    assert 100 <= first.triggers < 120
    assert len({(run["moment"], run.get("timezone")) for run in runs}) == len(runs) == 100
    assert len(await list_transactions(database, world.api)) == 120


async def test_it_triggers_once_for_each_zone_of_its_people(world: ScheduledWorld) -> None:
    await world.begin(
        "2026-01-01T15:00Z", timezone="subscriber", fallbackTimezone="America/New_York", to={"type": "Everyone"}
    )
    await make_people(world)

    feeds = []
    for moment in ("2026-01-02T00:00Z", "2026-01-02T08:00Z", "2026-01-02T14:00Z", "2026-01-02T23:00Z"):
        await world.work(moment)
        feeds.append(await list_feeds(world))

    assert feeds == [[0, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]]
    assert await world.list_moments() == [
        "2026-01-02T00:00 Asia/Tokyo",
        "2026-01-02T08:00 Europe/Berlin",
        "2026-01-02T14:00",
    ]
    assert [run["people"] for run in await world.list_runs()] == [2, 1, 1]


async def test_a_zone_that_was_new_yesterday_is_not_late(world: ScheduledWorld) -> None:
    await world.begin("2026-01-01T12:00Z", timezone="subscriber", to={"type": "Everyone"})
    await world.work("2026-01-01T12:30Z")
    body = {"subscriberId": "ram", "timezone": "Asia/Kathmandu"}
    await world.api.post("/v2/subscribers", json=body)

    await world.work("2026-01-02T03:14Z")
    before = await world.list_moments()
    await world.work("2026-01-02T03:15Z")

    assert before == []
    assert await world.list_moments() == ["2026-01-02T03:15 Asia/Kathmandu"]


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        (["ada", "bob", "joe", "new"], [1, 1, 0, 1]),
        ({"topicKey": "news"}, [1, 1, 1, 1]),
        ({"topicKey": "news", "exclude": ["bob"]}, [1, 0, 1, 1]),
        ({"segmentKey": "gold"}, [0, 0, 1, 0]),
        ({"segmentKey": "all"}, [1, 1, 1, 1]),
        (["eve", {"topicKey": "news"}, {"segmentKey": "gold"}], [1, 1, 1, 1]),
    ],
)
async def test_everybody_gets_it_once_in_their_zone(world: ScheduledWorld, to: Any, expected: list[int]) -> None:
    await make_people(world)
    await world.api.post("/v2/topics/news/subscriptions", json={"subscriberIds": list(PEOPLE)})
    await make_segment(world.api)
    await make_segment(world.api, True, key="all")
    await world.begin("2026-01-01T12:00Z", timezone="subscriber", to=to)

    feeds = []
    for moment in ("2026-01-02T00:00Z", "2026-01-02T08:00Z", "2026-01-02T09:00Z", "2026-01-02T20:00Z"):
        await world.work(moment)
        feeds.append(await list_feeds(world))

    ada, bob, eve, joe = expected
    assert feeds[0] == [0, bob, eve, 0]
    assert feeds[1] == [ada, bob, eve, 0]
    assert feeds[2] == feeds[3] == [ada, bob, eve, joe]


@pytest.mark.parametrize(
    ("to", "counts"),
    [
        ({"type": "Everyone"}, {"Asia/Tokyo": 2, "Europe/Berlin": 1, None: 1}),
        (["ada", "new", {"topicKey": "news", "exclude": ["bob"]}], {"Asia/Tokyo": 1, "Europe/Berlin": 1, None: 2}),
        (["eve", {"segmentKey": "gold"}], {"Asia/Tokyo": 1}),
    ],
)
async def test_the_preview_tells_who_would_get_it_when(world: ScheduledWorld, to: Any, counts: dict[Any, int]) -> None:
    await make_people(world)
    await world.api.post("/v2/topics/news/subscriptions", json={"subscriberIds": list(PEOPLE)})
    await make_segment(world.api)
    await world.begin("2026-01-01T12:00Z", timezone="subscriber", to=to)

    own = (await world.api.get("/v1/schedules/daily/preview")).json()
    await world.patch(timezone="Europe/Berlin")
    fixed = (await world.api.get("/v1/schedules/daily/preview")).json()
    await world.patch(paused=True)
    paused = (await world.api.get("/v1/schedules/daily/preview")).json()

    assert own["isWhole"]
    assert {zone.get("timezone"): zone["people"] for zone in own["zones"]} == counts
    assert own["zones"][0] == {
        "timezone": "Asia/Tokyo",
        "at": "2026-01-02T00:00:00.000Z",
        "local": "2026-01-02T09:00",
        "people": counts["Asia/Tokyo"],
    }
    assert fixed["zones"] == [
        {"at": "2026-01-02T08:00:00.000Z", "local": "2026-01-02T09:00", "people": sum(counts.values())}
    ]
    assert paused["zones"] == []


async def test_named_people_alone_make_no_triggers_for_other_zones(world: ScheduledWorld) -> None:
    await make_people(world)
    await world.begin("2026-01-01T12:00Z", timezone="subscriber", to=["bob", "eve"])

    for hour in range(13, 24 + 13):
        await world.work(f"2026-01-0{1 + hour // 24}T{hour % 24:02}:00Z")

    assert await world.list_moments() == ["2026-01-02T00:00 Asia/Tokyo"]
    assert [run["people"] for run in await world.list_runs()] == [2]


async def test_explain_tells_of_the_time_zone(world: ScheduledWorld) -> None:
    await make_people(world)
    await world.begin("2026-01-01T12:00Z", timezone="subscriber", to={"type": "Everyone"})
    await world.work("2026-01-02T00:00Z")
    (run,) = await world.list_runs()

    query = {"transactionId": run["transactionId"], "subscriberId": "ada"}
    absent = (await world.api.get("/v1/explain", params=query)).json()
    reached = (await world.api.get("/v1/explain", params={**query, "subscriberId": "bob"})).json()

    assert "is for people in the time zone Asia/Tokyo, and 'ada' has Europe/Berlin" in str(absent)
    assert "Europe/Berlin" not in str(reached)
