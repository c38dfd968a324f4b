"""Several engines on one store, and a model of what they may do together."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from msgspec import Struct

from clarion.clock import HOUR, Millis
from clarion.db.port import Connection, Database
from clarion.db.postgres.database import PostgresDatabase
from clarion.db.query import sql
from clarion.engine.unit import run_unit
from clarion.engine.worker import Engine
from clarion.jobs.lanes import ALL_LANES, LANES, LaneSet
from tests.engine.support import World, in_app, step

PEOPLE = tuple(f"person-{number}" for number in range(8))
"""In several lanes, some of them in the same one."""
THRESHOLD = 2
MAX_ITEMS = 4
VIEWS: dict[str, Sequence[LaneSet]] = {
    "all for everyone": (ALL_LANES, ALL_LANES, ALL_LANES),
    "disjoint": (LaneSet.of(range(11)), LaneSet.of(range(11, 22)), LaneSet.of(range(22, LANES))),
    "overlapping": (LaneSet.of(range(20)), LaneSet.of(range(12, LANES)), ALL_LANES),
    "a gap": (LaneSet.of(range(0, LANES, 2)), LaneSet.of(range(0, LANES, 4)), LaneSet.of([0])),
}

_FAILS = {"==": [{"var": "payload.fails"}, True]}
_EVENTS = "{% for event in steps.digest.events %} {{event.payload.n}}{% endfor %}"
DIGEST_STEPS = (
    in_app("start {{payload.n}}"),
    in_app("{{ payload.n | divided_by: payload.zero }}", shouldStopOnFail=True, skip=_FAILS),
    step("digest", "Digest", type="regular", amount=10, unit="minutes"),
    in_app("digest" + _EVENTS),
)
LIMITED_STEPS = (
    *DIGEST_STEPS[:2],
    step(
        "digest",
        "Digest",
        type="regular",
        amount=10,
        unit="minutes",
        maxItems=MAX_ITEMS,
        slideUpTo={"amount": 20, "unit": "minutes"},
    ),
    in_app("full" + _EVENTS),
)
THROTTLE_STEPS = (
    step("throttle", type="fixed", amount=1, unit="hours", threshold=THRESHOLD),
    in_app("pass {{payload.n}}"),
)

LIST_RUNS = sql("""
    SELECT t.transaction_key, s.key FROM notifications AS n
    JOIN triggers AS t ON t.environment_id = n.environment_id AND t.id = n.trigger_id
    JOIN workflows AS w ON w.environment_id = n.environment_id AND w.id = n.workflow_id
    JOIN subscribers AS s ON s.environment_id = n.environment_id AND s.id = n.subscriber_id
    WHERE n.environment_id = :environment_id AND w.key {any:workflows}
""")
LIST_SHOWN = sql("""
    SELECT m.id, s.key, m.content, m.created_at FROM messages AS m
    JOIN subscribers AS s ON s.environment_id = m.environment_id AND s.id = m.subscriber_id
    JOIN workflows AS w ON w.environment_id = m.environment_id AND w.id = m.workflow_id
    WHERE m.environment_id = :environment_id AND w.key {any:workflows} ORDER BY m.id
