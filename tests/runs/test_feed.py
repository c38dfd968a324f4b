"""What the reader of a stream finds and sends, look by look, on both databases."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from clarion.app import Application
from clarion.clock import MINUTE, SECOND, ManualClock, Millis
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.engine.worker import Engine
from clarion.errors import RateLimited, StoreUnavailable, Unauthenticated
from clarion.http.streams import (
    CHECK_SECONDS,
    MAX_LISTENERS_PER_CALLER,
    Broadcast,
    Broadcasts,
    StreamResponse,
    send_stream,
)
from clarion.providers.sending.gateway import ProviderGateway
from clarion.runs import changes, feed, listeners
from clarion.runs.feed import RunFeed
from clarion.runs.filters import read_filter
from clarion.runs.listeners import Chunk, RunListener
from clarion.runs.wire import RunFilterQuery
from clarion.vault import Vault
from clarion.vocabulary import RunStatus
from tests.engine.providers import ADA, EMAIL, account
from tests.engine.support import World, in_app, step
from tests.runs.events import Event, parse_events
from tests.support import Api

DELAY = step("delay", "Delay", type="regular", amount=5, unit="minutes")


@pytest.fixture
def world(
    api: Api, application: Application, database: Database, vault: Vault, gateway: ProviderGateway, clock: ManualClock
) -> World:
    bus = application.services.bus
    return World(api, Engine(database, clock=clock, vault=vault, bus=bus, gateway=gateway), clock)


class Watch:
    """A reader with listeners, which looks when told to."""

    def __init__(self, world: World, application: Application, database: Database) -> None:
        self.world, self._names, self._database = world, application.services.names, database
        self.feed = RunFeed(database, world.clock, self._names, world.api.environment.id)
        self.listeners: list[RunListener] = []

    async def listen(self, *, after: Millis | None = None, **query: Any) -> RunListener:
        await self.join(after=after, **query)
        await self.look()
        return self.listeners[-1]

    async def join(self, *, after: Millis | None = None, **query: Any) -> None:
        given = RunFilterQuery(**query)
        wanted = await self._database.read(
            lambda db: read_filter(db, self.world.api.environment.id, given, self._names)
        )
        self.listeners.append(RunListener(given, wanted, after=after))

    async def look(self) -> None:
        await self.feed.look(self.listeners)

    async def events(self, listener: RunListener) -> list[Event]:
        """What is new for a listener."""
        await self.look()
        return take(listener)


def take(listener: RunListener) -> list[Event]:
    data = b"".join(listener._chunks)
    listener._chunks.clear()
    listener._size = 0
    return list(parse_events(data.decode()))


def runs(events: list[Event]) -> list[tuple[str, str]]:
    return [(one.data["transactionId"], one.data["status"]) for one in events if one.name == "run"]


@pytest.fixture
def watch(world: World, application: Application, database: Database) -> Watch:
    return Watch(world, application, database)


async def test_each_listener_is_sent_the_runs_that_match_their_filter(watch: Watch, world: World) -> None:
    async with account(world, "a"):
        await world.make_workflow(in_app("Hi"), key="inbox")
        await world.make_workflow(EMAIL, key="mail")
        await world.trigger("bob", name="inbox", transactionId="before")
        await world.work()
        everything = await watch.listen()
        by_status = await watch.listen(status=(RunStatus.COMPLETED,))
        by_provider = await watch.listen(provider_id=("email-webhook",))
        by_person = await watch.listen(subscriber_id=("carl",))
        for one in watch.listeners:
            take(one)
        await world.trigger(ADA, name="mail", transactionId="t-1")
        await world.trigger("carl", name="inbox", transactionId="t-2")
        await world.work(after=1)

        await watch.look()

        assert sorted(runs(take(everything))) == [("t-1", "completed"), ("t-2", "completed")]
        assert sorted(runs(take(by_status))) == [("t-1", "completed"), ("t-2", "completed")]
        assert runs(take(by_provider)) == [("t-1", "completed")]
        assert runs(take(by_person)) == [("t-2", "completed")]
        assert await watch.events(everything) == []


async def test_a_change_of_an_old_run_is_sent(watch: Watch, world: World) -> None:
    await world.make_workflow(DELAY, in_app("Hi"))
    await world.trigger(transactionId="t-1")
    await world.work()
    world.clock.move(MINUTE)
    listener = await watch.listen()
    take(listener)

    await world.work(after=4 * MINUTE)

    assert runs(await watch.events(listener)) == [("t-1", "completed")]


async def test_a_run_that_becomes_visible_late_is_sent(watch: Watch, world: World, database: Database) -> None:
    await world.make_workflow(in_app("Hi"))
    listener = await watch.listen()
    await world.trigger("ada", transactionId="t-1")
    await world.work()
    hide = sql("UPDATE notifications SET environment_id = :to WHERE environment_id = :environment_id")
    own, other = world.api.environment.id, bytes(15) + b"\x01"

    async def move(db: Connection, source: bytes, to: bytes) -> None:
        await db.execute(hide, environment_id=source, to=to)

    await database.transaction(lambda db: move(db, own, other))
    world.clock.move(SECOND)
    await world.trigger("bob", transactionId="t-2")
    await world.work()
    assert runs(take(listener) + await watch.events(listener)) == [("t-2", "completed")]

    await database.transaction(lambda db: move(db, other, own))

    assert runs(await watch.events(listener)) == [("t-1", "completed")]


async def test_more_runs_than_a_listener_is_sent_are_sampled(watch: Watch, world: World) -> None:
    await world.make_workflow(in_app("Hi"))
    listener = await watch.listen()
    take(listener)
    await world.trigger([f"p-{number}" for number in range(100)])
    await world.trigger([f"q-{number}" for number in range(60)])
    await world.work()

    events = await watch.events(listener)

    assert len(runs(events)) == feed.MAX_ROWS
    assert [one.data for one in events if one.name == "sampled"] == [{"leftOut": 60}]
    assert events[-1].id is not None


async def test_a_burst_is_counted_and_not_read_whole(
    watch: Watch, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MAX_READ", 20)
    await world.make_workflow(in_app("Hi"))
    listener = await watch.listen()
    take(listener)
    await world.trigger([f"p-{number}" for number in range(70)])
    await world.work()

    events = await watch.events(listener)

    assert len(runs(events)) == 20
    assert [one.data for one in events if one.name == "sampled"] == [{"leftOut": 50}]
    assert await watch.events(listener) == []


async def test_a_listener_who_comes_back_is_sent_what_began_and_changed_since(watch: Watch, world: World) -> None:
    await world.make_workflow(DELAY, in_app("Hi"))
    await world.trigger(transactionId="t-1")
    await world.work()
    world.clock.move(4 * MINUTE)
    left = Millis(world.clock.now())
    await world.work(after=MINUTE)
    await world.trigger(transactionId="t-2")
    await world.work()

    listener = await watch.listen(after=left)

    assert runs(take(listener)) == [("t-1", "completed"), ("t-2", "waiting")]


async def test_a_listener_from_the_beginning_of_time_does_not_replay_for_those_who_ask_for_nothing(
    watch: Watch, world: World
) -> None:
    await world.make_workflow(in_app("Hi"))
    await world.trigger(transactionId="t-1")
    await world.work()
    world.clock.move(MINUTE)
    await watch.look()
    await watch.join(after=Millis(0))

    newcomer = await watch.listen()

    assert runs(take(watch.listeners[0])) == [("t-1", "completed")]
    assert runs(take(newcomer)) == []


async def test_a_listener_who_comes_back_late_is_told_how_much_was_missed(
    watch: Watch, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MAX_REPLAYED", 10)
    await world.make_workflow(in_app("Hi"))
    left = Millis(world.clock.now())
    world.clock.move(MINUTE)
    await world.trigger([f"p-{number}" for number in range(35)])
    await world.work()

    events = take(await watch.listen(after=left))

    (missed,) = [one.data for one in events if one.name == "missed"]
    assert (missed["count"], missed["atLeast"]) == (25, False)
    assert len(runs(events)) == 10


async def test_a_filter_may_name_a_transaction_that_is_triggered_later(watch: Watch, world: World) -> None:
    await world.make_workflow(in_app("Hi"))
    listener = await watch.listen(transaction_id=("t-2",))
    take(listener)
    await world.trigger(transactionId="t-1")
    await world.trigger(transactionId="t-2")
    await world.work()

    assert runs(await watch.events(listener)) == [("t-2", "completed")]


async def test_a_quiet_stream_has_a_heartbeat_with_the_position(watch: Watch, world: World) -> None:
    listener = await watch.listen()
    (first,) = take(listener)
    assert await watch.events(listener) == []
    world.clock.move(feed.HEARTBEAT)

    (beat,) = await watch.events(listener)

    assert (beat.name, beat.data) == ("position", {})
    assert first.id is not None
    assert beat.id is not None
    assert beat.id > first.id


def chunk(size: int, at: int) -> Chunk:
    return Chunk(data=b"x" * size, rows=2, after=Millis(at), before=Millis(at + 10))


async def read_all(listener: RunListener) -> bytes:
    listener.close("over")
    return b"".join([one async for one in listener.chunks()])


async def test_a_listener_who_reads_slowly_is_told_what_they_missed(watch: Watch) -> None:
    listener = RunListener(RunFilterQuery(), (await watch.listen()).wanted)
    half = listeners.MAX_WAITING_BYTES // 2
    for number in range(5):
        listener.put(chunk(half, number * 10))

    text = (await read_all(listener)).decode()

    missed, end = parse_events(text.replace("x", ""))
    assert (missed.name, missed.data["count"], missed.data["after"]) == ("missed", 6, "1970-01-01T00:00:00.020Z")
    assert missed.id == missed.data["before"] == "1970-01-01T00:00:00.050Z"
    assert end.data == {"reason": "over"}
    assert text.count("x") == 2 * half


async def idle(_: Broadcast[RunListener]) -> None:
    await asyncio.Event().wait()


async def test_the_streams_of_a_caller_are_limited_and_end_with_the_process(watch: Watch) -> None:
    wanted = (await watch.listen()).wanted
    streams = Broadcasts()
    made = [RunListener(RunFilterQuery(), wanted) for _ in range(MAX_LISTENERS_PER_CALLER + 1)]
    leave = [streams.join("environment", "key", one, idle) for one in made[:-1]]
    with pytest.raises(RateLimited):
        streams.join("environment", "key", made[-1], idle)
    leave[0]()
    streams.join("environment", "key", made[-1], idle)

    streams.close()

    assert b"stopping" in b"".join([one async for one in made[-1].chunks()])
    with pytest.raises(RateLimited):
        streams.join("environment", "other", made[0], idle)
    for one in leave:
        one()


async def send_until_it_ends(listener: RunListener, check: Callable[[], Awaitable[None]]) -> str:
    """Send a stream whose caller is checked; returns the last event."""
    sent: list[Any] = []
    left: list[bool] = []

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    async def send(message: Any) -> None:
        sent.append(message)

    response: StreamResponse[Any] = StreamResponse(listener, lambda: left.append(True), check)
    async with asyncio.timeout(30):
        await send_stream(response, [], receive, send, check_seconds=0.01)
    assert sent[-1] == {"type": "http.response.body"}
    assert left == [True]
    last: bytes = sent[-2]["body"]
    return last.decode()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Unauthenticated("The API key is revoked"), "The API key is revoked"),
        (StoreUnavailable("PostgreSQL cannot be used now"), "cannot be checked now"),
        (ValueError("unexpected"), "cannot be checked now"),
    ],
)
async def test_a_stream_ends_when_its_caller_may_not_listen_any_more_or_that_is_not_known(
    watch: Watch, error: Exception, reason: str
) -> None:
    checks = iter([None, error])

    async def check() -> None:
        if (problem := next(checks)) is not None:
            raise problem

    assert reason in await send_until_it_ends(await watch.listen(), check)


async def test_a_stream_ends_when_the_check_of_its_caller_takes_too_long(watch: Watch) -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    assert "cannot be checked now" in await send_until_it_ends(await watch.listen(), hang)


def test_a_stream_ends_within_ten_seconds_of_a_revocation_during_a_slow_check() -> None:
    rest_of_this_check, pause, next_check = CHECK_SECONDS, CHECK_SECONDS, CHECK_SECONDS

    assert rest_of_this_check + pause + next_check < 10


@pytest.mark.parametrize(
    ("query", "header", "field"),
    [("status=done", "", "status"), ("", "yesterday", "last-event-id"), ("after=x", "", "after")],
)
async def test_a_stream_of_something_that_is_not_valid_is_refused(
    api: Api, query: str, header: str, field: str
) -> None:
    refused = await api.get(f"/v1/runs/stream?{query}", headers={"Last-Event-ID": header})

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == [field]


async def test_listeners_are_told_when_their_reader_cannot_go_on(watch: Watch) -> None:
    async def fail(_: Broadcast[RunListener]) -> None:
        raise ValueError("unexpected")

    streams = Broadcasts()
    listener = RunListener(RunFilterQuery(), (await watch.listen()).wanted)
    streams.join("environment", "key", listener, fail)

    assert b"connect again" in b"".join([one async for one in listener.chunks()])
    assert len(streams) == 0
