"""Messages that never came to be: why a trigger has no run for a person."""

import pytest

from clarion.clock import HOUR
from clarion.db.port import Connection, Database
from clarion.engine.recipients import expand_trigger
from clarion.ids import TransactionKey
from clarion.triggers.store import find_trigger_by_transaction, mark_triggers_done
from tests.engine.support import World, in_app, step
from tests.explain.support import explain, of_kind, only
from tests.support import Api

ADA = {"subscriberId": "ada", "firstName": "Ada"}
NEWS = {"type": "Topic", "topicKey": "news"}
CLOSED = {"type": "object", "properties": {"count": {"type": "integer"}}}


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
        await expand_trigger(db, world.api.environment.id, trigger, world.clock.now())
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


async def test_a_transaction_that_is_not_stored_is_not_known(world: World) -> None:
    await world.make_workflow(in_app(), payloadSchema=CLOSED, validatePayload=True)
    refused = await world.post("ada", transactionId="bad-payload", payload={"count": "many"})
    await world.make_workflow(in_app(), key="off", active=False)
    ignored = await world.trigger("ada", name="off", transactionId="not-active")
    unknown = await world.post("ada", name="nothing", transactionId="no-workflow")

    found = [
        await explain(world, transactionId=key, channel="in_app")
        for key in ("bad-payload", "not-active", "no-workflow", "never-sent")
    ]

    assert (refused.status_code, ignored["status"], unknown.status_code) == (400, "trigger_not_active", 422)
    for one in found:
        reason = only(one, "recipient", "unknown")
        assert "What is refused is not stored, so that it is not known whether there was one." in reason["summary"]
        assert (one["workflowId"], one["channels"]["in_app"]["outcome"]) == (None, "unknown")


async def test_a_transaction_that_is_sent_again_is_told_with_the_run_and_without(world: World) -> None:
    await world.make_workflow(in_app())
    await world.trigger(ADA, transactionId="order-1")
    await world.work(after=HOUR)
    events = [{"name": "welcome", "to": "bob", "transactionId": "order-1"} for _ in range(2)]
    assert (await world.api.post("/v1/events/trigger/bulk", json={"events": events})).status_code == 201
    await world.api.post("/v2/subscribers", json={"subscriberId": "bob"})
    await world.work()

    ada, bob = await explain(world, transactionId="order-1"), await explain(world, "bob", transactionId="order-1")

    told = "The same transactionId was sent again 2 times, last on 1 January at 01:00 UTC: that was answered alike and"
    assert only(ada, "duplicate", "passed")["summary"].startswith(told)
    assert ada["channels"]["in_app"]["outcome"] == "delivered"
    assert only(bob, "duplicate")["summary"].startswith(told)
    assert only(bob, "recipient")["summary"] == "The trigger is for 'ada', and not for 'bob'."
    assert bob["channels"]["in_app"]["summary"].startswith(told)
    assert bob["channels"]["in_app"]["outcome"] == "skipped"


async def test_repeats_in_one_bulk_are_counted_and_new_transactions_are_not(world: World) -> None:
    await world.make_workflow(in_app())
    events = [{"name": "welcome", "to": "ada", "transactionId": key} for key in ("a", "b", "b", "b")]
    assert (await world.api.post("/v1/events/trigger/bulk", json={"events": events})).status_code == 201
    await world.work()

    first, second = await explain(world, transactionId="a"), await explain(world, transactionId="b")

    assert of_kind(first, "duplicate") == []
    assert only(second, "duplicate", "passed")["values"] == {"repeats": 2}


async def test_a_topic_that_did_not_exist_is_named(world: World) -> None:
    await world.make_workflow(in_app())
    await world.api.post("/v2/subscribers", json=ADA)
    alone = await world.trigger(NEWS)
    beside = await world.trigger([NEWS, "bob"])
    await world.work()

    found = await explain(world, transactionId=alone["transactionId"])
    other = await explain(world, transactionId=beside["transactionId"])

    told = "The trigger is for the topic 'news', which did not exist when it was accepted."
    assert alone["error"] == ["Topic 'news' does not exist in this environment"]
    assert only(found, "recipient")["summary"] == told
    assert only(found, "recipient")["values"] == {"topicKey": "news"}
    assert found["channels"]["in_app"] == {"outcome": "skipped", "summary": told}
    assert only(other, "recipient")["summary"] == told


