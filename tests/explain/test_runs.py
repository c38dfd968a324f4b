"""Why a run did what it did: conditions, preferences, schedules, topics and the workflow itself."""

from datetime import UTC, datetime
from typing import Any

from clarion.clock import DAY, HOUR
from clarion.db.port import Database
from tests.engine.support import World, in_app, step
from tests.explain.support import explain_newest, of_kind, only, subscribe

CRITICAL: dict[str, Any] = {"preferences": {"workflow": {"all": {"enabled": True, "readOnly": True}}}}
EMAIL = step("email", subject="Hi", body="<p>x</p>")
ADA = {"subscriberId": "ada", "firstName": "Ada", "email": "ada@example.com"}


def day_of(world: World) -> str:
    """The day of the clock as explanations write it."""
    now = datetime.fromtimestamp(world.clock.now() / 1000, UTC)
    return f"{now.day} {now:%B}"


async def test_a_delivered_message_is_explained_from_the_trigger_to_the_inbox(world: World) -> None:
    await world.make_workflow(in_app())
    answer = await world.trigger(ADA, payload={"name": "x"})
    await world.work()

    found = await explain_newest(world)

    assert found["subscriberId"] == "ada"
    assert found["workflowId"] == "welcome"
    assert found["transactionId"] == answer["transactionId"]
    assert found["notificationId"] == (await world.events())[-1]["_id"]
    assert found["channels"] == {
        "in_app": {"outcome": "delivered", "summary": "The message was put into the inbox of Ada."}
    }
    assert [one["kind"] for one in found["decisions"]] == [
        *("workflow", "recipient", "preference", "content", "integration", "attempt")
    ]
    assert {one["verdict"] for one in found["decisions"]} == {"passed"}
    assert [one["source"] for one in found["decisions"]] == [*["derived"] * 3, *["recorded"] * 3]
    assert of_kind(found, "recipient")[0]["summary"] == (
        "The trigger names Ada as a recipient. "
        "Nobody had the subscriberId 'ada' before: this trigger created the person."
    )


async def test_it_tells_when_the_person_read_the_message(world: World) -> None:
    await world.make_workflow(in_app())
    await world.trigger(ADA)
    await world.work(after=HOUR)
    (message,) = await world.messages()
    world.clock.move(HOUR)
    body = {"messageId": [message["_id"]], "markAs": "read"}
    assert (await world.api.post("/v1/subscribers/ada/messages/mark-as", json=body)).status_code == 201

    found = await explain_newest(world)

    assert [one["summary"] for one in of_kind(found, "receipt")] == [
        f"Ada saw the message on {day_of(world)}.",
        f"Ada read the message on {day_of(world)}.",
    ]


async def test_a_switched_off_channel_is_explained_with_the_day_of_the_switch(world: World) -> None:
    await world.make_workflow(EMAIL)
    await world.trigger(ADA, payload={})
    await world.work()
    await world.api.patch("/v2/subscribers/ada/preferences", json={"channels": {"email": False}})
    switched = day_of(world)
    await world.trigger(ADA)
    await world.work(after=3 * DAY)

    found = await explain_newest(world, channel="email")

    decision = only(found, "preference")
    expected = f"Ada switched email off for all workflows on {switched}; the workflow is not critical."
    assert decision["summary"] == expected
    assert decision["values"]["layer"] == "subscriber global"
    assert decision["remedy"] == "Ada switches email on again, or the workflow is made critical."
    assert decision["stepId"] == "email"
    assert decision["source"] == "recorded"
    assert found["channels"] == {"email": {"outcome": "skipped", "summary": expected}}


async def test_a_switch_that_was_changed_since_is_not_dated(world: World) -> None:
    workflow = await world.make_workflow(EMAIL)
    await world.trigger(ADA)
    await world.work()
    preference = {"channels": {"email": False}, "workflowId": workflow["workflowId"]}
    await world.api.patch("/v2/subscribers/ada/preferences", json=preference)
    await world.trigger(ADA)
    await world.work(after=DAY)
    world.clock.move(DAY)
    await world.api.patch("/v2/subscribers/ada/preferences", json=preference)

    decision = only(await explain_newest(world), "preference")

    assert decision["summary"] == (
        "Ada switched email off for the workflow 'Welcome'; the workflow is not critical."
        f" Ada has changed this since, on {day_of(world)}."
    )
    assert "switchedAt" not in decision["values"]


