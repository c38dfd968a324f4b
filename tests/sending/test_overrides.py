"""Overrides of a trigger: what a send does not honour is named in its details; numbers and texts of SMS."""

import json
from typing import Any

import pytest

from tests.engine.support import World, details, in_app, step
from tests.providers.loopback import answering, web_server
from tests.sending.test_sends import integrate

ACCEPTED = answering(200, '{"messages":[{"id":"wamid.1"}]}')


async def run_chat(world: World, overrides: dict[str, Any]) -> list[dict[str, Any]]:
    """Send to Ada by WhatsApp; returns the warnings among the details of the step."""
    async with web_server(ACCEPTED) as server:
        account = {"apiToken": "t", "phoneNumberIdentification": "1", "baseUrl": server.url("")}
        await integrate(world, "whatsapp-business", "chat", **account)
        await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "phone": "+442079460000"})
        await world.make_workflow(step("chat", body="Ping"))
        await world.trigger(overrides=overrides)
        await world.work()

    (event,) = await world.events()
    assert event["jobs"][0]["status"] == "completed"
    return [one for one in event["jobs"][0]["executionDetails"] if one["status"] == "Warning"]


async def test_overrides_without_effect_are_named_in_a_warning(world: World) -> None:
    (warning,) = await run_chat(
        world,
        {
            "chat": {"colour": "red", "text": {"preview_url": True}},
            "providers": {"whatsapp-business": {"webhookUrl": "https://example.com"}, "whatsup": {"a": 1}},
            "steps": {"nowhere": {"providers": {}}, "chat": {"providers": {"slak": {}}, "layoutId": "x"}},
            "subtitle": "Two parcels",
        },
    )

    raw = json.loads(warning["raw"])
    assert (warning["detail"], raw["providerId"]) == ("Overrides were ignored", "whatsapp-business")
    assert raw["ignored"] == {
        "colour": "WhatsApp Business has no such field",
        "webhookUrl": "is set only by the subscriber's credentials or the integration",
        "subtitle": "is neither a channel nor a provider",
        "providers.whatsup": "is not a provider",
        "steps.nowhere": "the workflow has no such step",
        "steps.chat.layoutId": "only e-mail steps have layouts",
        "steps.chat.providers.slak": "is not a provider",
    }


async def test_overrides_that_are_honoured_leave_no_warning(world: World) -> None:
    overrides = {"chat": {"text": {"preview_url": True}}, "email": {"cc": "x@example.com"}, "steps": {"chat": {}}}

    assert await run_chat(world, overrides) == []


async def test_overrides_that_nothing_reads_are_named_where_a_workflow_has_in_app_steps_alone(world: World) -> None:
    await world.make_workflow(in_app("x"))
    overrides = {"in_app": {"body": "y"}, "telegraph": {"stop": True}, "steps": {"other": {"providers": {}}}}
    await world.trigger(overrides=overrides)
    await world.work()

    (event,) = await world.events()
    (warning,) = [one for one in event["jobs"][0]["executionDetails"] if one["status"] == "Warning"]
    assert set(json.loads(warning["raw"])["ignored"]) == {"in_app", "telegraph", "steps.other"}
    assert await world.feed() == ["x"]


@pytest.mark.parametrize("has_delay", [False, True])
@pytest.mark.parametrize("kind", ["in_app", "email"])
async def test_a_delay_of_the_trigger_without_a_delay_step_is_named_in_a_warning(
    world: World, kind: str, has_delay: bool
) -> None:
    await integrate(world, "svc-email", "email")
    delay = [step("delay", type="regular", amount=1, unit="hours")] if has_delay else []
    shown = in_app("Hi") if kind == "in_app" else step("email", subject="Hi", body="x")
    await world.make_workflow(*delay, shown)
    person = {"subscriberId": "ada", "email": "ada@example.com"}
    await world.trigger(person, overrides={"delay": {"amount": 0, "unit": "seconds"}})
    await world.work()

    (event,) = await world.events()
    ignored = [json.loads(one["raw"]) for one in event["jobs"][-1]["executionDetails"] if one["status"] == "Warning"]
    expected = [] if has_delay else [{"delay": "the workflow has no delay step"}]
    assert event["jobs"][-1]["status"] == "completed"
    assert [one["ignored"] for one in ignored] == expected


OTHER = "+442079460001"


async def send(world: World, overrides: dict[str, Any], **person: str) -> dict[str, Any]:
    body = {"providerId": "svc-sms", "channel": "sms", "active": True}
    assert (await world.api.post("/v1/integrations", json=body)).status_code == 201
    await world.make_workflow(step("sms", body="x"))
    await world.trigger({"subscriberId": "ada", **person}, overrides=overrides)
    await world.work()
    (event,) = await world.events()
    job: dict[str, Any] = event["jobs"][0]
    return job


@pytest.mark.parametrize("person", [{"phone": "+442079460000"}, {}])
async def test_a_trigger_names_the_number_itself(world: World, person: dict[str, str]) -> None:
    job = await send(world, {"sms": {"to": OTHER}}, **person)

    assert job["status"] == "completed"
    assert [one["phone"] for one in await world.messages()] == [OTHER]


async def test_a_number_that_is_no_text_fails_the_step_and_is_named(world: World) -> None:
    job = await send(world, {"sms": {"to": [OTHER]}}, phone="+442079460000")

    assert job["status"] == "failed"
    assert any("overrides.sms.to" in str(one) for one in job["executionDetails"])


@pytest.mark.parametrize("overrides", [{"sms": {"to": OTHER}}, {"providers": {"svc-sms": {"to": OTHER}}}])
async def test_a_number_of_a_trigger_that_is_suppressed_gets_nothing(world: World, overrides: dict[str, Any]) -> None:
    suppressed = {"channel": "sms", "address": OTHER}
    assert (await world.api.post("/v1/suppressions", json=suppressed)).status_code == 201

    job = await send(world, overrides, phone="+442079460000")

    assert (job["status"], "Subscriber's phone number is suppressed" in details(job)) == ("failed", True)
