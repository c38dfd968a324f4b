"""Delays and digests that would end outside a person's schedule, and are extended to it."""

from typing import Any

import pytest

from clarion.clock import HOUR
from tests.engine.support import World, details, in_app, step
from tests.sending.test_sends import EMAIL, integrate

# The clock of tests starts on a Thursday at midnight, in UTC.
MORNING = {"thursday": [("09:00 AM", "11:00 AM")]}
EXTENDED = "Step was extended to the subscriber's schedule"


def delay(**controls: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {"type": "regular", "amount": 1, "unit": "hours", "extendToSchedule": True}
    return step("delay", **(usual | controls))


async def make_ada(world: World, **days: list[tuple[str, str]]) -> None:
    await integrate(world, "svc-email", "email")
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "email": "ada@example.com"})
    if days:
        await world.set_schedule(**days)


async def test_a_delay_that_ends_outside_the_schedule_goes_on_when_it_begins(world: World) -> None:
    await make_ada(world, **MORNING)
    await world.make_workflow(delay(), EMAIL)
    await world.trigger()
    await world.work()
    await world.work(after=9 * HOUR - 1)
    assert await world.statuses() == [["delayed", "pending"]]

    await world.work(after=1)

    assert await world.statuses() == [["completed", "completed"]]
    (event,) = await world.events()
    assert details(event["jobs"][0]) == ["Step queued", EXTENDED, "Step delayed", "Delay is finished"]


@pytest.mark.parametrize(
    ("controls", "days"),
    [
        ({"amount": 9}, MORNING),
        ({"extendToSchedule": False}, MORNING),
        ({}, {}),
    ],
)
async def test_other_delays_end_when_they_say(world: World, controls: Any, days: Any) -> None:
    await make_ada(world, **days)
    await world.make_workflow(delay(**controls), in_app("after"))
    await world.trigger()
    await world.work()
    await world.work(after=controls.get("amount", 1) * HOUR)

    assert await world.feed() == ["after"]


async def test_a_schedule_without_hours_does_not_hold_a_delay(world: World) -> None:
    await make_ada(world)
    schedule = {"isEnabled": True, "weeklySchedule": {"monday": {"isEnabled": False}}}
    await world.api.patch("/v2/subscribers/ada/preferences", json={"schedule": schedule})
    await world.make_workflow(delay(), in_app("after"))
    await world.trigger()
    await world.work()
    await world.work(after=HOUR)

    assert await world.feed() == ["after"]


async def test_a_critical_workflow_is_not_extended(world: World) -> None:
    await make_ada(world, **MORNING)
    preferences = {"user": None, "workflow": {"all": {"enabled": True, "readOnly": True}}}
    await world.make_workflow(delay(), EMAIL, preferences=preferences)
    await world.trigger()
    await world.work()
    await world.work(after=HOUR)

    assert await world.statuses() == [["completed", "completed"]]


async def test_a_moment_that_is_past_is_extended_too(world: World) -> None:
    await make_ada(world, **MORNING)
    await world.make_workflow(delay(type="scheduled", delayPath="at"), in_app("after"))
    await world.trigger(payload={"at": "2025-12-31T00:00:00Z"})
    await world.work()
    assert await world.statuses() == [["delayed", "pending"]]

    await world.work(after=9 * HOUR)

    assert await world.feed() == ["after"]


async def test_a_digest_stays_open_until_the_schedule_begins(world: World) -> None:
    await make_ada(world, **MORNING)
    digest = step("digest", type="regular", amount=1, unit="hours", extendToSchedule=True)
    await world.make_workflow(digest, in_app("{{steps.digest.eventCount}}"))
    await world.trigger()
    await world.work()
    await world.work(after=2 * HOUR)
    await world.trigger()
    await world.work()
    await world.work(after=7 * HOUR - 1)
    assert await world.feed() == []

    await world.work(after=1)

    assert await world.feed() == ["2"]


@pytest.mark.parametrize("kind", ["delay", "digest"])
async def test_a_schedule_that_changes_in_the_meantime_counts_a_few_times(world: World, kind: str) -> None:
    await make_ada(world, **MORNING)
    waiting = step(kind, type="regular", amount=9, unit="hours", extendToSchedule=True)
    await world.make_workflow(waiting, in_app("after"))
    await world.trigger()
    await world.work()
    for hour in ("10", "11", "12", "01"):
        assert await world.feed() == []
        half = "PM" if hour in ("12", "01") else "AM"
        await world.set_schedule(thursday=[(f"{hour}:00 {half}", f"{hour}:30 {half}")])
        await world.work(after=9 * HOUR if hour == "10" else HOUR)

    assert await world.feed() == ["after"]
    (event,) = await world.events()
    assert details(event["jobs"][0]).count(EXTENDED) == 3