async def test_a_critical_workflow_passes_a_switch_that_is_off(world: World) -> None:
    await world.make_workflow(in_app(), **CRITICAL)
    await world.trigger(ADA)
    await world.work()
    await world.api.patch("/v2/subscribers/ada/preferences", json={"channels": {"in_app": False}})
    await world.trigger(ADA)
    await world.work()

    decision = only(await explain_newest(world), "preference", "passed")

    assert decision["summary"] == (
        "The workflow was critical, so that it did not matter that Ada had switched in-app off."
    )
    assert (decision["values"]["overruled"], decision["values"]["critical"]) == ("subscriber global", True)


USUAL: dict[str, Any] = {"preferences": {"workflow": {"all": {"enabled": True, "readOnly": False}}}}


async def change_workflow(world: World, *steps: dict[str, Any], **fields: Any) -> None:
    body = {"name": "Welcome", "workflowId": "welcome", "steps": list(steps), "active": True, **fields}
    response = await world.api.put("/v2/workflows/welcome", json=body)
    assert response.status_code == 200, response.text


async def switch_off(world: World, channel: str) -> None:
    response = await world.api.patch("/v2/subscribers/ada/preferences", json={"channels": {channel: False}})
    assert response.status_code == 200, response.text


async def test_a_workflow_that_is_not_critical_any_more_was_so_for_its_runs(world: World) -> None:
    await world.make_workflow(in_app(), **CRITICAL)
    await world.api.post("/v2/subscribers", json=ADA)
    await switch_off(world, "in_app")
    await world.trigger("ada")
    await world.work()
    before = await explain_newest(world)
    world.clock.move(DAY)
    await change_workflow(world, in_app(), **USUAL)

    found = await explain_newest(world)

    assert only(found, "preference", "passed")["values"]["overruled"] == "subscriber global"
    assert only(found, "workflow", "passed")["values"]["critical"] is True
    assert found == before


async def test_a_workflow_that_became_critical_was_not_so_for_its_runs(world: World) -> None:
    await world.make_workflow(in_app(), EMAIL, **USUAL)
    await world.api.post("/v2/subscribers", json=ADA)
    await switch_off(world, "email")
    await world.trigger("ada")
    await world.work()
    world.clock.move(DAY)
    await change_workflow(world, in_app(), EMAIL, **CRITICAL)
    await switch_off(world, "in_app")

    found = await explain_newest(world)

    assert only(found, "preference", "passed")["summary"] == "No preference stood against in-app."
    assert only(found, "preference", "stopped")["summary"].startswith("Ada switched email off for all workflows")
    assert only(found, "workflow", "passed")["values"]["critical"] is False


async def test_a_workflow_that_became_critical_while_a_run_waited_is_told_as_the_step_found_it(world: World) -> None:
    delay = step("delay", type="regular", amount=1, unit="days")
    await world.make_workflow(delay, in_app(), **USUAL)
    await world.api.post("/v2/subscribers", json=ADA)
    await switch_off(world, "in_app")
    await world.trigger("ada")
    await world.work()
    await change_workflow(world, delay, in_app(), **CRITICAL)
    await world.work(after=DAY)
    await change_workflow(world, delay, in_app(), **USUAL)

    found = await explain_newest(world)

    passed = only(found, "preference", "passed")
    assert (passed["values"]["critical"], passed["values"]["overruled"]) == (True, "subscriber global")
    assert only(found, "workflow", "passed")["values"]["critical"] is False


async def test_a_channel_that_a_critical_workflow_switches_off_itself_is_told_so(world: World) -> None:
    off = {"all": {"enabled": True, "readOnly": True}, "channels": {"in_app": {"enabled": False}}}
    await world.make_workflow(in_app(), preferences={"workflow": off})
    await world.trigger(ADA)
    await world.work()

    decision = only(await explain_newest(world), "preference")

    assert decision["summary"] == (
        "The author of the workflow 'Welcome' switched in-app off; it was critical, so that only this counted."
    )


