"""What explain tells of data that retention deleted."""

from typing import Any

from clarion.clock import DAY
from clarion.db.port import Database
from tests.engine.support import World, in_app, step
from tests.explain.support import explain, explain_newest, only
from tests.retention.support import delete_old

ADA = {"subscriberId": "ada", "firstName": "Ada"}


async def keep(world: World, **days: Any) -> None:
    me = (await world.api.get("/v1/environments/me")).json()
    response = await world.api.patch(f"/v1/environments/{me['_id']}", json={"retentionDays": days})
    assert response.status_code == 200, response.text


async def test_an_in_app_message_that_is_deleted_before_its_run_is_told_so(world: World, database: Database) -> None:
    await keep(world, inAppMessages=2, runs=90)
    await world.make_workflow(in_app())
    await world.trigger(ADA)
    await world.work()
    world.clock.move(10 * DAY)
    await delete_old(database, world.clock)

    found = await explain_newest(world)

    assert "by retention, because it was older than in-app messages are kept" in only(found, "receipt")["summary"]
    assert found["channels"]["in_app"]["outcome"] == "deleted"


async def test_a_run_that_is_deleted_before_its_message_is_told_as_deleted(world: World, database: Database) -> None:
    await keep(world, inAppMessages=90, runs=2)
    await world.make_workflow(in_app())
    await world.api.post("/v2/subscribers", json={"subscriberId": "bob"})
    answer = await world.trigger(ADA)
    await world.work()
    world.clock.move(10 * DAY)
    await delete_old(database, world.clock)

    found = await explain(world, transactionId=answer["transactionId"])
    bob = await explain(world, "bob", transactionId=answer["transactionId"])
    by_workflow = await explain(world, workflowId="welcome")
    await keep(world, inAppMessages=90, runs=90)
    longer = await explain(world, transactionId=answer["transactionId"])

    told = only(found, "recipient", "unknown")
    assert told["summary"].startswith("Retention deleted runs of this trigger, from 11 January at 00:00 UTC on.")
    assert found["channels"]["in_app"] == {"outcome": "unknown", "summary": told["summary"]}
    assert only(bob, "recipient")["summary"] == "The trigger is for 'ada', and not for 'bob'."
    assert by_workflow["channels"]["in_app"]["outcome"] == "unknown"
    assert only(longer, "recipient", "unknown")["summary"].startswith("Retention deleted runs of this trigger")


async def test_a_member_of_a_topic_whose_runs_are_deleted_is_not_said_to_be_left_out(
    world: World, database: Database
) -> None:
    await keep(world, inAppMessages=90, runs=2)
    await world.make_workflow(in_app())
    await world.api.post("/v2/subscribers", json=ADA)
    await world.api.post("/v2/topics", json={"key": "news", "name": "News"})
    await world.api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["ada"]})
    answer = await world.trigger({"type": "Topic", "topicKey": "news"})
    await world.work()
    await world.api.request("DELETE", "/v2/topics/news/subscriptions", json={"subscriberIds": ["ada"]})
    world.clock.move(10 * DAY)
    await delete_old(database, world.clock)

    found = await explain(world, transactionId=answer["transactionId"])

    assert only(found, "recipient")["summary"].startswith("Ada is not a member of the topic 'news'")
    assert found["channels"]["in_app"]["outcome"] == "unknown"


async def test_a_trigger_that_is_deleted_with_its_runs_is_not_known_any_more(world: World, database: Database) -> None:
    await keep(world, runs=2, outbox=2)
    await world.make_workflow(step("email", subject="Hi", body="<p>x</p>"))
    answer = await world.trigger(ADA)
    await world.work()
    world.clock.move(10 * DAY)
    await delete_old(database, world.clock)

    found = await explain(world, transactionId=answer["transactionId"], channel="email")

    assert "runs from before 9 January are deleted" in only(found, "recipient", "unknown")["summary"]
    assert (found["workflowId"], found["channels"]["email"]["outcome"]) == (None, "unknown")
