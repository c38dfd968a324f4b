"""Overrides of a trigger: what a send does not honour is named among the details of its step."""

import json
from typing import Any

from tests.engine.sending.test_sends import integrate
from tests.engine.support import World, in_app, step
from tests.providers.loopback import answering, web_server

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
        "steps.chat.layoutId": "only providers is read here",
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
