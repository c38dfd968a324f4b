"""Overrides of SMS: the number and the text that a trigger gives instead of the person's and the step's."""

from typing import Any

import pytest

from tests.engine.support import World, details, step

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
