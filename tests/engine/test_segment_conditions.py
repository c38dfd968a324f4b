"""Steps and branches that ask whether a person is in a segment: decided when the step is reached, and told why."""

from typing import Any

import pytest

from clarion.clock import HOUR
from tests.engine.support import World, in_app, step
from tests.engine.test_branches import branch, say
from tests.explain.support import explain_newest, of_kind, only
from tests.segments.support import GOLD, make_people, make_segment
from tests.support import Api

IN_GOLD = {"segment": "gold"}
IN_NEWS = {"in": ["news", {"var": "subscriber.topics"}]}


async def make_ada(world: World, plan: str = "gold") -> None:
    await make_people(world.api, ada={"data": {"plan": plan}})


@pytest.mark.parametrize("plan", ["gold", "free"])
async def test_a_step_runs_for_those_in_the_segment(world: World, plan: str) -> None:
    await make_segment(world.api)
    await make_ada(world, plan)
    await world.make_workflow(in_app("x", skip=IN_GOLD), say("after"))
    await world.trigger()
    await world.work()

    assert await world.feed() == (["x", "after"] if plan == "gold" else ["after"])
    kind = only(await explain_newest(world), "condition", "passed" if plan == "gold" else "stopped")
    verb, held = ("was", "held") if plan == "gold" else ("was not", "did not hold")
    assert kind["summary"] == (
        f"The conditions of the step 'Inbox' {held}: the person {verb} in the segment 'gold' "
        f'(subscriber.data.plan was "{plan}" (wanted: is "gold")).'
    )


@pytest.mark.parametrize("plan", ["gold", "free"])
async def test_a_branch_takes_the_path_of_a_segment(world: World, plan: str) -> None:
    await make_segment(world.api)
    await make_ada(world, plan)
    both = {"and": [IN_GOLD, {"==": [{"var": "payload.sale"}, True]}]}
    golden = {"name": "Gold", "steps": [say("gold")], "condition": both}
    await world.make_workflow(branch(golden, otherwise=[say("other")]))
    await world.trigger(payload={"sale": True})
    await world.work()

    assert await world.feed() == (["gold"] if plan == "gold" else ["other"])
    told = of_kind(await explain_newest(world), "branch")[0]["summary"]
    assert ("the person was in the segment 'gold'" in told) is (plan == "gold")


async def test_the_data_of_the_moment_when_the_step_is_decided_counts(world: World) -> None:
    await make_segment(world.api, {"or": [GOLD, IN_NEWS]})
    await make_ada(world, "free")
    await world.make_workflow(step("delay", amount=1, unit="hours"), in_app("x", skip=IN_GOLD))
    await world.trigger(transactionId="never")
    await world.work()
    await world.work(after=HOUR)
    await world.trigger(transactionId="later")
    await world.work()

    await world.api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["ada"]})
    await world.work(after=HOUR)

    assert await world.statuses(transactionId="never") == [["completed", "skipped"]]
    assert await world.statuses(transactionId="later") == [["completed", "completed"]]


async def test_a_changed_condition_holds_for_the_next_step(world: World) -> None:
    await make_segment(world.api)
    await make_ada(world, "free")
    await world.make_workflow(in_app("x", skip=IN_GOLD))
    await world.trigger()
    await world.work()
    assert await world.feed() == []

    await world.api.patch("/v1/segments/gold", json={"condition": True})
    await world.trigger()
    await world.work()

    assert await world.feed() == ["x"]


async def test_a_segment_of_another_environment_does_not_count(world: World, other_api: Api) -> None:
    await make_segment(other_api)

    body = {"name": "X", "workflowId": "x", "steps": [in_app("x", skip=IN_GOLD)]}
    refused = await world.api.post("/v2/workflows", json=body)

    assert refused.status_code == 422
    assert "refers to the segment 'gold', which does not exist in this environment" in refused.text


@pytest.mark.parametrize(
    ("steps", "path"),
    [
        ([in_app("x", skip={"!": {"segment": "gone"}})], "steps.0.controlValues.skip"),
        ([in_app("x", skip={"some": [{"var": "payload.x"}, {"segment": "gone"}]})], "steps.0.controlValues.skip"),
        (
            [say("a"), branch({"name": "P", "steps": [in_app("x", skip={"segment": ["gone"]})], "condition": IN_GOLD})],
            "steps.1.controlValues.paths.0.steps.0.controlValues.skip",
        ),
        (
            [branch({"name": "P", "steps": [say("x")], "condition": {"segment": "gone"}})],
            "steps.0.controlValues.paths.0.condition",
        ),
    ],
)
async def test_an_absent_segment_is_refused_when_it_is_saved(
    world: World, steps: list[dict[str, Any]], path: str
) -> None:
    await make_segment(world.api)
    made = await world.make_workflow(say("x"))

    body = {"name": "Welcome", "steps": steps}
    refusals = [
        await world.api.post("/v2/workflows", json={**body, "workflowId": "other"}),
        await world.api.put(f"/v2/workflows/{made['_id']}", json={**body, "preferences": made["preferences"]}),
    ]

    for refused in refusals:
        assert refused.status_code == 422
        assert list(refused.json()["errors"]) == [path]
        assert "refers to the segment 'gone'" in refused.text


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({"segment": ""}, "something else than the key of a segment"),
        ({"segment": {"var": "payload.key"}}, "something else than the key of a segment"),
        ({"segment": []}, "gives the operator 'segment' 0 values"),
        ({"segment": ["a", "b"]}, "gives the operator 'segment' 2 values"),
        ({"or": [{"segment": f"s{number}"} for number in range(11)]}, "more than 10 segments"),
    ],
)
async def test_malformed_references_are_refused(world: World, rule: Any, problem: str) -> None:
    body = {"name": "X", "workflowId": "x", "steps": [in_app("x", skip=rule)]}

    refused = await world.api.post("/v2/workflows", json=body)

    assert refused.status_code == 422
    assert problem in refused.text


