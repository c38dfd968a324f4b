"""Steps that cannot be decided fail alone, with the reason; what later steps see of a custom step."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from clarion.clock import HOUR, MINUTE
from clarion.db.port import Database
from clarion.db.query import sql
from tests.engine.support import World, details, in_app, step

# No request brings this about: expressions are checked when they are saved.
BREAK_CRON = sql("""
    UPDATE workflow_versions SET steps = REPLACE(steps, '0 9 * * *', 'nine') WHERE environment_id = :environment_id
""")


def last_detail(job: dict[str, Any]) -> tuple[str, str, Any]:
    last = job["executionDetails"][-1]
    return last["status"], last["detail"], json.loads(last["raw"])


@pytest.mark.parametrize("stops", [True, False])
async def test_a_step_that_fails_over_unexpected_data_says_why_and_the_run_goes_on_or_stops(
    world: World, database: Database, logged_errors: Callable[[], list[str]], stops: bool
) -> None:
    daily = step("delay", type="timed", cron="0 9 * * *")
    await world.make_workflow(daily | {"shouldStopOnFail": stops}, in_app("after"))
    scope = {"environment_id": world.api.environment.id}
    assert await database.transaction(lambda db: db.execute(BREAK_CRON, **scope)) == 1
    await world.trigger()
    await world.work()

    (event,) = await world.events()
    status, text, raw = last_detail(event["jobs"][0])
    assert (status, text) == ("Failed", "There was one or more errors when trying to execute the notification")
    assert raw["reason"].startswith("IndexError: ")
    assert [job["status"] for job in event["jobs"]] == ["failed", "canceled" if stops else "completed"]
    assert await world.feed() == ([] if stops else ["after"])
    assert logged_errors() == ["Step failed"]


@pytest.mark.parametrize(
    ("waiting", "payload", "text"),
    [
        (step("digest"), {}, "Defer duration limit exceeded"),
        (step("digest", type="regular", amount=1), {}, "Defer duration limit exceeded"),
        (step("digest", type="regular", unit="hours"), {}, "Defer duration limit exceeded"),
        (step("digest", type="timed"), {}, "Defer duration limit exceeded"),
        (step("throttle"), {}, "Invalid throttle configuration"),
        (step("throttle", type="fixed", amount=1), {}, "Invalid throttle configuration"),
        (step("throttle", type="fixed", unit="hours"), {}, "Invalid throttle configuration"),
        (step("throttle", type="dynamic"), {}, "Invalid throttle configuration"),
        (step("throttle", type="dynamic", dynamicKey="payload.length"), {}, "Invalid throttle configuration"),
        (step("throttle", type="dynamic", dynamicKey="n"), {"n": "soon"}, "Invalid throttle configuration"),
        (step("delay", type="dynamic", dynamicKey="payload.length"), {}, "Invalid delay configuration"),
        (step("delay", type="scheduled"), {}, "Invalid delay configuration"),
        (step("delay", type="timed"), {}, "Invalid delay configuration"),
        (step("delay", type="regular", amount=1), {}, "Invalid delay configuration"),
        (step("delay", type="regular", unit="hours"), {}, "Invalid delay configuration"),
    ],
)
async def test_a_step_without_a_usable_length_of_time_fails_and_the_run_goes_on(
    world: World, waiting: dict[str, Any], payload: dict[str, Any], text: str
) -> None:
    await world.make_workflow(waiting, in_app("after"))
    await world.trigger(payload=payload)
    await world.work()

    (event,) = await world.events()
    status, found, _ = last_detail(event["jobs"][0])
    assert (event["jobs"][0]["status"], status, found) == ("failed", "Failed", text)
    assert await world.feed() == ["after"]


async def test_a_throttle_may_take_its_length_from_the_payload(world: World) -> None:
    await world.make_workflow(
        step("throttle", type="dynamic", dynamicKey="payload.length", threshold=1), in_app("pass {{payload.n}}")
    )
    length = {"amount": 30, "unit": "minutes"}
    for number, after in enumerate((0, 30 * MINUTE - 1, 1, 29 * MINUTE)):
        world.clock.move(after)
        await world.trigger(payload={"n": number, "length": length})
        await world.work()

    assert await world.feed() == ["pass 0", "pass 2"]


async def test_later_steps_see_the_rendered_controls_of_a_custom_step(world: World) -> None:
    values = {"total": "{{payload.n}} pieces", "nested": {"list": ["{{subscriber.subscriberId}}"]}}
    runs = {"==": [{"var": "payload.n"}, 3]}
    await world.make_workflow(
        step("custom", "Sum", **values, skip=runs),
        in_app("{{steps.sum.total}} {{steps.sum.nested.list[0]}} {{steps.sum.skip}}."),
    )
    await world.trigger(payload={"n": 3})
    await world.work()
    await world.trigger(payload={"n": 4})
    await world.work()

    assert await world.statuses() == [["completed", "completed"], ["skipped", "completed"]]
    assert await world.feed() == ["3 pieces ada .", "  ."]
    assert details((await world.events())[0]["jobs"][0]) == ["Step queued", "Step completed"]


async def test_expected_values_of_conditions_may_be_templates(world: World) -> None:
    rule = {"==": [{"var": "payload.city"}, "{{subscriber.data.city}}"]}
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "data": {"city": "Bern"}})
    await world.make_workflow(in_app("{{payload.city}}", skip=rule))
    for city in ("Bern", "Rome", "{{subscriber.data.city}}"):
        await world.trigger(payload={"city": city})
    await world.work()

    assert await world.statuses() == [["completed"], ["skipped"], ["skipped"]]
    assert await world.feed() == ["Bern"]


async def test_runs_of_a_canceled_crowd_that_become_due_before_they_are_canceled_do_not_go_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clarion.engine.cancel.CHUNK", 1)
    people = [f"p{number}" for number in range(5)]
    await world.make_workflow(in_app("now"), step("delay", type="regular", amount=1, unit="hours"), in_app("late"))
    await world.trigger(people, transactionId="t")
    await world.work()

    assert (await world.api.delete("/v1/events/trigger/t")).json() is True
    world.clock.move(HOUR)
    await world.engine.work_lanes()

    events = await world.events()
    assert [[job["status"] for job in one["jobs"]] for one in events] == [["completed", "canceled", "canceled"]] * 5
    (reason,) = {detail for one in events for detail in details(one["jobs"][2])}
    assert "canceled" in reason.lower()
    await world.work(after=HOUR)
    assert [await world.feed(key) for key in people] == [["now"]] * 5
