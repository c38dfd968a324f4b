"""Digests against a small model: every event in exactly one window of its own, in order, none lost, none twice."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clarion.clock import MINUTE, Millis
from clarion.engine.unit import run_unit
from clarion.jobs.lanes import ALL_LANES
from tests.engine.support import World, in_app, step

PEOPLE = ("ada", "bob")
ROOMS = ("x", "y")
WINDOW = 10 * MINUTE
MAX_ITEMS = 3
SLIDING = {"slideUpTo": {"amount": 25, "unit": "minutes"}}
FULL = {"maxItems": MAX_ITEMS}

moves = st.lists(
    st.one_of(
        st.tuples(st.just("trigger"), st.sampled_from(PEOPLE), st.sampled_from(ROOMS)),
        st.tuples(st.just("work"), st.just(""), st.just("")),
        st.tuples(st.just("crash"), st.just(""), st.just("")),
        st.tuples(st.just("wait"), st.sampled_from(["1", "4", "10", "25"]), st.just("")),
    ),
    min_size=1,
    max_size=25,
)


class Crash(Exception):
    """Stands for a process that dies before its commit."""


async def crash(world: World) -> None:
    """A unit of work that does everything and is undone."""

    async def die(db: Any) -> None:
        await run_unit(
            db, world.api.environment.id, Millis(world.clock.now()), lanes=ALL_LANES, source=world.engine.source
        )
        raise Crash

    try:
        await world.engine._database.transaction(die)
    except Crash:
        return


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(script=moves, limits=st.sampled_from([{}, SLIDING, FULL, SLIDING | FULL]))
async def test_every_event_is_told_once_in_its_own_window(
    world: World, script: list[tuple[str, str, str]], limits: dict[str, Any]
) -> None:
    name = f"w{world.clock.now()}"
    world.clock.move(1)
    await world.make_workflow(
        step("digest", "Digest", type="regular", amount=10, unit="minutes", digestKey="payload.room", **limits),
        in_app("{% for event in steps.digest.events %}{{event.payload.n}} {% endfor %}"),
        key=name,
    )
    sent: dict[tuple[str, str], list[int]] = {}
    for number, (what, who, room) in enumerate(script):
        if what == "trigger":
            await world.trigger(who, name=name, payload={"n": number, "room": room}, transactionId=f"{name}-{number}")
            sent.setdefault((who, room), []).append(number)
        elif what == "work":
            await world.work()
        elif what == "crash":
            await crash(world)
        else:
            await world.work(after=int(who) * MINUTE)
    await world.work()
    await world.work(after=WINDOW)

    shown: list[list[int]] = []
    for event in await world.events():
        if event["template"]["triggers"][0]["identifier"] == name:
            shown += [
                [one["payload"]["n"] for one in job["digest"]["events"]]
                for job in event["jobs"]
                if job["type"] == "digest" and job["status"] == "completed"
            ]
    of = {number: identity for identity, numbers in sent.items() for number in numbers}
    assert sorted(number for window in shown for number in window) == sorted(of)
    for window in shown:
        assert window == sorted(window)
        assert len({of[number] for number in window}) == 1
        assert "maxItems" not in limits or len(window) <= MAX_ITEMS
