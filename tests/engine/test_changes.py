"""Things that change or vanish while runs are under way."""

import asyncio

from clarion.clock import HOUR
from tests.engine.support import World, in_app, step
from tests.sending.test_sends import EMAIL, integrate

DELAY = step("delay", type="regular", amount=1, unit="hours")
ADA = {"subscriberId": "ada", "email": "ada@example.com"}


async def test_runs_of_a_deleted_workflow_go_on_and_new_ones_are_refused(world: World) -> None:
    await world.make_workflow(DELAY, in_app("after"))
    await world.trigger()
    await world.work()

    deleted = await world.api.delete("/v2/workflows/welcome")
    refused = await world.post()
    await world.work(after=HOUR)

    assert (deleted.status_code, refused.status_code) == (204, 422)
    assert await world.feed() == ["after"]
    (event,) = await world.events()
    assert event["template"]["name"] == "Welcome"


async def test_switching_a_workflow_off_does_not_stop_its_runs(world: World) -> None:
    await world.make_workflow(DELAY, in_app("after"))
    await world.trigger()
    await world.work()

    await world.api.patch("/v2/workflows/welcome", json={"active": False})
    await world.work(after=HOUR)

    assert await world.feed() == ["after"]


async def test_an_integration_is_chosen_when_the_step_is_reached(world: World) -> None:
    first = await integrate(world, "svc-email", "email")
    await world.make_workflow(DELAY, EMAIL)
    await world.trigger(ADA)
    await world.work()

    await world.api.delete(f"/v1/integrations/{first['_id']}")
    second = await integrate(world, "svc-email", "email")
    await world.work(after=HOUR)

    (event,) = await world.events()
    chosen = next(
        one for one in event["jobs"][1]["executionDetails"] if one["detail"] == "Integration instance selected"
    )
    assert second["_id"] in chosen["raw"]


async def test_without_the_in_app_integration_the_step_says_so(world: World) -> None:
    await world.make_workflow(in_app("x"))
    (inbox,) = (await world.api.get("/v1/integrations")).json()
    await world.api.put(f"/v1/integrations/{inbox['_id']}", json={"active": False})

    await world.trigger()
    await world.work()

    assert await world.statuses() == [["failed"]]
    assert await world.feed() == []


async def test_a_topic_deleted_in_the_middle_of_its_expansion_ends_it(world: World) -> None:
    await world.make_workflow(in_app("x"))
    people = [f"p{number}" for number in range(400)]
    await world.api.post("/v1/subscribers/bulk", json={"subscribers": [{"subscriberId": key} for key in people]})
    for start in range(0, 400, 100):
        await world.api.post("/v2/topics/all/subscriptions", json={"subscriberIds": people[start : start + 100]})
    await world.trigger({"type": "Topic", "topicKey": "all"}, transactionId="crowd")
    await world.engine.work_lanes()
    total = "/v1/messages?limit=1&transactionId=crowd"
    before = (await world.api.get(total)).json()["totalCount"]

    await world.api.delete("/v2/topics/all")
    await world.work()

    assert 0 < before < 400
    assert (await world.api.get(total)).json()["totalCount"] == before


async def test_an_override_picks_the_integration(world: World) -> None:
    await integrate(world, "svc-email", "email")
    body = {"providerId": "svc-email", "channel": "email", "active": True, "identifier": "second"}
    await world.api.post("/v1/integrations", json=body)
    await world.make_workflow(EMAIL)

    await world.trigger(ADA, overrides={"email": {"integrationIdentifier": "second"}})
    await world.trigger(ADA, overrides={"email": {"integrationIdentifier": "unknown"}})
    await world.trigger(ADA, overrides={"email": {"toRecipient": "else@example.com"}})
    await world.work()

    second, unknown, elsewhere = await world.events()
    assert any("second" in (one.get("raw") or "") for one in second["jobs"][0]["executionDetails"])
    assert unknown["jobs"][0]["status"] == "failed"
    (message,) = await world.messages(transactionId=elsewhere["transactionId"])
    assert message["email"] == "else@example.com"


async def test_the_outbox_lists_what_the_built_in_providers_keep(world: World) -> None:
    await integrate(world, "svc-email", "email")
    await integrate(world, "svc-sms", "sms")
    await world.make_workflow(EMAIL, step("sms", body="code {{payload.n}}"), in_app("x"))
    await world.trigger({**ADA, "phone": "+441632960000"}, payload={"n": 7})
    await world.work()

    outbox = (await world.api.get("/v1/outbox")).json()

    assert outbox["totalCount"] == 2
    assert {one["channel"]: one["content"] for one in outbox["data"]} == {"email": "<p>7</p>", "sms": "code 7"}


async def test_people_deleted_while_they_are_served_leave_nothing_behind(world: World) -> None:
    await world.make_workflow(in_app("1"), DELAY, in_app("2"))
    for _ in range(5):
        await asyncio.gather(
            *(world.trigger(f"p{number}") for number in range(10)),
            *(world.api.delete(f"/v2/subscribers/p{number}") for number in range(10)),
            world.engine.drain(),
        )
    await asyncio.gather(
        world.work(after=HOUR), *(world.api.delete(f"/v2/subscribers/p{number}") for number in range(10))
    )
    await world.work()
    for number in range(10):
        await world.api.delete(f"/v2/subscribers/p{number}")

    assert await world.messages() == []
    assert await world.events() == []
