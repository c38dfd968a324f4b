"""Messages that never came to be: why a trigger has no run for a person."""

import pytest

from clarion.clock import DAY, HOUR
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.engine.recipients import split_trigger
from clarion.ids import TransactionKey
from clarion.triggers.store import find_trigger_by_transaction, mark_triggers_done
from tests.engine.support import World, in_app, step
from tests.explain.support import explain, of_kind, only
from tests.support import Api

ADA = {"subscriberId": "ada", "firstName": "Ada"}
NEWS = {"type": "Topic", "topicKey": "news"}


async def make_topic(world: World, *members: str) -> None:
    await world.api.post("/v2/topics", json={"key": "news", "name": "News"})
    for key in members:
        await world.api.post("/v2/subscribers", json={"subscriberId": key, "firstName": key.title()})
    if members:
        response = await world.api.post("/v2/topics/news/subscriptions", json={"subscriberIds": list(members)})
        assert response.status_code == 201, response.text


async def test_a_transaction_with_a_run_is_explained_by_the_run(world: World) -> None:
    await world.make_workflow(in_app())
    answer = await world.trigger(ADA)
    await world.work()

    found = await explain(world, transactionId=answer["transactionId"], channel="in_app")

    assert found["notificationId"] == (await world.events())[0]["_id"]
    assert found["channels"]["in_app"]["outcome"] == "delivered"


async def test_a_person_who_is_not_in_the_topic_or_joined_later_is_told_so(world: World) -> None:
    await world.make_workflow(in_app())
    await world.api.post("/v2/subscribers", json=ADA)
    await make_topic(world, "bob")
    answer = await world.trigger(NEWS)
    await world.work()

    outside = await explain(world, transactionId=answer["transactionId"])
    world.clock.move(HOUR)
    await make_topic(world, "ada")
    later = await explain(world, transactionId=answer["transactionId"])

    assert "notificationId" not in outside
    assert (outside["workflowId"], outside["transactionId"]) == ("welcome", answer["transactionId"])
    assert only(outside, "recipient")["summary"].startswith("Ada is not a member of the topic 'news'")
    assert outside["channels"]["in_app"]["outcome"] == "skipped"
    assert "after the trigger" in only(later, "recipient")["summary"]
    assert only(later, "recipient")["remedy"].startswith("Subscribe the person to the topic")


async def test_people_who_are_left_out_of_a_topic_are_told_by_whom(world: World) -> None:
    await world.make_workflow(in_app())
    await make_topic(world, "ada", "bob", "cleo")
    answer = await world.trigger(NEWS | {"exclude": ["ada"]}, actor="bob")
    await world.work()

    excluded = await explain(world, transactionId=answer["transactionId"])
    actor = await explain(world, "bob", transactionId=answer["transactionId"])

    assert only(excluded, "exclusion")["summary"] == "The trigger leaves Ada out of the topic 'news' (exclude)."
    assert only(actor, "exclusion")["summary"].startswith("Bob is the actor of the trigger")


async def test_an_unknown_person_and_one_who_is_not_named_are_told_so(world: World) -> None:
    await world.make_workflow(in_app())
    answer = await world.trigger(ADA)
    await world.work()
    await world.api.post("/v2/subscribers", json={"subscriberId": "bob"})

    unknown = await explain(world, "nobody", transactionId=answer["transactionId"])
    other = await explain(world, "bob", transactionId=answer["transactionId"])

    assert only(unknown, "recipient")["summary"].startswith("Nobody in this environment has the subscriberId 'nobody'")
    assert only(other, "recipient")["summary"] == "The trigger is for 'ada', and not for 'bob'."


async def test_a_trigger_for_everyone_is_not_for_people_who_came_later(world: World) -> None:
    await world.make_workflow(in_app())
    await world.api.post("/v2/subscribers", json={"subscriberId": "bob"})
    body = {"name": "welcome", "payload": {}}
    answer = (await world.api.post("/v1/events/trigger/broadcast", json=body)).json()
    await world.work()
    world.clock.move(HOUR)
    await world.api.post("/v2/subscribers", json=ADA)

    found = await explain(world, transactionId=answer["transactionId"])

    assert "but Ada was created on" in only(found, "recipient")["summary"]


async def test_a_trigger_that_waits_or_is_split_tells_so(world: World) -> None:
    await world.make_workflow(in_app())
    await make_topic(world, "ada", "bob")
    one = await world.trigger(ADA)
    crowd = await world.trigger(NEWS)

    queued = await explain(world, transactionId=one["transactionId"])
    splitting = await explain(world, transactionId=crowd["transactionId"])

    assert only(queued, "recipient", "waiting")["summary"] == "The trigger is accepted, and waits for a worker."
    assert queued["channels"]["in_app"]["outcome"] == "waiting"
    assert "has not come to their turn yet" in only(splitting, "recipient", "waiting")["summary"]


