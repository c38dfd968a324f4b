"""From a trigger to what people see, and the record of it."""

import json
from typing import Any

import pytest

from tests.engine.support import World, details, in_app, step


async def test_a_trigger_becomes_a_message_and_a_record(world: World) -> None:
    await world.make_workflow(in_app("Hello {{payload.name}}, {{subscriber.firstName}}", subject="Hi"))
    answer = await world.trigger({"subscriberId": "ada", "firstName": "Ada"}, payload={"name": "you"})
    await world.work()

    (event,) = await world.events(transactionId=answer["transactionId"])
    (job,) = event["jobs"]
    assert answer["status"] == "processed"
    assert await world.feed() == ["Hello you, Ada"]
    assert (job["status"], job["providerId"], event["subscriber"]["subscriberId"]) == ("completed", "svc", "ada")
    assert details(job) == ["Step queued", "Message created", "Integration instance selected", "Message sent"]
    assert event["payload"] == {"name": "you"}


async def test_actions_redirects_avatar_and_data_reach_the_feed(world: World) -> None:
    await world.make_workflow(
        in_app(
            "B",
            avatar="https://example.com/{{payload.n}}.png",
            primaryAction={"label": "Yes {{payload.n}}", "redirect": {"url": "/y", "target": "_blank"}},
            secondaryAction={"label": "No"},
            redirect={"url": "https://example.com/{{payload.n}}", "target": "_self"},
            data={"order": "{{payload.n}}"},
        )
    )
    await world.trigger(payload={"n": 7})
    await world.work()

    (item,) = (await world.api.get("/v1/subscribers/ada/notifications/feed")).json()["data"]
    assert item["cta"] == {
        "type": "redirect",
        "data": {"url": "https://example.com/7", "target": "_self"},
        "action": {
            "buttons": [
                {"type": "primary", "content": "Yes 7", "url": "/y", "target": "_blank"},
                {"type": "secondary", "content": "No"},
            ]
        },
    }
    assert item["data"] == {"order": "7"}


async def test_a_transaction_is_run_once_however_often_it_is_sent(world: World) -> None:
    await world.make_workflow(in_app("x"))
    first = await world.trigger(transactionId="order-1")
    await world.work()
    second = await world.trigger(transactionId="order-1", payload={"other": 1})
    await world.work()

    assert first == second
    assert await world.feed() == ["x"]


async def test_every_form_of_recipient_is_served_once(world: World) -> None:
    await world.make_workflow(in_app("x"))
    for key in ("t1", "t2", "both", "left-out", "actor"):
        await world.api.post("/v2/subscribers", json={"subscriberId": key})
    members = {"subscriberIds": ["t1", "t2", "both", "left-out", "actor"]}
    await world.api.post("/v2/topics/news/subscriptions", json=members)
    await world.api.post("/v2/topics/more/subscriptions", json={"subscriberIds": ["both", "left-out"]})
    to = [
        "both",
        {"subscriberId": "new", "email": "new@example.com"},
        {"type": "Topic", "topicKey": "news", "exclude": ["left-out"]},
        {"type": "Topic", "topicKey": "missing"},
    ]

    answer = await world.trigger(to, actor="actor")
    await world.work()

    people = sorted(event["subscriber"]["subscriberId"] for event in await world.events())
    assert people == ["both", "new", "t1", "t2"]
    assert answer["error"] == ["Topic 'missing' does not exist in this environment"]
    assert (await world.api.get("/v2/subscribers/new")).json()["email"] == "new@example.com"
    topics = {event["subscriber"]["subscriberId"]: event.get("topics") for event in await world.events()}
    assert [one["topicKey"] for one in topics["t1"] or []] == ["news"]
    assert not topics["both"]


async def test_a_large_topic_is_expanded_in_chunks_and_a_single_trigger_overtakes_it(world: World) -> None:
    await world.make_workflow(in_app("x"))
    people = [f"p{number}" for number in range(700)]
    for start in range(0, 700, 350):
        bulk = [{"subscriberId": key} for key in people[start : start + 350]]
        await world.api.post("/v1/subscribers/bulk", json={"subscribers": bulk})
    for start in range(0, 700, 100):
        await world.api.post("/v2/topics/all/subscriptions", json={"subscriberIds": people[start : start + 100]})
    await world.trigger({"type": "Topic", "topicKey": "all"}, transactionId="crowd")
    await world.engine.work_lanes()
    await world.trigger("single", transactionId="single")

    await world.engine.work_lanes()
    assert len(await world.events(transactionId="single")) == 1
    await world.work()

    total = (await world.api.get("/v1/messages?limit=1&transactionId=crowd")).json()["totalCount"]
    assert total == 700


async def test_everyone_is_reached_by_a_broadcast(world: World) -> None:
    await world.make_workflow(in_app("x"))
    for key in ("a", "b", "c"):
        await world.api.post("/v2/subscribers", json={"subscriberId": key})

    await world.api.post("/v1/events/trigger/broadcast", json={"name": "welcome"})
    await world.work()

    assert sorted(event["subscriber"]["subscriberId"] for event in await world.events()) == ["a", "b", "c"]


async def test_bulk_events_have_results_of_their_own(world: World) -> None:
    await world.make_workflow(in_app("{{payload.n}}"))
    events: list[Any] = [
        {"name": "welcome", "to": "ada", "payload": {"n": 1}},
        {"name": "unknown", "to": "ada"},
        {"name": "welcome", "to": {"subscriberId": ""}},
        {"name": "welcome", "to": "ada", "payload": {"n": 2}},
    ]
    response = await world.api.post("/v1/events/trigger/bulk", json={"events": events})
    await world.work()

    assert [one["status"] for one in response.json()] == ["processed", "error", "error", "processed"]
    assert response.json()[1]["error"] == ["workflow_not_found"]
    assert await world.feed() == ["1", "2"]


