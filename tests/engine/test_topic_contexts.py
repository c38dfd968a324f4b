"""Fan-outs of triggers with contexts: which subscriptions to a topic they reach, and what explain and simulate say."""

from typing import Any

import pytest

from tests.engine.support import World, in_app
from tests.explain.support import explain, only

NEWS = {"type": "Topic", "topicKey": "news"}
OFF = {"workflowId": "welcome", "enabled": False}


async def subscribe(world: World, *people: str, topic: str = "news", **fields: Any) -> None:
    for key in people:
        await world.api.post("/v2/subscribers", json={"subscriberId": key, "firstName": key.title()})
    response = await world.api.post(f"/v2/topics/{topic}/subscriptions", json={"subscriptions": [*people], **fields})
    assert response.status_code == 201, response.text
    assert "errors" not in response.json()


async def reached(world: World, **query: Any) -> dict[str, str]:
    """The status of each person's run; nobody has two."""
    events = await world.events(**query)
    found = {one["subscriber"]["subscriberId"]: one["jobs"][0]["status"] for one in events}
    assert len(found) == len(events)
    return found


@pytest.mark.parametrize("is_by_turns", [False, True])
async def test_subscriptions_of_exactly_the_contexts_and_of_none_are_reached(world: World, is_by_turns: bool) -> None:
    await world.make_workflow(in_app("x"))
    await subscribe(world, "any")
    await subscribe(world, "acme", "twice", context={"tenant": "acme"})
    await subscribe(world, "both", "twice", context={"tenant": "acme", "app": "shop"})
    await subscribe(world, "beta", context={"tenant": "beta"})

    for name, context in (("none", None), ("acme", {"tenant": "acme"}), ("both", {"app": "shop", "tenant": "acme"})):
        await world.trigger(NEWS, context=context, transactionId=name)
    await (world.work_by_turns() if is_by_turns else world.work())

    assert sorted(await reached(world, transactionId="none")) == ["any"]
    assert sorted(await reached(world, transactionId="acme")) == ["acme", "any", "twice"]
    assert sorted(await reached(world, transactionId="both")) == ["any", "both", "twice"]


async def test_rules_of_subscriptions_of_other_contexts_do_not_count(world: World) -> None:
    await world.make_workflow(in_app("x"))
    await subscribe(world, "ada", context={"tenant": "acme"}, preferences=[OFF])
    await subscribe(world, "ada", context={"tenant": "beta"})

    for tenant in ("acme", "beta"):
        await world.trigger(NEWS, context={"tenant": tenant}, transactionId=tenant)
    await world.work()

    assert await reached(world, transactionId="acme") == {"ada": "skipped"}
    assert await reached(world, transactionId="beta") == {"ada": "completed"}


async def test_another_topic_helps_only_if_its_subscription_is_of_the_context(world: World) -> None:
    await world.make_workflow(in_app("x"))
    await subscribe(world, "ada", preferences=[OFF])
    await subscribe(world, "ada", topic="sport", context={"tenant": "acme"})
    topics = [NEWS, {"type": "Topic", "topicKey": "sport"}]

    for tenant in ("acme", "beta"):
        await world.trigger(topics, context={"tenant": tenant}, transactionId=tenant)
    await world.work()

    assert await reached(world, transactionId="acme") == {"ada": "completed"}
    assert await reached(world, transactionId="beta") == {"ada": "skipped"}


async def test_who_is_subscribed_for_another_context_is_told_so(world: World) -> None:
    await world.make_workflow(in_app("x"))
    await subscribe(world, "ada", context={"tenant": "acme"})
    answers = [await world.trigger(NEWS, context=context) for context in ({"tenant": "beta"}, None)]
    await world.work()

    other, none = [await explain(world, transactionId=answer["transactionId"]) for answer in answers]
    newest = await explain(world, workflowId="welcome")

    assert only(other, "recipient")["summary"] == (
        "Ada is subscribed to the topic 'news' for messages of tenant:acme, and the trigger is of tenant:beta."
    )
    assert only(none, "recipient")["summary"].endswith("and the trigger is of no context.")
    assert only(other, "recipient")["verdict"] == "stopped"
    assert newest["transactionId"] in {answer["transactionId"] for answer in answers}


async def test_a_simulation_reaches_the_same_people(world: World) -> None:
    await world.make_workflow(in_app("x"))
    await subscribe(world, "any")
    await subscribe(world, "acme", context={"tenant": "acme"})
    await subscribe(world, "beta", context={"tenant": "beta"})

    body = {"name": "welcome", "to": NEWS, "context": {"tenant": "acme"}}
    simulated = (await world.api.post("/v1/simulate", json=body)).json()

    assert simulated["total"] == 2
    assert sorted(one["subscriberId"] for one in simulated["recipients"]) == ["acme", "any"]
