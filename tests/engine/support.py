"""Running the engine in tests: by hand, to the end of what is due, on a clock that stands."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import httpx

from clarion.clock import ManualClock
from clarion.db.port import Connection, Row
from clarion.db.query import Query
from clarion.engine.worker import Engine
from clarion.jobs.lanes import ALL_LANES, LANES, LaneSet
from tests.support import Api


class World:
    """An environment with an engine that works when told to."""

    def __init__(self, api: Api, engine: Engine, clock: ManualClock) -> None:
        self.api = api
        self.engine = engine
        self.clock = clock

    async def make_workflow(self, *steps: dict[str, Any], key: str = "welcome", **fields: Any) -> dict[str, Any]:
        body = {"name": key.title(), "workflowId": key, "steps": list(steps), "active": True, **fields}
        response = await self.api.post("/v2/workflows", json=body)
        assert response.status_code == 201, response.text
        made: dict[str, Any] = response.json()
        return made

    async def trigger(self, to: Any = "ada", *, name: str = "welcome", **fields: Any) -> dict[str, Any]:
        response = await self.post(to, name=name, **fields)
        assert response.status_code == 201, response.text
        answer: dict[str, Any] = response.json()
        return answer

    async def post(self, to: Any = "ada", *, name: str = "welcome", **fields: Any) -> httpx.Response:
        return await self.api.post("/v1/events/trigger", json={"name": name, "to": to, **fields})

    async def set_timezone(self, name: str) -> None:
        """Set the default time zone of the environment."""
        me = (await self.api.get("/v1/environments/me")).json()
        response = await self.api.patch(f"/v1/environments/{me['_id']}", json={"timezone": name})
        assert response.status_code == 200, response.text

    async def set_schedule(self, **days: list[tuple[str, str]]) -> None:
        """Set the hours of the week in which Ada wants messages; days that are not given have none."""
        week = {
            day: {"isEnabled": True, "hours": [{"start": start, "end": end} for start, end in hours]}
            for day, hours in days.items()
        }
        body = {"schedule": {"isEnabled": True, "weeklySchedule": week}}
        response = await self.api.patch("/v2/subscribers/ada/preferences", json=body)
        assert response.status_code == 200, response.text

    async def work(self, *, after: int = 0) -> None:
        """Let time pass, then do everything that is due."""
        self.clock.move(after)
        await self.engine.drain()

    async def work_by_turns(self) -> None:
        """Do everything that is due like two workers that have half of the lanes each."""
        halves = [LaneSet.of(range(0, LANES, 2)), LaneSet.of(range(1, LANES, 2))]
        for lanes in [*halves, *halves, ALL_LANES]:
            self.engine.membership.lanes = lanes
            await self.engine.drain()

    async def feed(self, key: str = "ada") -> list[str]:
        """What the person sees in-app, oldest first."""
        response = await self.api.get(f"/v1/subscribers/{key}/notifications/feed?limit=100")
        return [item["content"] for item in reversed(response.json()["data"])] if response.status_code == 200 else []

    async def events(self, **query: Any) -> list[dict[str, Any]]:
        """The runs, oldest first."""
        response = await self.api.get("/v1/notifications", params={"limit": 50, **query})
        return list(reversed(response.json()["data"]))

    async def statuses(self, **query: Any) -> list[list[str]]:
        """The status of every job of every run, oldest run first."""
        return [[job["status"] for job in event["jobs"]] for event in await self.events(**query)]

    async def messages(self, **query: Any) -> list[dict[str, Any]]:
        response = await self.api.get("/v1/messages", params={"limit": 100, **query})
        return list(reversed(response.json()["data"]))


_OF_THE_STEP: tuple[str, ...] = ("filters", "shouldStopOnFail", "variants", "active")


def in_app(body: str = "Hello {{payload.name}}", **controls: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"name": "Inbox", "type": "in_app"}
    made |= {name: controls.pop(name) for name in _OF_THE_STEP if name in controls}
    return made | {"controlValues": {"body": body, **controls}}


def step(kind: str, name: str | None = None, **controls: Any) -> dict[str, Any]:
    return {"name": name or kind.title(), "type": kind, "controlValues": controls}


def details(job: dict[str, Any]) -> list[str]:
    return [one["detail"] for one in job["executionDetails"]]


class Interrupted:
    """A connection on which something happens just before a query, once."""

    def __init__(self, db: Connection, actions: dict[Query, Callable[[Connection], Awaitable[None]]]) -> None:
        self._db, self.actions = db, actions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    async def fetch(self, query: Query, **parameters: Any) -> Sequence[Row]:
        action = self.actions.pop(query, None)
        if action is not None:
            await action(self._db)
        return await self._db.fetch(query, **parameters)
