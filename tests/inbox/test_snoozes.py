"""Snoozes end at their moment and once, and arrivals are announced to those who are connected; on both databases."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from clarion.app import Application
from clarion.background import Supervisor
from clarion.bus import Bus, InboxChange
from clarion.clock import HOUR, ManualClock, Millis, SystemClock, iso_text
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.engine.worker import Engine
from clarion.ids import EnvironmentId
from clarion.inbox.snoozes import FIND_NEXT_WAKE, Waker
from clarion.providers.sending.gateway import ProviderGateway
from clarion.vault import Vault
from clarion.vocabulary import Severity
from tests.engine.conftest import logged_errors
from tests.engine.support import World, in_app
from tests.plans import explain
from tests.records import NOW, MadeMessage, make_message, make_subscriber
from tests.support import Api

__all__ = ["logged_errors"]

LATER = Millis(NOW + HOUR)


class SnoozingWorld(World):
    """A world in which snoozes end."""

    waker: Waker

    async def work(self, *, after: int = 0) -> None:
        self.clock.move(after)
        while await self.waker.work():
            pass
        await super().work()


@pytest.fixture
def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> World:
    bus = application.services.bus
    made = SnoozingWorld(api, Engine(database, clock=clock, vault=vault, bus=bus, gateway=gateway), clock)
    made.waker = Waker(database, clock=clock, bus=bus)
    return made


class Listener:
    """Everything that is announced, and which environments are watched."""

    def __init__(self, bus: Bus) -> None:
        self.changes: list[InboxChange] = []
        self.is_on = True
        bus.is_watched = self.is_watched
        bus.listen_to_inboxes(self.listen)

    def is_watched(self, _: EnvironmentId) -> bool:
        return self.is_on

    def listen(self, changes: Sequence[InboxChange]) -> None:
        self.changes.extend(changes)

    @property
    def arrived(self) -> list[bytes]:
        return [message_id for one in self.changes for message_id in one.arrived]


@pytest.fixture
def listener(application: Application) -> Listener:
    return Listener(application.services.bus)


async def snooze(world: World, message: MadeMessage, until: Millis = LATER) -> dict[str, Any]:
    path = f"/v2/subscribers/ada/notifications/{message.text}/snooze"
    answer = await world.api.patch(path, json={"snoozeUntil": iso_text(until)})
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


async def notifications(world: World, query: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await world.api.get(f"/v2/subscribers/ada/notifications?{query}")).json()["data"]
    return found


async def test_a_message_comes_back_at_its_moment_as_new_and_unread(
    world: World, database: Database, listener: Listener
) -> None:
    first = await make_message(database, world.api.environment, severity=Severity.HIGH, delivered_at=f"[{NOW}]")
    second = await make_message(database, world.api.environment)
    await world.api.patch(f"/v2/subscribers/ada/notifications/{first.text}/read")
    await snooze(world, first)
    listener.changes.clear()

    await world.work(after=HOUR - 1)
    assert [one["id"] for one in await notifications(world, "snoozed=false")] == [second.text]
    assert listener.changes == []
    await world.work(after=1)

    back, _ = await notifications(world, "read=false&snoozed=false")
    assert (back["id"], back["createdAt"], back["readAt"]) == (first.text, iso_text(LATER), None)
    assert (back["isRead"], back["isSnoozed"], back["snoozedUntil"]) == (False, False, None)
    assert back["deliveredAt"] == [iso_text(NOW), iso_text(LATER)]
    owner = first.job.notification.subscriber
    change = InboxChange(environment_id=owner.environment_id, subscriber_id=owner.id, arrived=(first.id,))
    assert listener.changes == [change]
    await world.work(after=HOUR)
    assert listener.changes == [change]


async def test_a_message_that_came_back_is_on_top_and_pages_go_on_behind_it(world: World, database: Database) -> None:
    made = [await make_message(database, world.api.environment) for _ in range(4)]
    await snooze(world, made[1])
    await world.work(after=HOUR)

    order = [made[1].text, made[3].text, made[2].text, made[0].text]
    assert [one["id"] for one in await notifications(world)] == order
    assert [one["id"] for one in await notifications(world, f"after={made[1].text}&limit=2")] == order[1:3]
    feed = (await world.api.get("/v1/subscribers/ada/notifications/feed")).json()["data"]
    assert [one["_id"] for one in feed] == order


async def test_what_was_unsnoozed_archived_or_deleted_does_not_come_back(
    world: World, database: Database, listener: Listener
) -> None:
    made = [await make_message(database, world.api.environment) for _ in range(4)]
    for message in made:
        await snooze(world, message)
    path = "/v2/subscribers/ada/notifications"
    await world.api.patch(f"{path}/{made[0].text}/unsnooze")
    await world.api.patch(f"{path}/{made[1].text}/archive")
    await world.api.delete(f"{path}/{made[2].text}")
    await snooze(world, made[3], Millis(LATER + HOUR))
    await world.work(after=HOUR)
    assert listener.arrived == []

    await world.work(after=HOUR)

    assert listener.arrived == [made[3].id]


async def test_several_workers_bring_each_message_back_once_also_after_downtime(
    world: World, database: Database, listener: Listener, application: Application, clock: ManualClock
) -> None:
    ada = await make_subscriber(database, world.api.environment)
    first = await make_message(database, world.api.environment, subscriber=ada, snoozed_until=LATER)
    made = [first]
    for number in range(229):
        until = Millis(LATER + number)
        made.append(await make_message(database, world.api.environment, job=first.job, snoozed_until=until))
    clock.move(3 * HOUR)
    wakers = [Waker(database, clock=clock, bus=application.services.bus) for _ in range(3)]

    while any(await asyncio.gather(*[one.work() for one in wakers])):
        pass

    assert sorted(listener.arrived) == sorted(one.id for one in made)
    found = await notifications(world, "limit=100")
    assert {tuple(one["deliveredAt"]) for one in found} == {(iso_text(NOW), iso_text(clock.now()))}


async def test_the_event_of_a_message_that_came_back_is_sent(world: World, database: Database) -> None:
    # No server listens on the port.
    body = {"url": "http://127.0.0.1:9/", "eventTypes": ["message.snoozed", "message.unsnoozed"]}
    endpoint = (await world.api.post("/v1/webhooks/endpoints", json=body)).json()
    await snooze(world, await make_message(database, world.api.environment))
    await world.work(after=HOUR)

    path = f"/v1/webhooks/endpoints/{endpoint['_id']}/deliveries"
    assert sorted(one["type"] for one in (await world.api.get(path)).json()["data"]) == [
        "message.snoozed",
        "message.unsnoozed",
    ]


class CountingDatabase:
    """Counts the reads of a database."""

    def __init__(self, database: Database) -> None:
        self.reads = 0
        self._database = database

    async def read(self, work: Any) -> Any:
        self.reads += 1
        return await self._database.read(work)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


async def test_a_waker_looks_once_however_much_work_is_announced_and_wakes_at_the_moment(
    world: World, database: Database, listener: Listener, application: Application
) -> None:
    clock, counting = SystemClock(), CountingDatabase(database)
    message = await make_message(
        database, world.api.environment, snoozed_until=Millis(clock.now() + 300), now=clock.now()
    )
    waker = Waker(counting, clock=clock, bus=application.services.bus)
    task = asyncio.create_task(Supervisor().run([waker.make_service()]))
    while not listener.arrived:
        waker.wake()
        await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.wait([task])

    assert listener.arrived == [message.id]
    # At the start and at the moment, which may be looked at twice if a timer was early.
    assert counting.reads <= 4


async def test_the_next_moment_is_found_by_an_index(database: Database) -> None:
    plan = await explain(database, FIND_NEXT_WAKE)

    assert "messages_wake" in plan
    assert "Sort" not in plan
    assert "B-TREE" not in plan


async def test_new_messages_are_announced_to_environments_that_are_watched(world: World, listener: Listener) -> None:
    await world.make_workflow(in_app("one"), in_app("two"))
    await world.trigger(["ada", "ben"])
    await world.work()

    assert len(listener.changes) == 2
    assert [len(one.arrived) for one in listener.changes] == [2, 2]
    stored = {one["_id"] for one in await world.messages()}
    assert len(stored) == len(set(listener.arrived)) == 4
    shown = [one["body"] for one in await notifications(world)]
    assert shown == ["two", "one"]

    listener.changes.clear()
    listener.is_on = False
    await world.trigger("ada")
    await world.work()
    assert listener.changes == []


async def test_messages_of_a_unit_that_failed_are_announced_when_they_are_made_alone(
    world: World, listener: Listener, database: Database, logged_errors: Any
) -> None:
    await world.make_workflow(in_app("fine"))
    await world.make_workflow(in_app("bad"), key="poison")
    await world.trigger("ada")
    await world.trigger("ben", name="poison")
    await spoil(database, world)
    await world.work()

    assert len(logged_errors()) >= 1
    assert len(listener.arrived) == 1
    assert await world.feed() == ["fine"]


async def spoil(database: Database, world: World) -> None:
    """Make the trigger for Ben one that cannot be decoded."""

    async def work(db: Connection) -> None:
        await db.execute(
            sql("""
                UPDATE triggers SET recipients = '{"nothing": 1' WHERE environment_id = :environment_id
                AND workflow_id = (SELECT id FROM workflows WHERE environment_id = :environment_id AND key = 'poison')
            """),
            environment_id=world.api.environment.id,
        )

    await database.transaction(work)


async def test_markup_reaches_the_inbox_only_where_the_step_allows_it(world: World) -> None:
    link = {"label": "{{payload.text}}", "redirect": {"url": "{{payload.url}}", "target": "_self"}}
    controls: dict[str, Any] = {"subject": "{{payload.text}}", "primaryAction": link, "redirect": link["redirect"]}
    await world.make_workflow(
        in_app("{{payload.text}}", **controls),
        in_app("{{payload.text}}", **controls, disableOutputSanitization=True),
    )
    text = 'a<script>alert(1)</script><img src="x" onerror="alert(1)">'
    await world.trigger("ada", payload={"text": text, "url": "javascript:alert(1)"})
    await world.work()

    raw, clean = await notifications(world)
    for shown in (clean["body"], clean["subject"], clean["primaryAction"]["label"]):
        assert "script" not in shown
        assert "onerror" not in shown
    assert raw["body"] == text
    assert not any("redirect" in one or "redirect" in one["primaryAction"] for one in (raw, clean))