async def test_the_default_of_a_workflow_is_named_where_it_switches_a_channel_off(world: World) -> None:
    off: dict[str, Any] = {
        "preferences": {"workflow": {"all": {"enabled": True}, "channels": {"in_app": {"enabled": False}}}}
    }
    await world.make_workflow(in_app(), **off)
    await world.trigger(ADA)
    await world.work()

    decision = only(await explain_newest(world), "preference")

    assert decision["summary"] == (
        "The author of the workflow 'Welcome' switched in-app off, and Ada did not switch it on."
    )


async def test_conditions_show_what_they_compared_whether_they_held_or_not(world: World) -> None:
    rule = {">": [{"var": "payload.amount"}, 10]}
    filters = [{"children": [{"on": "payload", "field": "kind", "operator": "EQUAL", "value": "big"}]}]
    await world.make_workflow(in_app("a", skip=rule), in_app("b", filters=filters))
    await world.trigger(ADA, payload={"amount": 12, "kind": "small"})
    await world.work()

    held, refused = of_kind(await explain_newest(world), "condition")

    assert held["verdict"] == "passed"
    assert held["summary"] == (
        "The conditions of the step 'Inbox' held: payload.amount was 12 (wanted: is greater than 10)."
    )
    assert held["values"]["comparisons"][0]["actual"] == 12
    assert held["source"] == "recorded"
    assert refused["verdict"] == "stopped"
    assert refused["summary"] == (
        'The conditions of the step \'Inbox\' did not hold: payload.kind was "small" (wanted: is "big").'
    )


async def test_a_message_outside_the_schedule_names_the_hour_at_which_it_begins(world: World) -> None:
    await world.make_workflow(EMAIL)
    await world.trigger(ADA)
    await world.work()
    await world.set_schedule(sunday=[("09:00 AM", "10:00 AM")])
    await world.trigger(ADA)
    await world.work()

    decision = only(await explain_newest(world), "schedule")

    assert "outside the hours in which Ada wants messages (UTC)" in decision["summary"]
    assert decision["values"]["insideFrom"].endswith("T09:00:00.000Z")
    assert "begin at" in decision["remedy"]


async def test_a_message_inside_the_schedule_says_so(world: World) -> None:
    await world.make_workflow(EMAIL)
    await world.trigger(ADA)
    await world.work()
    days = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    await world.set_schedule(**{day: [("12:00 AM", "11:59 PM")] for day in days})
    await world.trigger(ADA)
    await world.work()

    decision = only(await explain_newest(world), "schedule", "passed")

    assert decision["values"]["timezone"] == "UTC"


async def test_a_rule_of_a_subscription_to_the_topic_is_a_preference(world: World, database: Database) -> None:
    await world.make_workflow(in_app())
    await world.api.post("/v2/subscribers", json=ADA)
    await subscribe(world, database, "ada", "news", {"filter": {"workflowIds": ["welcome"]}, "enabled": False})
    await world.trigger({"type": "Topic", "topicKey": "news"})
    await world.work()

    found = await explain_newest(world)

    decision = only(found, "preference")
    assert decision["summary"] == (
        "Ada is subscribed to the topic 'news' with a rule for the workflow 'Welcome' that switches it off."
    )
    assert (
        of_kind(found, "recipient")[0]["summary"] == "Ada was a member of the topic 'news', which the trigger is for."
    )
    assert found["channels"]["in_app"]["outcome"] == "skipped"


async def test_a_step_that_is_switched_off_and_a_channel_without_a_step_are_told(world: World) -> None:
    await world.make_workflow(in_app(), in_app("off", active=False) | {"name": "Second"})
    await world.trigger(ADA)
    await world.work()

    everything = await explain_newest(world)
    sms = await explain_newest(world, channel="sms")

    assert only(everything, "workflow")["summary"] == "The step 'Second' is switched off in version 1."
    assert everything["channels"]["in_app"]["outcome"] == "delivered"
    assert sms["channels"] == {}
    assert sms["decisions"][-1]["summary"] == "The version of the workflow that ran has no SMS step."


async def test_a_preference_that_stopped_a_step_is_not_told_as_passed_too(world: World) -> None:
    await world.make_workflow(in_app("Hi"))
    await world.trigger("ada")
    await world.work()
    await world.api.patch("/v2/subscribers/ada/preferences", json={"channels": {"in_app": False}})
    await world.trigger("ada")
    await world.work()

    assert [one["verdict"] for one in of_kind(await explain_newest(world), "preference")] == ["stopped"]
