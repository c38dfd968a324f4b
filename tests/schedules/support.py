"""Schedules of tests."""

from typing import Any

from clarion.db.port import Database
from clarion.db.query import sql
from clarion.schedules.firing import ScheduleService
from tests.engine.support import World, in_app
from tests.support import Api
from tests.times.test_spans import at

SCHEDULE = {"identifier": "daily", "name": "Daily", "workflowId": "welcome", "to": "ada", "cron": "0 9 * * *"}
PEOPLE: dict[str, dict[str, Any]] = {
    "ada": {"timezone": "Europe/Berlin"},
    "bob": {"timezone": "Asia/Tokyo"},
    "eve": {"timezone": "Asia/Tokyo", "data": {"plan": "gold"}},
    "joe": {},
}
LIST_TRIGGERS = sql("""
    SELECT transaction_key, recipients FROM triggers WHERE environment_id = :environment_id ORDER BY transaction_key
""")


async def make_schedule(api: Api, **fields: Any) -> dict[str, Any]:
    response = await api.post("/v1/schedules", json={**SCHEDULE, **fields})
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


class ScheduledWorld:
    """An environment with an engine and the service of schedules, which work when told to."""

    def __init__(self, world: World, service: ScheduleService) -> None:
        self.world = world
        self.api = world.api
        self.service = service

    async def begin(self, moment: str, **fields: Any) -> None:
        """Make a workflow and a schedule at a moment."""
        await self.world.make_workflow(in_app("Hello"))
        self.move_to(moment)
        await make_schedule(self.api, **fields)

    def move_to(self, moment: str) -> None:
        clock = self.world.clock
        clock.move(at(moment) - clock.now())

    async def work(self, moment: str | None = None) -> None:
        """Do what is due, at a moment."""
        if moment is not None:
            self.move_to(moment)
        while await self.service.work():
            pass
        await self.world.engine.drain()

    async def list_runs(self, key: str = "daily") -> list[dict[str, Any]]:
        """What the schedule did, oldest first."""
        response = await self.api.get(f"/v1/schedules/{key}/runs", params={"limit": 100})
        assert response.status_code == 200, response.text
        return list(reversed(response.json()["data"]))

    async def list_moments(self, key: str = "daily") -> list[str]:
        """The moments at which the schedule triggered, with the zone if there is one."""
        runs = await self.list_runs(key)
        return [" ".join((run["moment"][:16], *([run["timezone"]] if "timezone" in run else []))) for run in runs]

    async def patch(self, **fields: Any) -> dict[str, Any]:
        response = await self.api.patch("/v1/schedules/daily", json=fields)
        assert response.status_code == 200, response.text
        changed: dict[str, Any] = response.json()
        return changed


async def list_transactions(database: Database, api: Api) -> list[str]:
    rows = await database.read(lambda db: db.fetch(LIST_TRIGGERS, environment_id=api.environment.id))
    return [row["transaction_key"] for row in rows]


async def make_people(world: ScheduledWorld) -> None:
    for key, fields in PEOPLE.items():
        response = await world.api.post("/v2/subscribers", json={"subscriberId": key, **fields})
        assert response.status_code == 201


async def list_feeds(world: ScheduledWorld) -> list[int]:
    """How many messages each of the people has."""
    return [len(await world.world.feed(key)) for key in PEOPLE]