""")


class Crash(Exception):
    """Stands for a process that dies before its commit."""


class Sent(Struct):
    """A trigger that was accepted."""

    number: int
    is_digest: bool
    people: Sequence[str]
    fails: bool = False
    is_canceled: bool = False
    shown_before: frozenset[bytes] = frozenset()
    """The messages that there were when the cancel returned."""


class Shown(Struct, frozen=True):
    """A message: its kind (start, digest or pass) and the numbers of the triggers that it tells."""

    id: bytes
    person: str
    kind: str
    numbers: Sequence[int]
    at: Millis


@asynccontextmanager
async def open_engines(world: World, database: Database, count: int, **parts: Any) -> AsyncIterator[list[Engine]]:
    """Engines with a pool of their own each; on SQLite they share the one writer."""
    if not isinstance(database, PostgresDatabase):
        yield [Engine(database, clock=world.clock, **parts) for _ in range(count)]
        return
    pools = [await PostgresDatabase.connect(database._url, pool_size=4) for _ in range(count)]
    yield [Engine(one, clock=world.clock, **parts) for one in pools]
    for pool in pools:
        await pool.close()


class Site:
    """The engines, two workflows, what was triggered, and what has to be true in the end."""

    def __init__(self, world: World, database: Database, engines: Sequence[Engine], name: str) -> None:
        self.world = world
        self.engines = engines
        self.sent: list[Sent] = []
        self._database = database
        self._name = name

    async def prepare(self, digest_steps: Sequence[dict[str, Any]] = DIGEST_STEPS) -> None:
        await self.world.make_workflow(*digest_steps, key=f"{self._name}-digest")
        await self.world.make_workflow(*THROTTLE_STEPS, key=f"{self._name}-throttle")
        members = {"subscriberIds": list(PEOPLE)}
        for key in PEOPLE:
            await self.world.api.post("/v2/subscribers", json={"subscriberId": key})
        await self.world.api.post("/v2/topics/everyone/subscriptions", json=members)

    def see(self, view: str) -> None:
        """Let the engines believe in these lanes."""
        for engine, lanes in zip(self.engines, VIEWS[view], strict=True):
            engine.membership.lanes = lanes

    async def trigger(self, people: Sequence[str], *, is_digest: bool, fails: bool = False) -> None:
        """For one person, several by name, or all of them as a topic."""
        sent = Sent(number=len(self.sent), is_digest=is_digest, people=people, fails=fails and is_digest)
        self.sent.append(sent)
        to: Any = [{"type": "Topic", "topicKey": "everyone"}] if set(people) == set(PEOPLE) else list(people)
        await self.world.trigger(
            to,
            name=f"{self._name}-{'digest' if is_digest else 'throttle'}",
            payload={"n": sent.number, "fails": sent.fails},
            transactionId=f"{self._name}-{sent.number}",
        )

    async def cancel(self, sent: Sent) -> None:
        await self.world.api.delete(f"/v1/events/trigger/{self._name}-{sent.number}")
        sent.shown_before |= {one.id for one in await self._list_shown()}
        sent.is_canceled = True

    async def work(self, places: Iterable[int]) -> None:
        """Let these engines work at the same time, until none finds anything."""
        await asyncio.gather(*(self.engines[place].drain() for place in places))

    async def crash(self, place: int) -> None:
        """A unit of work of one engine that does everything and is undone."""
        engine, environment = self.engines[place], self.world.api.environment.id

        async def die(db: Connection) -> None:
            await run_unit(db, environment, self.world.clock.now(), lanes=engine.membership.lanes, source=engine.source)
            raise Crash

        with suppress(Crash):
            await engine._database.transaction(die)

    async def finish(self) -> None:
        """Serve everyone and close every window."""
        self.see("all for everyone")
        places = range(len(self.engines))
        await self.work(places)
        self.world.clock.move(HOUR)
        await self.work(places)

    async def check(self) -> None:
        shown = await self._list_shown()
        await self._check_runs()
        for person in PEOPLE:
            own = [one for one in shown if one.person == person]
            self._check_starts(person, [one.numbers[0] for one in own if one.kind == "start"])
            self._check_windows(person, [one.numbers for one in own if one.kind in ("digest", "full")])
            assert all(len(one.numbers) <= MAX_ITEMS for one in own if one.kind == "full")
            _check_passes([one.at for one in own if one.kind == "pass"])
        for sent in self.sent:
            if sent.is_canceled:
                late = [one for one in shown if one.id not in sent.shown_before and sent.number in one.numbers]
                assert late == [], "shown after the cancel had returned"

    async def _check_runs(self) -> None:
        rows = await self._fetch(LIST_RUNS)
        runs = sorted((int(row["transaction_key"].rpartition("-")[2]), row["key"]) for row in rows)
        assert len(runs) == len(set(runs)), "a person has two runs of one trigger"
        wanted = {(sent.number, person) for sent in self.sent for person in sent.people}
        canceled = {(sent.number, person) for sent in self.sent if sent.is_canceled for person in sent.people}
        assert set(runs) | canceled == wanted | canceled
        assert set(runs) <= wanted

    def _check_starts(self, person: str, numbers: Sequence[int]) -> None:
        assert list(numbers) == sorted(numbers), "started in another order than triggered"
        assert set(numbers) >= {one.number for one in self._digested(person) if not one.is_canceled}

    def _check_windows(self, person: str, windows: Sequence[Sequence[int]]) -> None:
        told = [number for window in windows for number in window]
        assert len(told) == len(set(told)), "an event is in two windows"
        assert all(list(window) == sorted(window) for window in windows)
        tellable = [one for one in self._digested(person) if not one.fails]
        assert set(told) <= {one.number for one in tellable}
        assert set(told) >= {one.number for one in tellable if not one.is_canceled}

    def _digested(self, person: str) -> list[Sent]:
        return [one for one in self.sent if one.is_digest and person in one.people]

    async def _list_shown(self) -> list[Shown]:
        shown = []
        for row in await self._fetch(LIST_SHOWN):
            kind, *numbers = row["content"].split()
            shown.append(Shown(row["id"], row["key"], kind, [int(one) for one in numbers], row["created_at"]))
        return shown

    async def _fetch(self, query: Any) -> Sequence[Any]:
        scope = {
            "environment_id": self.world.api.environment.id,
            "workflows": [f"{self._name}-digest", f"{self._name}-throttle"],
        }
        return await self._database.read(lambda db: db.fetch(query, **scope))


def _check_passes(moments: Sequence[Millis]) -> None:
    for earlier, later in zip(moments, moments[THRESHOLD:], strict=False):
        assert later >= earlier + HOUR, "more passes than the throttle allows"
