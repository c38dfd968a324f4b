"""Digests go on with the newest version of their workflow, or with the one that they started with."""

from typing import Any

import pytest

from clarion.clock import HOUR, MINUTE
from tests.engine.support import World, details, in_app, step
from tests.support import Api

OLD = in_app("old {{steps.digest.eventCount}}")
NEW = in_app("new {{steps.digest.eventCount}} {{payload.n}}")
DELAY = step("delay", type="regular", amount=1, unit="hours")


def digest(**controls: Any) -> dict[str, Any]:
    return step("digest", "Digest", type="regular", amount=10, unit="minutes", **{"version": "latest"} | controls)


async def change(world: World, *steps: dict[str, Any]) -> dict[str, Any]:
    """Save other steps; those with a known name keep their id."""
    stored = (await world.api.get("/v2/workflows/welcome")).json()
    ids = {one["name"]: one["_id"] for one in stored["steps"]}
    body = {"name": stored["name"], "steps": [{**one, "_id": ids.get(one["name"])} for one in steps], "active": True}
    body["steps"] = [{name: value for name, value in one.items() if value is not None} for one in body["steps"]]
    response = await world.api.put("/v2/workflows/welcome", json=body)
    assert response.status_code == 200, response.text
    changed: dict[str, Any] = response.json()
    return changed


async def trigger(world: World, number: int = 1) -> None:
    await world.trigger(payload={"n": number}, transactionId=f"t{number}")
    await world.work()


async def explain(world: World, run: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await world.api.get(f"/v1/notifications/{run['_id']}/explain")).json()["decisions"]
    return found


async def test_a_digest_goes_on_with_the_newest_version(world: World) -> None:
    await world.make_workflow(digest(), OLD)
    await trigger(world, 1)
    await change(world, digest(), NEW)
    await trigger(world, 2)

    await world.work(after=10 * MINUTE)

    assert await world.feed() == ["new 2 1"]
    run, merged = await world.events()
    assert [job["status"] for job in run["jobs"]] == ["completed", "completed"]
    assert [job["status"] for job in merged["jobs"]] == ["merged", "merged"]
    assert "Run goes on with the latest version of the workflow" in details(run["jobs"][0])
    told = await explain(world, run)
    assert any("goes on with version 2, not with version 1" in one["summary"] for one in told)
    assert any("version 1 and then version 2 ran" in one["summary"] for one in told)


@pytest.mark.parametrize("version", ["pinned", None])
async def test_a_digest_goes_on_with_its_own_version_unless_it_says_otherwise(
    world: World, version: str | None
) -> None:
    pinned = digest(version=version)
    await world.make_workflow(pinned, OLD)
    await trigger(world)
    await change(world, pinned, NEW)

    await world.work(after=10 * MINUTE)

    assert await world.feed() == ["old 1"]
    (run,) = await world.events()
    assert not any("version 2" in one["summary"] for one in await explain(world, run))


async def test_a_digest_whose_step_is_gone_goes_on_with_its_own_version_and_says_so(world: World) -> None:
    await world.make_workflow(digest(), OLD)
    await trigger(world)
    await change(world, NEW)

    await world.work(after=10 * MINUTE)

    assert await world.feed() == ["old 1"]
    (run,) = await world.events()
    assert any("Version 2 of the workflow has not got this step" in one["summary"] for one in await explain(world, run))


async def test_a_delay_goes_on_with_the_version_that_the_run_started_with(world: World) -> None:
    await world.make_workflow(DELAY, in_app("old"))
    await trigger(world)
    await change(world, DELAY, in_app("new"))

    await world.work(after=HOUR)

    assert await world.feed() == ["old"]