async def test_a_person_whose_part_of_a_trigger_is_not_worked_on_waits(world: World, database: Database) -> None:
    await world.make_workflow(in_app())
    await make_topic(world, "ada")
    answer = await world.trigger(NEWS)

    async def split(db: Connection) -> None:
        key = TransactionKey(answer["transactionId"])
        trigger = await find_trigger_by_transaction(db, world.api.environment.id, key)
        assert trigger is not None
        await split_trigger(db, world.api.environment.id, trigger, world.clock.now())
        await mark_triggers_done(db, world.api.environment.id, [trigger.id])

    await database.transaction(split)

    found = await explain(world, transactionId=answer["transactionId"])

    assert "has not come to their turn yet" in only(found, "recipient", "waiting")["summary"]


async def test_a_trigger_that_was_canceled_before_it_had_a_run_says_so(world: World) -> None:
    await world.make_workflow(in_app())
    answer = await world.trigger(ADA)
    await world.api.delete(f"/v1/events/trigger/{answer['transactionId']}")
    await world.work()

    found = await explain(world, transactionId=answer["transactionId"])

    assert only(found, "cancel")["source"] == "derived"
    assert found["channels"]["in_app"]["outcome"] == "canceled"


async def test_a_run_that_retention_deleted_is_said_to_be_deleted(world: World, database: Database) -> None:
    await world.make_workflow(in_app())
    answer = await world.trigger(ADA)
    await world.work()
    world.clock.move(400 * DAY)
    delete = sql("DELETE FROM notifications WHERE environment_id = :environment_id")
    await database.transaction(lambda db: db.execute(delete, environment_id=world.api.environment.id))

    found = await explain(world, transactionId=answer["transactionId"])
    forget = sql("DELETE FROM triggers WHERE environment_id = :environment_id")
    await database.transaction(lambda db: db.execute(forget, environment_id=world.api.environment.id))
    gone = await explain(world, transactionId=answer["transactionId"], channel="in_app")
    unknown = await explain(world, transactionId="never-seen")

    assert only(found, "recipient")["summary"].startswith("The run was deleted: runs from before")
    assert "are deleted" in only(gone, "recipient")["summary"]
    assert gone["workflowId"] is None
    assert gone["channels"]["in_app"]["outcome"] == "skipped"
    assert "Either it was not accepted, which is not recorded" in only(unknown, "recipient")["summary"]


async def test_a_workflow_is_answered_by_its_newest_trigger_and_lists_the_others(world: World) -> None:
    await world.make_workflow(in_app())
    await make_topic(world, "bob")
    first = await world.trigger(ADA)
    await world.work(after=HOUR)
    second = await world.trigger(ADA)
    await world.work(after=HOUR)
    await world.trigger("bob")
    await world.trigger(NEWS)
    await world.work()

    ada = await explain(world, workflowId="welcome")
    nobody = await explain(world, "cleo", workflowId="welcome")

    assert ada["transactionId"] == second["transactionId"]
    assert [one["transactionId"] for one in ada["others"]] == [first["transactionId"]]
    assert ada["others"][0]["notificationId"] == (await world.events())[0]["_id"]
    assert of_kind(nobody, "recipient")[0]["summary"].startswith("'cleo' is not a member of the topic 'news'")


async def test_a_workflow_that_is_unknown_inactive_deleted_or_never_triggered_is_told(world: World) -> None:
    await world.make_workflow(in_app(), key="quiet")
    await world.make_workflow(in_app(), key="off", active=False)
    await world.make_workflow(in_app(), key="gone")
    await world.trigger(ADA, name="gone")
    await world.trigger("bob", name="quiet")
    await world.work()
    await world.api.delete("/v2/workflows/gone")

    unknown = await explain(world, workflowId="nothing", channel="email")
    off = await explain(world, workflowId="off")
    gone = await explain(world, workflowId="gone")
    quiet = await explain(world, workflowId="quiet")

    assert only(unknown, "workflow")["summary"].startswith("There is no workflow 'nothing' in this environment")
    assert unknown["channels"]["email"]["outcome"] == "skipped"
    assert only(off, "workflow")["summary"].startswith("The workflow 'Off' is not active now")
    assert gone["channels"]["in_app"]["outcome"] == "delivered"
    assert only(gone, "workflow")["summary"].startswith("The workflow 'Gone' was deleted on")
    assert "names other people" in only(quiet, "recipient")["summary"]
    assert quiet["channels"]["in_app"]["outcome"] == "skipped"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"subscriberId": "ada"}, "transactionId"),
        ({"subscriberId": "ada", "transactionId": "a", "workflowId": "b"}, "workflowId"),
        ({"transactionId": "a"}, "subscriberId"),
        ({"subscriberId": "", "transactionId": "a"}, "subscriberId"),
        ({"subscriberId": "ada", "transactionId": "a", "channel": "fax"}, "channel"),
    ],
)
async def test_a_question_that_is_not_complete_is_refused(api: Api, query: dict[str, str], field: str) -> None:
    response = await api.get("/v1/explain", params=query)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == [field]


async def test_another_environment_finds_nothing(world: World, other_api: Api) -> None:
    await world.make_workflow(in_app(), step("delay", type="regular", amount=1, unit="days"))
    answer = await world.trigger(ADA)
    await world.work()
    (event,) = await world.events()

    run = await other_api.get(f"/v1/notifications/{event['_id']}/explain")
    query = {"subscriberId": "ada", "transactionId": answer["transactionId"]}
    asked = (await other_api.get("/v1/explain", params=query)).json()

    assert run.status_code == 404
    assert asked["channels"] == {}
