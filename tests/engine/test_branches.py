"""Branches, exits and triggers of other workflows: which way runs take, and how jobs are kept."""

from collections import Counter
from typing import Any

import pytest

from clarion.clock import HOUR
from tests.engine.providers import ADA, EMAIL, account
from tests.engine.support import World, details, in_app, step


def branch(
    *paths: dict[str, Any], otherwise: list[dict[str, Any]] | None = None, name: str = "Check"
) -> dict[str, Any]:
    controls: dict[str, Any] = {"paths": list(paths)}
    if otherwise is not None:
        controls["otherwise"] = {"steps": otherwise}
    return step("branch", name, **controls)


def path(name: str, *steps: dict[str, Any], plan: str | None = None, weight: int | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "steps": list(steps)}
    if plan is not None:
        made["condition"] = {"==": [{"var": "payload.plan"}, plan]}
    return made | ({} if weight is None else {"weight": weight})


def say(text: str) -> dict[str, Any]:
    return in_app(text) | {"name": f"Say {text}"}


async def test_a_run_takes_the_first_path_whose_condition_holds(world: World) -> None:
    await world.make_workflow(
        say("before"),
        branch(
            path("Pro", say("pro"), plan="pro"), path("Also pro", say("again"), plan="pro"), otherwise=[say("other")]
        ),
        say("after"),
    )
    await world.trigger(payload={"plan": "pro"})
    await world.work()

    assert await world.feed() == ["before", "pro", "after"]
    (event,) = await world.events()
    assert [job["type"] for job in event["jobs"]] == ["in_app", "custom", "in_app", "in_app"]
    assert details(event["jobs"][1]) == ["Step queued", "A path of the branch was taken"]


@pytest.mark.parametrize(("otherwise", "expected"), [([say("other")], ["other", "after"]), (None, ["after"])])
async def test_where_no_condition_holds_the_run_goes_on(
    world: World, otherwise: list[dict[str, Any]] | None, expected: list[str]
) -> None:
    await world.make_workflow(branch(path("Pro", say("pro"), plan="pro"), otherwise=otherwise), say("after"))
    await world.trigger(payload={"plan": "free"})
    await world.work()

    assert await world.feed() == expected


async def test_branches_stand_within_branches_and_wait(world: World) -> None:
    inner = branch(path("Deep", step("delay", amount=1, unit="hours"), say("deep"), plan="pro"), name="Inner")
    await world.make_workflow(branch(path("Pro", inner, say("inside"), plan="pro")), say("after"))
    await world.trigger(payload={"plan": "pro"})
    await world.work()
    assert await world.feed() == []
    assert await world.statuses() == [["completed", "completed", "delayed", "pending", "pending", "pending"]]

    await world.work(after=HOUR)
    assert await world.feed() == ["deep", "inside", "after"]


async def test_a_run_goes_on_after_the_last_send_of_a_path(world: World) -> None:
    async with account(world, "mail") as mail:
        await world.make_workflow(branch(path("Pro", EMAIL, say("sent"), plan="pro")), say("after"))
        await world.trigger(ADA, payload={"plan": "pro"})
        await world.work()

    assert mail.count == 1
    assert await world.feed() == ["sent", "after"]


async def test_later_steps_see_the_path(world: World) -> None:
    await world.make_workflow(branch(path("Pro", plan="pro")), say("took {{steps.check.path}}"))
    await world.trigger(payload={"plan": "pro"})
    await world.work()

    assert await world.feed() == ["took Pro"]


async def test_weights_split_people_and_keep_each_on_one_path(world: World) -> None:
    await world.make_workflow(
        branch(path("A", say("a"), weight=3), path("B", say("b"), weight=1)), say("{{steps.check.path}}")
    )
    people = [f"person-{number}" for number in range(40)]
    for _ in range(2):
        await world.trigger(people)
        await world.work()

    chosen: Counter[str] = Counter()
    for one in people:
        first, second, *rest = await world.feed(one)
        assert [first, second] == rest
        chosen[first] += 1
    assert chosen["a"] > chosen["b"] > 0


async def test_an_inactive_branch_is_passed_by_with_all_its_steps(world: World) -> None:
    switched_off = branch(path("Pro", say("pro"), plan="pro"), otherwise=[say("other")]) | {"active": False}
    await world.make_workflow(switched_off, say("after"))
    await world.trigger(payload={"plan": "pro"})
    await world.work()

    assert await world.feed() == ["after"]