async def test_new_steps_and_branches_behind_the_digest_are_done(world: World) -> None:
    await world.make_workflow(in_app("first"), digest(), OLD)
    await trigger(world)
    inner = {**in_app("inner {{payload.n}}"), "name": "Inner"}
    paths = [{"name": "one", "condition": {"==": [{"var": "payload.n"}, 1]}, "steps": [inner]}]
    await change(
        world,
        {**in_app("never"), "name": "Before"},
        in_app("first"),
        digest(),
        step("branch", "Fork", paths=paths, otherwise={"steps": []}),
        {**DELAY, "name": "Later"},
        {**in_app("last"), "name": "Last"},
    )

    await world.work(after=10 * MINUTE)
    assert await world.feed() == ["first", "inner 1"]
    await world.work(after=HOUR)

    assert await world.feed() == ["first", "inner 1", "last"]
    (run,) = await world.events()
    assert [job["type"] for job in run["jobs"]] == ["in_app", "digest", "custom", "in_app", "delay", "in_app"]
    assert {job["status"] for job in run["jobs"]} == {"completed"}


async def test_a_run_may_be_moved_at_each_of_its_digests(world: World) -> None:
    second = digest() | {"name": "Second"}
    await world.make_workflow(digest(), second, OLD)
    await trigger(world)
    await change(world, digest(), second, {**in_app("middle"), "name": "Middle"})
    await world.work(after=10 * MINUTE)
    await change(world, {**digest(), "name": "Second"}, {**in_app("end {{step.total_count}}"), "name": "End"})
    await world.work(after=10 * MINUTE)

    assert await world.feed() == ["end 1"]
    (run,) = await world.events()
    assert any("version 1 and then version 3" in one["summary"] for one in await explain(world, run))


async def test_versions_for_moved_runs_are_no_part_of_the_history(world: World) -> None:
    await world.make_workflow(digest(), OLD)
    await trigger(world)
    changed = await change(world, digest(), NEW)
    await world.work(after=10 * MINUTE)

    history = (await world.api.get("/v1/workflows/welcome/versions")).json()

    assert [one["number"] for one in history["data"]] == [2, 1]
    assert changed["version"] == 2
    assert (await change(world, digest(), OLD))["version"] == 3


async def test_a_change_that_comes_back_to_the_same_steps_is_followed_too(world: World) -> None:
    await world.make_workflow(digest(), OLD)
    await trigger(world, 1)
    await world.trigger("bob", payload={"n": 2})
    await world.work()
    await change(world, digest(maxItems=50), NEW)

    await world.work(after=10 * MINUTE)

    # Both runs share the version that is made for them.
    assert (await world.feed(), await world.feed("bob")) == (["new 1 1"], ["new 1 2"])


async def test_an_extended_digest_notes_the_version_once(world: World) -> None:
    sliding = digest(slideUpTo={"amount": 1, "unit": "hours"})
    await world.make_workflow(sliding, OLD)
    await trigger(world, 1)
    await change(world, sliding, NEW)
    for number in (2, 3, 4):
        await world.work(after=9 * MINUTE)
        await trigger(world, number)
    await world.work(after=10 * MINUTE)

    assert await world.feed() == ["new 4 1"]
    run = (await world.events())[0]
    assert details(run["jobs"][0]).count("Run goes on with the latest version of the workflow") == 1


async def test_a_deleted_workflow_has_no_newer_version(world: World) -> None:
    await world.make_workflow(digest(), OLD)
    await trigger(world)
    await change(world, digest(), NEW)
    assert (await world.api.delete("/v2/workflows/welcome")).status_code == 204

    await world.work(after=10 * MINUTE)

    assert await world.feed() == ["old 1"]


async def test_a_canceled_run_is_not_moved(world: World) -> None:
    await world.make_workflow(digest(), OLD)
    await trigger(world, 1)
    await trigger(world, 2)
    await change(world, digest(), NEW)
    assert (await world.api.delete("/v1/events/trigger/t1")).json() is True

    await world.work(after=10 * MINUTE)

    assert await world.feed() == ["new 1 2"]


@pytest.mark.parametrize("version", ["newest", 2, True])
async def test_another_choice_is_refused(api: Api, version: Any) -> None:
    body = {"name": "Digest", "workflowId": "digest", "steps": [digest(version=version)]}

    response = await api.post("/v2/workflows", json=body)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["steps.0.controlValues.version"]
