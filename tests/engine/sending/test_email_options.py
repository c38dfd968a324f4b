"""Sender, copies, headers and preheader of an e-mail, as the step and the trigger ask for them."""

import json
from typing import Any

import pytest

from tests.engine.providers import ADA, Account, account
from tests.engine.support import World, step

OPTIONS: dict[str, Any] = {
    "from": {"email": "{{payload.shop}}@example.com", "name": "The {{payload.shop}} shop"},
    "replyTo": "help+{{payload.n}}@example.com",
    "cc": ["{{payload.team}}", "Bob <bob@example.com>"],
    "bcc": "archive@example.com",
    "headers": {"X-Order": "{{payload.n}}", "X-Kind": "order"},
    "preheader": "Order {{payload.n}} & more",
}
PAYLOAD = {"shop": "tea", "n": 7, "team": "x@example.com, y@example.com"}


async def send(world: World, first: Account, **trigger: Any) -> dict[str, Any]:
    await world.trigger(ADA, **{"payload": PAYLOAD} | trigger)
    await world.work()
    return first.bodies[-1]


def email(**controls: Any) -> dict[str, Any]:
    return step("email", subject="Hi", body="<p>x</p>", **controls)


async def test_what_the_step_asks_for_reaches_the_provider_through_all_retries(world: World) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(email(**OPTIONS))
        first.break_down()
        await send(world, first)
        first.come_back()
        await world.work(after=3_600_000)

        failed, sent = first.bodies
        assert failed == sent
        assert (sent["from"], sent["senderName"]) == ("tea@example.com", "The tea shop")
        assert sent["replyTo"] == "help+7@example.com"
        assert sent["cc"] == ["x@example.com", "y@example.com", "Bob <bob@example.com>"]
        assert sent["bcc"] == ["archive@example.com"]
        assert sent["headers"] == {"X-Order": "7", "X-Kind": "order"}
        assert "Order 7 &amp; more</div><p>x</p>" in sent["html"]
        assert sent["text"] == "x\n"


async def test_overrides_of_the_trigger_win(world: World) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(email(**OPTIONS))
        overrides = {
            "from": "Sales <sales@example.com>",
            "cc": "z@example.com",
            "headers": {"x-order": "8"},
            "preheader": "Now",
        }
        sent = await send(world, first, overrides={"email": overrides})

        assert (sent["from"], sent["senderName"], sent["cc"]) == ("sales@example.com", "Sales", ["z@example.com"])
        assert sent["headers"] == {"X-Kind": "order", "x-order": "8"}
        assert sent["bcc"] == ["archive@example.com"]
        assert "Now</div>" in sent["html"]


@pytest.mark.parametrize(
    ("controls", "sender"),
    [
        ({"from": {"name": "Only a name"}}, ("sender@example.com", "Only a name")),
        ({"senderName": "{{payload.shop}}"}, ("sender@example.com", "tea")),
        ({"from": "Tea <tea@example.com>"}, ("tea@example.com", "Tea")),
        ({"from": {"email": "{{payload.none}}", "name": ""}}, ("sender@example.com", None)),
        ({"from": {"email": "tea@example.com"}, "useProviderDefaults": True}, ("sender@example.com", None)),
    ],
)
async def test_the_integration_says_what_the_step_does_not_say_about_the_sender(
    world: World, controls: dict[str, Any], sender: tuple[str, str | None]
) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(email(**controls))
        sent = await send(world, first)

        assert (sent["from"], sent.get("senderName")) == sender


@pytest.mark.parametrize(
    ("field", "controls", "trigger"),
    [
        ("from.email", {"from": {"email": "nobody"}}, {}),
        ("from", {"from": "{{payload.team}}"}, {}),
        ("replyTo", {"replyTo": "{{payload.shop}}"}, {}),
        ("cc", {"cc": ["ok@example.com", "nobody@"]}, {}),
        ("bcc", {"bcc": "ok@example.com, nobody"}, {}),
        ("headers.Subject", {"headers": {"Subject": "x"}}, {}),
        ("overrides.email.toRecipient", {}, {"overrides": {"email": {"toRecipient": "nobody"}}}),
        ("overrides.email.toRecipient", {}, {"overrides": {"email": {"toRecipient": ["ada@example.com"]}}}),
    ],
)
async def test_a_bad_address_fails_the_step_and_is_named(
    world: World, field: str, controls: dict[str, Any], trigger: dict[str, Any]
) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(email(**controls))
        await world.trigger(ADA, payload=PAYLOAD, **trigger)
        await world.work()

        (event,) = await world.events()
        (job,) = event["jobs"]
        reason = json.loads(job["executionDetails"][-1]["raw"])["reason"]
        assert (first.count, job["status"]) == (0, "failed")
        assert reason.startswith(f"{field} ")
