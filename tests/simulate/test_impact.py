"""What a change of a workflow would mean, before it is saved."""

from typing import Any

from clarion.clock import HOUR, MINUTE
from clarion.vocabulary import Scope
from tests.engine.support import World, in_app, step
from tests.support import Api, MakeApi

DIGEST = step("digest", "Digest", type="regular", amount=10, unit="minutes", version="latest")
DELAY = step("delay", "Wait", type="regular", amount=1, unit="hours")
OLD = in_app("old {{payload.n}}")
NEW = in_app("new {{payload.n}} {{payload.title}}")


async def weigh(world: World, *steps: dict[str, Any], key: str = "welcome") -> dict[str, Any]:
    """Ask what saving these steps would mean; those with a known name keep their id."""
    stored = (await world.api.get(f"/v2/workflows/{key}")).json()
    ids = {one["name"]: one["_id"] for one in stored["steps"]}
    body = {"steps": [{**one, **({"_id": ids[one["name"]]} if one["name"] in ids else {})} for one in steps]}
    response = await world.api.post(f"/v1/workflows/{key}/impact", json=body)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


async def trigger(world: World, number: int = 1, to: str = "ada", **payload: Any) -> None:
    await world.trigger(to, payload={"n": number, **payload}, transactionId=f"t{number}")
    await world.work()


async def test_runs_are_counted_at_the_steps_where_they_wait(world: World) -> None:
    await world.make_workflow(DIGEST, DELAY, OLD)
    for number, person in enumerate(("ada", "bob", "eve")):
        await trigger(world, number, person)
    await world.work(after=10 * MINUTE)
    await trigger(world, 9)
    await world.make_workflow(DELAY, key="other")
    await world.trigger(name="other")
    await world.work()

    found = await weigh(world, DIGEST, NEW)

    assert (found["version"], found["waitingCapped"]) == (1, False)
    waiting = {one["stepId"]: one for one in found["waiting"]}
    assert {name: one["count"] for name, one in waiting.items()} == {"digest": 1, "wait": 3}
    assert (waiting["digest"]["follows"], waiting["digest"]["gone"]) == (True, False)
    assert (waiting["wait"]["follows"], waiting["wait"]["gone"]) == (False, True)
    assert waiting["wait"]["type"] == "delay"


async def test_a_pinned_digest_and_one_that_is_gone_keep_their_version(world: World) -> None:
    pinned = step("digest", "Pinned", type="regular", amount=10, unit="minutes", version="pinned")
    await world.make_workflow(pinned, OLD)
    await world.make_workflow(DIGEST, OLD, key="other")
    await trigger(world)
    await world.trigger(name="other")
    await world.work()

    (kept,) = (await weigh(world, pinned, NEW))["waiting"]
    (gone,) = (await weigh(world, NEW, key="other"))["waiting"]

    assert (kept["follows"], kept["gone"]) == (False, False)
    assert (gone["follows"], gone["gone"]) == (False, True)


async def test_the_last_triggers_are_tried_before_and_after_the_change(world: World) -> None:
    await world.make_workflow(OLD)
    for number in range(12):
        await trigger(world, number, title="T")

    found = await weigh(world, NEW)

    assert (found["triggerCount"], len(found["triggers"]), found["complete"]) == (10, 10, True)
    newest = found["triggers"][0]
    assert (newest["transactionId"], newest["subscriberId"], newest["differs"]) == ("t11", "ada", True)
    assert [one["content"] for one in newest["before"]] == ["old 11"]
    assert [one["content"] for one in newest["after"]] == ["new 11 T"]
    assert len(await world.feed()) == 12, "nothing is sent"
    same = await weigh(world, OLD)
    assert not any(one["differs"] for one in same["triggers"])


async def test_variables_that_triggers_do_not_have_are_named(world: World) -> None:
    await world.make_workflow(OLD)
    await trigger(world, 1, title="T")
    await trigger(world, 2)
    await trigger(world, 3, title="")

    by_room = step("digest", "Digest", type="regular", amount=10, unit="minutes", digestKey="payload.room")
    found = await weigh(world, NEW, by_room)

    assert found["emptyVariables"] == [
        {"stepId": "inbox", "path": "body", "variable": "payload.title", "missing": 2},
        {"stepId": "digest", "path": "digestKey", "variable": "payload.room", "missing": 3},
    ]
    assert (await weigh(world, OLD))["emptyVariables"] == []


async def test_problems_of_the_changed_steps_are_named(world: World) -> None:
    await world.make_workflow(OLD)

    found = await weigh(world, in_app("{{subscriber.nothing}}"), step("digest", "Bare"))

    assert {(one["stepId"], one["path"]) for one in found["problems"]} == {
        ("inbox", "body"),
        ("bare", "amount"),
        ("bare", "unit"),
    }
    assert found["triggers"] == []


async def test_a_digest_that_is_open_goes_on_as_it_would_after_the_change(world: World) -> None:
    text = "{{steps.digest.eventCount}}"
    await world.make_workflow(DIGEST, in_app(f"old {text}"))
    await trigger(world, 1)
    await world.work(after=MINUTE)

    (tried,) = (await weigh(world, DIGEST, in_app(f"new {text}")))["triggers"]

    # The trigger is tried beside the digest that is open.
    assert [one["content"] for one in tried["before"]] == ["old 2"]
    assert [one["content"] for one in tried["after"]] == ["new 2"]


async def test_steps_that_could_not_be_saved_are_refused(world: World) -> None:
    await world.make_workflow(OLD)

    broken = await world.api.post("/v1/workflows/welcome/impact", json={"steps": [in_app("{{")]})
    unknown = await world.api.post("/v1/workflows/nothing/impact", json={"steps": []})
    other = await world.api.post("/v1/workflows/welcome/impact", json={"steps": [], "more": 1})

    assert (broken.status_code, unknown.status_code, other.status_code) == (422, 404, 422)
    assert list(broken.json()["errors"]) == ["steps.0.controlValues.body"]


async def test_only_those_who_may_see_events_see_what_triggers_would_do(world: World, make_api: MakeApi) -> None:
    await world.make_workflow(OLD)
    writer = await make_api(scopes=frozenset({Scope.WORKFLOWS_READ, Scope.WORKFLOWS_WRITE}))

    response = await writer.post("/v1/workflows/welcome/impact", json={"steps": []})

    assert response.status_code == 403


async def test_the_workflow_of_another_environment_is_not_found(world: World, other_api: Api) -> None:
    made = await world.make_workflow(DELAY)
    await world.trigger()
    await world.work(after=HOUR)

    for name in ("welcome", made["_id"]):
        response = await other_api.post(f"/v1/workflows/{name}/impact", json={"steps": []})
        assert response.status_code == 404
