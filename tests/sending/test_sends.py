"""Email, SMS, chat: what goes to a provider, what is tried again, and where messages stay."""

import json
from typing import Any

import pytest

from clarion.clock import HOUR, MINUTE
from clarion.sending.record import record_sends
from tests.engine.support import World, details, in_app, step
from tests.providers.loopback import answering, mail_server, web_server
from tests.sending.support import claim_email

EMAIL = step("email", subject="Hi {{payload.n}}", body="<p>{{payload.n}}</p>")


async def integrate(world: World, provider: str, channel: str, **credentials: Any) -> dict[str, Any]:
    body = {"providerId": provider, "channel": channel, "active": True, "credentials": credentials}
    response = await world.api.post("/v1/integrations", json=body)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def test_the_built_in_outbox_keeps_what_was_sent(world: World) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL, in_app("after"))
    await world.trigger({"subscriberId": "ada", "email": "ada@example.com"}, payload={"n": "<1>"})
    await world.work()

    (event,) = await world.events()
    email = next(one for one in await world.messages() if one["channel"] == "email")
    assert [job["status"] for job in event["jobs"]] == ["completed", "completed"]
    assert details(event["jobs"][0]) == [
        "Step queued",
        "Message created",
        "Integration instance selected",
        "Message sent",
    ]
    assert (email["subject"], email["content"]) == ("Hi <1>", "<p>&lt;1&gt;</p>")
    assert (email["email"], email["providerId"], email["status"]) == ("ada@example.com", "svc-email", "sent")
    assert await world.feed() == ["after"]


async def test_a_missing_address_is_a_warning_and_the_run_goes_on(world: World) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL, in_app("after"))
    await world.trigger()
    await world.work()

    (message,) = await world.messages(channel="email")
    assert await world.statuses() == [["failed", "completed"]]
    assert (message["status"], message["errorText"]) == ("warning", "Subscriber missing email address")


async def test_without_an_integration_nothing_is_sent_and_the_reason_is_told(world: World) -> None:
    await world.make_workflow(EMAIL, in_app("after"))
    await world.trigger({"subscriberId": "ada", "email": "ada@example.com"})
    await world.work()

    (event,) = await world.events()
    assert [job["status"] for job in event["jobs"]] == ["failed", "completed"]
    assert "Subscriber does not have an active integration" in details(event["jobs"][0])


async def test_an_unreachable_server_is_tried_again_and_then_given_up(world: World) -> None:
    credentials = {"host": "127.0.0.1", "port": "9", "from": "a@example.com"}
    await integrate(world, "nodemailer", "email", **credentials)
    await world.make_workflow(EMAIL, in_app("after"))
    await world.trigger({"subscriberId": "ada", "email": "ada@example.com"})
    await world.work()
    (event,) = await world.events()
    assert event["jobs"][0]["status"] == "queued"
    assert await world.feed() == []

    for _ in range(8):
        await world.work(after=HOUR)

    (event,) = await world.events()
    failed = [one for one in event["jobs"][0]["executionDetails"] if one["status"] == "Failed"]
    assert event["jobs"][0]["status"] == "failed"
    assert len(failed) == 8
    assert [one["isRetry"] for one in failed] == [False] + [True] * 7
    assert await world.feed() == ["after"]


async def test_a_permanent_failure_goes_to_the_next_integration(world: World) -> None:
    await integrate(world, "nodemailer", "email", host="10.0.0.1", port="25", **{"from": "a@example.com"})
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL)
    await world.trigger({"subscriberId": "ada", "email": "ada@example.com"})
    await world.work()

    (message,) = await world.messages()
    assert (message["providerId"], message["status"]) == ("svc-email", "sent")


async def test_cancelling_stops_a_send_that_waits_to_be_tried_again(world: World) -> None:
    await integrate(world, "nodemailer", "email", host="127.0.0.1", port="9", **{"from": "a@example.com"})
    await world.make_workflow(EMAIL, in_app("after"))
    await world.trigger({"subscriberId": "ada", "email": "ada@example.com"}, transactionId="t")
    await world.work()

    assert (await world.api.delete("/v1/events/trigger/t")).json() is True
    await world.work(after=HOUR)

    assert await world.statuses() == [["canceled", "canceled"]]


async def test_a_schedule_holds_back_email_but_not_the_inbox(world: World) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL, in_app("inbox"))
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "email": "ada@example.com"})
    schedule = {"isEnabled": True, "weeklySchedule": {"monday": {"isEnabled": True}}}
    await world.api.patch("/v2/subscribers/ada/preferences", json={"schedule": schedule})

    await world.trigger()
    await world.work()

    assert await world.statuses() == [["skipped", "completed"]]