async def test_an_exit_ends_the_run_from_within_a_path(world: World) -> None:
    leave = step("exit", "Leave", reason="{{payload.plan}} needs nothing")
    await world.make_workflow(branch(path("Pro", leave, say("never"), plan="pro")), say("after"))
    await world.trigger(payload={"plan": "pro"})
    await world.trigger(payload={"plan": "free"})
    await world.work()

    assert await world.feed() == ["after"]
    ended, _ = await world.events()
    assert [job["status"] for job in ended["jobs"]] == ["completed", "completed", "skipped", "skipped"]
    assert ended["jobs"][1]["executionDetails"][-1]["raw"] == '{"reason":"pro needs nothing"}'
    assert details(ended["jobs"][3]) == ["Step was skipped because the run ended before it"]


async def test_a_canceled_run_does_not_go_on_within_a_path(world: World) -> None:
    wait = step("delay", amount=1, unit="hours")
    await world.make_workflow(branch(path("Pro", wait, say("never"), plan="pro")), say("never"))
    answer = await world.trigger(payload={"plan": "pro"})
    await world.work()
    await world.api.delete(f"/v1/events/trigger/{answer['transactionId']}")
    await world.work(after=HOUR)

    assert await world.feed() == []
    assert await world.statuses() == [["completed", "canceled", "canceled", "canceled"]]


async def test_events_are_digested_within_a_path(world: World) -> None:
    digest = step("digest", amount=1, unit="hours")
    count = say("{{steps.digest.eventCount}} of {{payload.plan}}")
    await world.make_workflow(branch(path("Pro", digest, count, plan="pro"), otherwise=[say("at once")]), say("after"))
    for plan in ("pro", "free", "pro"):
        await world.trigger(payload={"plan": plan})
        await world.work()
    await world.work(after=HOUR)

    assert sorted(await world.feed()) == ["2 of pro", "after", "after", "at once"]


async def test_a_step_triggers_another_workflow_for_the_same_person_and_for_others(world: World) -> None:
    await world.make_workflow(in_app("{{payload.about}} of {{actor.subscriberId}}"), key="other")
    await world.make_workflow(
        step("trigger", "Same", workflowId="other", payload={"about": "{{payload.order}}"}),
        step("trigger", "Lead", workflowId="other", to="{{payload.lead}}, grace", payload={"about": "help"}),
        say("after {{steps.same.transactionId}}"),
    )
    await world.trigger(payload={"order": 7, "lead": "bob"}, actor="carl")
    await world.work()

    own = await world.feed()
    assert len(own) == 2
    assert "7 of carl" in own
    assert await world.feed("bob") == await world.feed("grace") == ["help of carl"]
    started = [one for one in await world.events() if one["template"]["triggers"][0]["identifier"] == "other"]
    assert any(f"after {one['transactionId']}" in own for one in started)


@pytest.mark.parametrize(
    ("controls", "reason"),
    [
        ({"workflowId": "nothing"}, "workflow_not_found"),
        ({"workflowId": "other", "to": "{{payload.nobody}}"}, "`to` is empty"),
        ({"workflowId": "other", "to": [f"p{number}" for number in range(11)]}, "at most 10"),
        ({"workflowId": "other", "to": "a\u0007b"}, "no subscriberId"),
        ({"workflowId": "idle"}, "trigger_not_active"),
    ],
)
async def test_a_step_that_cannot_trigger_says_why_and_the_run_goes_on(
    world: World, controls: dict[str, Any], reason: str
) -> None:
    await world.make_workflow(in_app("x"), key="other")
    await world.make_workflow(in_app("x"), key="idle", active=False)
    await world.make_workflow(step("trigger", **controls), say("after"))
    await world.trigger()
    await world.work()

    assert await world.feed() == ["after"]
    (event,) = await world.events()
    last = event["jobs"][0]["executionDetails"][-1]
    assert last["detail"] == "The other workflow could not be triggered"
    assert reason in last["raw"]


async def test_a_chain_of_triggers_ends(world: World) -> None:
    for number in range(8):
        await world.make_workflow(
            say(f"level {number}"), step("trigger", workflowId=f"level-{number + 1}"), key=f"level-{number}"
        )
    await world.trigger(name="level-0")
    await world.work()

    assert sorted(await world.feed()) == [f"level {number}" for number in range(6)]


async def test_a_run_keeps_to_its_version_while_the_tree_changes(world: World) -> None:
    wait = step("delay", amount=1, unit="hours")
    made = await world.make_workflow(branch(path("Pro", wait, say("old"), plan="pro")), say("old end"))
    await world.trigger(payload={"plan": "pro"})
    await world.work()
    body = {"name": "Welcome", "steps": [say("new")]}
    assert (await world.api.put(f"/v2/workflows/{made['workflowId']}", json=body)).status_code == 200
    await world.work(after=HOUR)

    assert await world.feed() == ["old", "old end"]
