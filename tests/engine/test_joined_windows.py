"""Windows that close in the unit of work in which they are joined, or that are gone when they should close."""

from typing import Any

from clarion.clock import HOUR, MINUTE
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.engine.digest_events import MAX_EVENT_BYTES, MAX_EVENTS, DigestEvent, choose_shown
from clarion.ids import JobId, TriggerId
from tests.engine.support import World, details, in_app, step

# Runs that wait join the window half an hour after their trigger.
LATER = step("delay", type="regular", amount=30, unit="minutes", skip={"==": [{"var": "payload.waits"}, True]})
DIGEST = step("digest", "Digest", type="regular", amount=1, unit="hours")
SUMMARY = in_app("{{steps.digest.eventCount}}:{% for one in steps.digest.events %}{{one.payload.n}}{% endfor %}")
DELETE_WINDOWS = sql("DELETE FROM digest_windows WHERE environment_id = :environment_id")


async def trigger(world: World, number: int, **payload: Any) -> None:
    await world.trigger(payload={"n": number, **payload}, transactionId=f"t{number}")


async def test_events_that_join_in_the_unit_of_work_in_which_the_window_closes_are_told(world: World) -> None:
    await world.make_workflow(LATER, DIGEST, SUMMARY)
    await trigger(world, 1, waits=True)
    await trigger(world, 2)
    await trigger(world, 3, waits=True)
    await world.work()

    # Nobody works until the window is due as well.
    await world.work(after=2 * HOUR)

    assert await world.feed() == ["3:123"]
    await trigger(world, 4)
    await world.work()
    await world.work(after=HOUR)
    assert await world.feed() == ["3:123", "1:4"]


async def test_an_event_of_a_canceled_trigger_does_not_count_however_late_it_would_join(world: World) -> None:
    await world.make_workflow(LATER, DIGEST, SUMMARY)
    await trigger(world, 1)
    await trigger(world, 2, waits=True)
    await world.work()

    assert (await world.api.delete("/v1/events/trigger/t2")).json() is True
    await world.work(after=2 * HOUR)

    assert await world.feed() == ["1:1"]


async def test_a_digest_whose_window_is_gone_tells_its_own_event(world: World, database: Database) -> None:
    await world.make_workflow(DIGEST, SUMMARY)
    await trigger(world, 1)
    await world.work()
    scope = {"environment_id": world.api.environment.id}
    assert await database.transaction(lambda db: db.execute(DELETE_WINDOWS, **scope)) == 1

    await world.work(after=HOUR)

    (event,) = await world.events()
    assert await world.feed() == ["1:1"]
    assert details(event["jobs"][0])[-1] == "Digest triggered events"


async def test_a_closed_window_is_opened_anew_by_the_next_event(world: World) -> None:
    await world.make_workflow(DIGEST, SUMMARY)
    for number in range(3):
        await trigger(world, number)
        await world.work()
        await world.work(after=HOUR - MINUTE)
        await trigger(world, number + 10)
        await world.work()
        await world.work(after=MINUTE)

    assert await world.feed() == ["2:010", "2:111", "2:212"]


def make_event(number: int, size: int = 1) -> DigestEvent:
    return DigestEvent(TriggerId(number.to_bytes(16)), JobId(number.to_bytes(16)), size, {"id": str(number)})


def list_shown(events: list[DigestEvent], leader: int | None = None) -> list[int]:
    shown = choose_shown(events, None if leader is None else JobId(leader.to_bytes(16)))
    return [int.from_bytes(one.trigger_id) for one in shown]


def test_the_first_events_are_shown_in_the_order_of_their_triggers() -> None:
    events = [make_event(number) for number in reversed(range(MAX_EVENTS + 2))]

    assert list_shown(events[2:]) == list(range(MAX_EVENTS))
    assert list_shown(events) == list(range(MAX_EVENTS))
    assert list_shown([]) == []


def test_the_event_of_the_leader_is_shown_in_its_place_however_late_it_is() -> None:
    events = [make_event(number) for number in range(MAX_EVENTS + 2)]

    assert list_shown(events, MAX_EVENTS + 1) == [*range(MAX_EVENTS - 1), MAX_EVENTS + 1]
    assert list_shown(events, 0) == list(range(MAX_EVENTS))


def test_events_are_shown_as_far_as_their_payloads_fit_and_at_least_one() -> None:
    half = MAX_EVENT_BYTES // 2

    assert list_shown([make_event(1, half), make_event(2, half), make_event(3, 1)]) == [1, 2]
    assert list_shown([make_event(1, half), make_event(2, half + 1)]) == [1]
    assert list_shown([make_event(1, MAX_EVENT_BYTES + 1), make_event(2, 1)]) == [1]
    assert list_shown([make_event(1, half), make_event(2, half), make_event(3, half)], 3) == [1, 3]
    assert list_shown([make_event(1, 1), make_event(2, MAX_EVENT_BYTES + 1)], 2) == [2]