async def test_a_topic_that_was_deleted_since_leaves_its_members_unknown(world: World) -> None:
    await world.make_workflow(in_app())
    await world.api.post("/v2/subscribers", json=ADA)
    await make_topic(world, "bob")
    answer = await world.trigger(NEWS)
    await world.work()
    await world.api.delete("/v2/topics/news")

    found = await explain(world, transactionId=answer["transactionId"])

    assert only(found, "recipient", "unknown")["summary"].startswith("The topic 'news', which the trigger is for, was")
    assert found["channels"]["in_app"]["outcome"] == "unknown"


async def test_an_erased_person_is_told_as_erased(world: World) -> None:
    await world.make_workflow(in_app())
    await make_topic(world, "ada")
    named = await world.trigger(["ada", "bob"])
    alone = await world.trigger("ada")
    topic = await world.trigger(NEWS)
    await world.work(after=HOUR)
    assert (await world.api.delete("/v2/subscribers/ada")).status_code == 200

    found = [await explain(world, transactionId=one["transactionId"]) for one in (named, alone, topic)]
    by_workflow = await explain(world, "ada", workflowId="welcome")
    await world.work(after=HOUR)
    await world.api.post("/v2/subscribers", json=ADA)
    again = await explain(world, transactionId=alone["transactionId"])

    for one in [*found, again]:
        told = only(one, "recipient", "unknown")
        assert told["summary"].startswith("'ada' was erased on 1 January at 01:00 UTC, with everything that was stored")
        assert told["values"]["erasedAt"] == "2026-01-01T01:00:00.000Z"
        assert one["channels"]["in_app"]["outcome"] == "unknown"
    assert "was erased on" in of_kind(by_workflow, "recipient")[0]["summary"]


async def test_others_who_were_erased_are_counted_and_not_named(world: World) -> None:
    await world.make_workflow(in_app())
    await world.api.post("/v2/subscribers", json=ADA)
    answer = await world.trigger(["bob", "cleo"])
    await world.work(after=HOUR)
    for key in ("bob", "cleo"):
        assert (await world.api.delete(f"/v2/subscribers/{key}")).status_code == 200

    ada = await explain(world, transactionId=answer["transactionId"])
    stranger = await explain(world, "dora", transactionId=answer["transactionId"])

    assert only(ada, "recipient")["summary"] == "The trigger is for people who were erased since, and not for Ada."
    assert only(stranger, "recipient", "unknown")["summary"] == (
        "2 people whom the trigger named were erased since; whether 'dora' was among them is not stored."
    )


async def test_a_trigger_whose_person_is_erased_before_it_is_worked_on_was_not_canceled(world: World) -> None:
    await world.make_workflow(in_app())
    await make_topic(world, "ada", "bob")
    answer = await world.trigger("bob")
    assert (await world.api.delete("/v2/subscribers/bob")).status_code == 200
    await world.work()

    ada = await explain(world, transactionId=answer["transactionId"])

    assert of_kind(ada, "cancel") == []
    assert only(ada, "recipient")["summary"] == "The trigger is for people who were erased since, and not for Ada."


async def test_a_person_whom_the_trigger_created_is_told_so_with_the_key_that_may_be_meant(world: World) -> None:
    await world.make_workflow(in_app())
    for key in ("ada.lovelace", "grace.hopper"):
        await world.api.post("/v2/subscribers", json={"subscriberId": key})
    typed = [await world.trigger(key) for key in ("ada.lovelaec", {"subscriberId": "Ada.Lovelace", "firstName": "Ada"})]
    right, next_number = await world.trigger("ada.lovelace"), await world.trigger("ada.lovelace2")
    await world.work()

    mistyped = await explain(world, "ada.lovelaec", transactionId=typed[0]["transactionId"])
    other_case = await explain(world, "Ada.Lovelace", transactionId=typed[1]["transactionId"])
    known = await explain(world, "ada.lovelace", transactionId=right["transactionId"])
    number = await explain(world, "ada.lovelace2", transactionId=next_number["transactionId"])
    nobody = await explain(world, "grace.hoper", transactionId=right["transactionId"])

    assert only(mistyped, "recipient", "passed")["summary"] == (
        "The trigger names 'ada.lovelaec' as a recipient. Nobody had the subscriberId 'ada.lovelaec' before: this "
        "trigger created the person. Is 'ada.lovelace' meant?"
    )
    assert only(other_case, "recipient", "passed")["values"]["near"] == "ada.lovelace"
    assert only(known, "recipient", "passed")["summary"] == "The trigger names 'ada.lovelace' as a recipient."
    assert only(number, "recipient", "passed")["values"] == {"subscriberId": "ada.lovelace2", "created": True}
    assert "Is 'grace.hopper' meant?" in only(nobody, "recipient")["summary"]


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
