"""Sender, copies, headers and preheader of an e-mail, as the step and the trigger ask for them."""

import json
from typing import Any

import pytest

from tests.engine.providers import ADA, Account, account
from tests.engine.support import World, details, step

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


async def suppress(world: World, *addresses: str) -> None:
    for address in addresses:
        response = await world.api.post("/v1/suppressions", json={"channel": "email", "address": address})
        assert response.status_code == 201, response.text


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


async def test_suppressed_copies_are_left_out_and_named(world: World) -> None:
    async with account(world, "a") as first:
        await suppress(world, "y@example.com", "bob@example.com", "archive@example.com")
        await world.make_workflow(email(**OPTIONS))
        sent = await send(world, first)

        (event,) = await world.events()
        (job,) = event["jobs"]
        (warning,) = [one for one in job["executionDetails"] if one["status"] == "Warning"]
        assert job["status"] == "completed"
        assert (sent["cc"], sent.get("bcc")) == (["x@example.com"], None)
        assert warning["detail"] == "Suppressed addresses were left out"
        assert json.loads(warning["raw"])["leftOut"] == {
            "cc": ["y@example.com", "Bob <bob@example.com>"],
            "bcc": ["archive@example.com"],
        }


@pytest.mark.parametrize(
    "place",
    [
        lambda given: {"email": given},
        lambda given: {"email-webhook": given},
        lambda given: {"providers": {"email-webhook": given}},
        lambda given: {"steps": {"email": {"providers": {"email-webhook": given}}}},
    ],
)
async def test_suppressed_recipients_of_overrides_are_left_out(world: World, place: Any) -> None:
    async with account(world, "a") as first:
        await suppress(world, "off1@example.com", "off2@example.com", "off3@example.com")
        await world.make_workflow(email())
        given = {
            "to": ["Off1@example.com", "more@example.com"],
            "cc": "off2@example.com, copy@example.com",
            "bcc": ["off3@example.com"],
        }
        sent = await send(world, first, overrides=place(given))

        assert sent["to"] == ["ada@example.com", "more@example.com"]
        assert (sent["cc"], sent.get("bcc")) == (["copy@example.com"], None)


async def test_nothing_is_sent_where_the_recipient_of_an_override_is_suppressed(world: World) -> None:
    async with account(world, "a") as first:
        await suppress(world, "other@example.com")
        await world.make_workflow(email(cc="copy@example.com"))
        await world.trigger(ADA, overrides={"email": {"toRecipient": "other@example.com"}})
        await world.work()

        (event,) = await world.events()
        assert first.count == 0
        assert details(event["jobs"][0])[-1] == "Subscriber's email address is suppressed"


async def test_nothing_is_sent_where_a_suppressed_address_is_passed_through_to_the_provider(world: World) -> None:
    async with account(world, "a") as first:
        await suppress(world, "off@example.com")
        await world.make_workflow(email())
        body = {"personalizations": [{"to": [{"email": "ada@example.com"}], "cc": [{"email": "off@example.com"}]}]}
        await world.trigger(ADA, overrides={"providers": {"email-webhook": {"_passthrough": {"body": body}}}})
        await world.work()

        (event,) = await world.events()
        assert first.count == 0
        assert "off@example.com in _passthrough" in event["jobs"][0]["executionDetails"][-1]["raw"]


async def test_a_large_text_is_sent_as_it_is(world: World) -> None:
    async with account(world, "a") as first:
        body = "<p>" + "0123456789<br>" * 5_000 + "end</p>"
        await world.make_workflow(step("email", subject="Hi", body=body))
        sent = await send(world, first)

        assert sent["html"].count("0123456789") == 5_000
        assert sent["text"].endswith("end\n")