@pytest.mark.parametrize(
    ("body", "status", "names"),
    [
        ({"name": "unknown", "to": "ada"}, 422, ["name"]),
        ({"to": "ada"}, 422, ["name"]),
        ({"name": "welcome"}, 422, ["to"]),
        ({"name": "welcome", "to": []}, 422, ["to"]),
        ({"name": "welcome", "to": ["a", 5, {"email": "x"}]}, 422, ["to.1", "to.2.subscriberId"]),
        ({"name": "welcome", "to": {"type": "Topic"}}, 422, ["to.topicKey"]),
        ({"name": "welcome", "to": ["a"] * 101}, 422, ["to"]),
        ({"name": "welcome", "to": "a", "payload": {"x": "y" * 300_000}}, 422, ["payload"]),
        ({"name": "welcome", "to": "a", "transactionId": ""}, 422, ["transactionId"]),
    ],
)
async def test_bad_triggers_are_refused_by_field(world: World, body: Any, status: int, names: list[str]) -> None:
    await world.make_workflow(in_app("x"))

    response = await world.api.post("/v1/events/trigger", json=body)
    await world.work()

    assert response.status_code == status
    if "to" not in body:
        assert "to" in response.json()["errors"]
    else:
        assert set(names) <= set(response.json()["errors"])
    assert await world.events() == []


async def test_an_inactive_workflow_is_told_and_not_run(world: World) -> None:
    await world.make_workflow(in_app("x"), active=False)

    answer = await world.trigger()
    await world.work()

    assert answer["status"] == "trigger_not_active"
    assert await world.events() == []


async def test_a_payload_that_breaks_the_schema_is_refused_with_every_place(world: World) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "number"}, "s": {"type": "string", "default": "d"}},
        "required": ["n"],
    }
    await world.make_workflow(in_app("{{payload.n}}{{payload.s}}"), payloadSchema=schema, validatePayload=True)

    refused = await world.post(payload={"n": "x", "s": 5})
    await world.trigger(payload={"n": 1})
    await world.work()

    body = refused.json()
    assert (refused.status_code, body["type"], len(body["errors"])) == (400, "PAYLOAD_VALIDATION_ERROR", 2)
    assert await world.feed() == ["1d"]


async def test_conditions_and_preferences_leave_their_reason(world: World) -> None:
    condition = {
        "type": "GROUP",
        "value": "AND",
        "children": [{"field": "plan", "value": "pro", "operator": "EQUAL", "on": "payload"}],
    }
    await world.make_workflow(
        in_app("filtered", filters=[condition]),
        in_app("logic", skip={"==": [{"var": "payload.plan"}, "pro"]}),
        in_app("always"),
    )
    await world.trigger(payload={"plan": "free"})
    await world.work()
    await world.api.patch("/v2/subscribers/ada/preferences", json={"channels": {"in_app": False}})
    await world.trigger(payload={"plan": "pro"})
    await world.work()

    first, second = await world.events()
    assert [job["status"] for job in first["jobs"]] == ["skipped", "skipped", "completed"]
    assert details(first["jobs"][0])[-1] == "Step was skipped based on steps conditions"
    assert json.loads(first["jobs"][0]["executionDetails"][-1]["raw"])
    assert {details(job)[-1] for job in second["jobs"]} == {"Step filtered by subscriber global preferences"}
    assert await world.feed() == ["always"]


async def test_a_step_that_cannot_be_rendered_fails_and_the_run_goes_on_or_stops(world: World) -> None:
    broken = "{{ payload.n | divided_by: payload.zero }}"
    await world.make_workflow(in_app(broken), in_app("after"), key="goes-on")
    await world.make_workflow(in_app(broken, shouldStopOnFail=True), in_app("after"), key="stops")

    await world.trigger(name="goes-on", payload={"n": 1})
    await world.trigger(name="stops", payload={"n": 1})
    await world.work()

    assert await world.statuses() == [["failed", "completed"], ["failed", "canceled"]]


async def test_a_run_keeps_the_version_it_started_with(world: World) -> None:
    made = await world.make_workflow(step("delay", type="regular", amount=1, unit="hours"), in_app("old"))
    await world.trigger()
    await world.work()
    steps = [{"name": "Inbox", "type": "in_app", "controlValues": {"body": "new"}}]
    body = {"name": "Welcome", "steps": steps, "preferences": {}, "origin": "svc-cloud"}
    changed = await world.api.put(f"/v2/workflows/{made['_id']}", json=body)
    await world.trigger()
    await world.work(after=3_600_000)

    assert changed.status_code == 200, changed.text
    assert sorted(await world.feed()) == ["new", "old"]


async def test_variants_replace_the_text_of_a_step(world: World) -> None:
    condition = {
        "type": "GROUP",
        "value": "AND",
        "children": [{"field": "plan", "value": "pro", "operator": "EQUAL", "on": "payload"}],
    }
    variant = {"name": "Pro", "filters": [condition], "controlValues": {"body": "for pros"}}
    await world.make_workflow(in_app("for all", variants=[variant]))

    await world.trigger(payload={"plan": "pro"})
    await world.trigger(payload={"plan": "free"})
    await world.work()

    assert await world.feed() == ["for pros", "for all"]
