"""Steps that wait or hold back leave a detail for each decision, with what it was based on."""

import json
from typing import Any

from clarion.clock import HOUR
from tests.engine.support import World, details, in_app, step

HOURLY: dict[str, Any] = {"type": "regular", "amount": 1, "unit": "hours"}


def last_raw(job: dict[str, Any]) -> Any:
    return json.loads(job["executionDetails"][-1]["raw"])


async def test_a_digest_tells_when_it_starts_ends_and_takes_in_another(world: World) -> None:
    await world.make_workflow(step("digest", **HOURLY), in_app("now"))
    for _ in range(2):
        await world.trigger()
    await world.work()
    await world.work(after=HOUR)

    leader, follower = await world.events()
    merged = "Digest was merged with other digest"
    assert details(leader["jobs"][0]) == ["Step queued", "Start digesting", "Digest triggered events"]
    assert last_raw(leader["jobs"][0]) == {"events": 2}
    assert [details(job) for job in follower["jobs"]] == [["Step queued", merged], [merged]]
    assert last_raw(follower["jobs"][0]) == {
        "_digestedNotificationId": leader["_id"],
        "until": world.clock.now(),
        **HOURLY,
    }


async def test_a_digest_with_a_look_back_tells_that_the_first_event_goes_on_at_once(world: World) -> None:
    await world.make_workflow(step("digest", **HOURLY, lookBackWindow={"amount": 1, "unit": "hours"}), in_app("now"))
    await world.trigger()
    await world.work()

    (event,) = await world.events()
    assert details(event["jobs"][0]) == ["Step queued", "Digest was skipped, first backoff event"]


async def test_a_delay_until_a_moment_that_is_past_says_so(world: World) -> None:
    await world.make_workflow(step("delay", type="scheduled", delayPath="when"), in_app("now"))
    await world.trigger(payload={"when": "2025-01-01T05:00:00Z"})
    await world.work()

    (event,) = await world.events()
    assert details(event["jobs"][0]) == ["Step queued", "Delay is finished"]
    assert last_raw(event["jobs"][0])["reason"] == "already past"


async def test_a_throttle_tells_how_many_have_passed(world: World) -> None:
    await world.make_workflow(step("throttle", type="fixed", amount=1, unit="hours", threshold=1), in_app("pass"))
    for _ in range(2):
        await world.trigger()
    await world.work()

    first, second = await world.events()
    assert details(first["jobs"][0]) == ["Step queued", "Step completed"]
    assert last_raw(first["jobs"][0]) == {"threshold": 1, "passed": 0, "amount": 1, "unit": "hours"}
    assert [details(job) for job in second["jobs"]] == [
        ["Step queued", "Step was throttled: limit exceeded"],
        ["Step was skipped because the run was throttled"],
    ]
    assert last_raw(second["jobs"][0]) == {
        "threshold": 1,
        "passed": 1,
        "amount": 1,
        "unit": "hours",
        "until": world.clock.now() + HOUR,
    }