async def test_a_send_that_fails_for_good_stops_the_run_where_the_step_says_so(world: World) -> None:
    await world.make_workflow({**EMAIL, "shouldStopOnFail": True}, in_app("after"))
    await world.trigger({"subscriberId": "ada", "email": "ada@example.com"})
    await world.work()

    (event,) = await world.events()
    assert [job["status"] for job in event["jobs"]] == ["failed", "canceled"]
    assert details(event["jobs"][1]) == ["Step was canceled because a previous step failed"]


async def test_email_and_chat_reach_real_servers(world: World) -> None:
    async with mail_server() as mail, web_server(answering(200)) as chat:
        await integrate(
            world, "nodemailer", "email", host="127.0.0.1", port=str(mail.port), **{"from": "a@example.com"}
        )
        await integrate(world, "slack", "chat", applicationId="a", clientId="c", secretKey="s")
        await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "email": "ada@example.com"})
        hook = {"providerId": "slack", "credentials": {"webhookUrl": chat.url()}}
        await world.api.patch("/v1/subscribers/ada/credentials", json=hook)
        await world.make_workflow(in_app("1"), EMAIL, step("chat", body="Ping {{payload.n}}"))

        await world.trigger(payload={"n": 3})
        await world.work()

    assert await world.statuses() == [["completed", "completed", "completed"]]
    assert mail.last_mail()["Subject"] == "Hi 3"
    assert mail.envelopes[-1].rcpt_tos == ["ada@example.com"]
    assert b'"Ping 3"' in chat.requests[-1]


async def test_recipients_that_a_mail_server_accepted_get_the_message_once_although_it_refused_others(
    world: World,
) -> None:
    async with mail_server() as mail:
        mail.replies["ada@example.com"] = "450 4.2.0 Greylisted"
        await integrate(
            world, "nodemailer", "email", host="127.0.0.1", port=str(mail.port), **{"from": "a@example.com"}
        )
        await world.make_workflow(EMAIL)
        overrides = {"email": {"cc": ["grace@example.com"], "bcc": ["alan@example.com"]}}
        await world.trigger({"subscriberId": "ada", "email": "ada@example.com"}, overrides=overrides)
        for _ in range(3):
            await world.work(after=HOUR)

    (event,) = await world.events()
    (warning,) = [one for one in event["jobs"][0]["executionDetails"] if one["status"] == "Warning"]
    assert [one.rcpt_tos for one in mail.envelopes] == [["grace@example.com", "alan@example.com"]]
    assert event["jobs"][0]["status"] == "completed"
    assert warning["detail"] == "The provider refused some of the recipients"
    assert json.loads(warning["raw"]) == {"refused": {"ada@example.com": "450 4.2.0 Greylisted"}}


async def test_a_provider_that_asks_for_patience_gets_it_and_no_attempt_is_lost(world: World) -> None:
    answers = [answering(429, "slow down", Retry_After="120"), answering(200)]

    async def respond(request: bytes, writer: Any) -> None:
        await answers.pop(0)(request, writer)

    async with web_server(respond) as chat:
        await integrate(world, "slack", "chat", applicationId="a", clientId="c", secretKey="s")
        await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
        hook = {"providerId": "slack", "credentials": {"webhookUrl": chat.url()}}
        await world.api.patch("/v1/subscribers/ada/credentials", json=hook)
        await world.make_workflow(step("chat", body="Ping"))
        await world.trigger()
        await world.work()
        await world.work(after=2 * MINUTE - 1)
        assert await world.statuses() == [["queued"]]
        await world.work(after=1)

    (event,) = await world.events()
    assert event["jobs"][0]["status"] == "completed"
    assert chat.url().rpartition("/")[2] not in json.dumps(event)


@pytest.mark.parametrize("minutes", [0, 10])
async def test_a_lease_that_ran_out_is_taken_again_and_the_late_worker_records_nothing(
    world: World, minutes: int
) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL)
    await world.trigger({"subscriberId": "ada", "email": "ada@example.com"})
    await world.engine.work_lanes()
    sender, environment = world.engine.sender, world.api.environment.id
    (late,) = await claim_email(world)
    world.clock.move(minutes * MINUTE)
    await world.work()
    await sender._deliverer.deliver(late)
    await sender._database.transaction(lambda db: record_sends(db, environment, [late], world.clock.now()))

    (event,) = await world.events()
    sent = [one for one in details(event["jobs"][0]) if one == "Message sent"]
    assert event["jobs"][0]["status"] == "completed"
    assert len(sent) == 1