async def test_segments_do_not_refer_to_segments(api: Api) -> None:
    await make_segment(api)

    body = {"key": "more", "name": "More", "condition": {"or": [{"!": {"segment": "gold"}}, GOLD]}}
    refused = [
        await api.post("/v1/segments", json=body),
        await api.patch("/v1/segments/gold", json={"condition": {"segment": "gold"}}),
        await api.post("/v1/segments/preview", json={"condition": {"segment": "gold"}}),
    ]

    for one in refused:
        assert one.status_code == 422
        assert "segments do not refer to each other" in one.text


async def test_rules_of_people_about_topics_do_not_ask_for_segments(api: Api) -> None:
    await make_segment(api)
    await make_people(api, ada={})
    rule = {"workflowId": "welcome", "condition": {"segment": "gold"}}

    refused = await api.post("/v2/topics/news/subscriptions", json={"subscriptions": ["ada"], "preferences": [rule]})

    assert refused.status_code == 422
    assert "has the operator 'segment'" in refused.text


async def test_a_condition_that_takes_too_much_work_does_not_hold(world: World) -> None:
    listed = {"in": [{"var": "subscriber.data.x"}, {"var": "subscriber.data.long"}]}
    await make_segment(world.api, {"or": [listed] * 10}, key="dear")
    await make_people(world.api, ada={"data": {"x": "no", "long": ["y"] * 2000}})
    await world.make_workflow(in_app("x", skip={"segment": "dear"}))
    await world.trigger()
    await world.work()

    told = only(await explain_newest(world), "condition")["summary"]
    assert told.endswith("the person was not in the segment 'dear': the rule takes too much work.")


async def test_a_simulation_asks_for_segments(world: World) -> None:
    await make_segment(world.api, IN_NEWS)
    await make_people(world.api, ada={}, bob={})
    await world.api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["ada"]})
    await world.make_workflow(in_app("x", skip=IN_GOLD), key="inner")
    await world.make_workflow(in_app("y", skip=IN_GOLD), step("trigger", workflowId="inner"))

    simulated = (await world.api.post("/v1/simulate", json={"name": "welcome", "to": ["ada", "bob"]})).json()

    messages = {one["subscriberId"]: [it["content"] for it in one["messages"]] for one in simulated["recipients"]}
    assert messages == {"ada": ["y"], "bob": []}


async def test_a_segment_that_workflows_ask_for_is_not_deleted(world: World) -> None:
    await make_segment(world.api)
    await make_segment(world.api, key="other")
    made = await world.make_workflow(branch({"name": "P", "steps": [say("x")], "condition": IN_GOLD}))

    refused = await world.api.delete("/v1/segments/gold")
    usage = (await world.api.get("/v1/segments/gold/usage")).json()
    unused = (await world.api.get("/v1/segments/other/usage")).json()
    body = {"name": "Welcome", "steps": [say("x")], "preferences": made["preferences"]}
    assert (await world.api.put(f"/v2/workflows/{made['_id']}", json=body)).status_code == 200
    deleted = await world.api.delete("/v1/segments/gold")

    assert refused.status_code == 409
    assert "is used by conditions of the workflows 'welcome'" in refused.text
    assert usage == {"workflows": [{"name": "Welcome", "workflowId": "welcome"}], "schedules": [], "triggers": []}
    assert unused == {"workflows": [], "schedules": [], "triggers": []}
    assert deleted.status_code == 204


async def test_runs_of_an_old_version_take_nobody_to_be_in_a_deleted_segment(world: World) -> None:
    await make_segment(world.api)
    await make_ada(world)
    made = await world.make_workflow(step("delay", amount=1, unit="hours"), in_app("x", skip=IN_GOLD))
    await world.trigger()
    await world.work()
    body = {"name": "Welcome", "steps": [say("x")], "preferences": made["preferences"]}
    await world.api.put(f"/v2/workflows/{made['_id']}", json=body)
    assert (await world.api.delete("/v1/segments/gold")).status_code == 204

    await world.work(after=HOUR)

    assert await world.statuses() == [["completed", "skipped"]]
    told = only(await explain_newest(world), "condition")["summary"]
    assert told.endswith("the person was not in the segment 'gold': it does not exist.")


async def test_usage_lists_triggers_under_way(world: World) -> None:
    await make_segment(world.api)
    await make_segment(world.api, key="other")
    await world.make_workflow(in_app("x"))
    moment = "2026-01-02T00:00:00.000Z"
    await world.trigger([{"segmentKey": "gold"}, "ada"], transactionId="later", sendAt=moment)
    await world.trigger([{"topicKey": "gold"}, {"segmentKey": "other"}], transactionId="topic", sendAt=moment)
    await world.trigger("gold", transactionId="person", sendAt=moment)
    await world.trigger({"segmentKey": "gold"}, transactionId="now")

    usage = (await world.api.get("/v1/segments/gold/usage")).json()
    await world.work()
    after = (await world.api.get("/v1/segments/gold/usage")).json()

    assert [one["transactionId"] for one in usage["triggers"]] == ["now", "later"]
    assert after["triggers"] == [{"transactionId": "later", "at": moment}]
