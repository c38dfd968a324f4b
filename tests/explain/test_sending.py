"""Messages for providers: addresses, suppressions, integrations, attempts and receipts."""

from typing import Any

from clarion.clock import DAY, MINUTE, Millis
from clarion.db.port import Database
from clarion.providers.definition.receipts import ReceiptKind
from clarion.sending.suppressions.model import Suppression, SuppressionReason
from clarion.sending.suppressions.store import insert_suppressions
from clarion.vault import Vault
from clarion.vocabulary import Channel
from tests.engine.providers import account
from tests.engine.support import World, in_app, step
from tests.explain.support import explain_id, explain_newest, of_kind, only, report

EMAIL = step("email", subject="Hi", body="<p>x</p>")
ADA = {"subscriberId": "ada", "firstName": "Ada", "email": "ada@example.com"}


async def test_a_sent_message_names_its_integration_and_why_it_was_chosen(world: World) -> None:
    async with account(world, "first"):
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()

    found = await explain_newest(world)

    chosen = only(found, "integration", "passed")
    expected = "The integration 'first' was chosen, because it is the primary integration of the channel."
    assert chosen["summary"] == expected
    assert only(found, "attempt", "passed")["values"]["providerId"] == "email-webhook"
    assert found["channels"]["email"]["outcome"] == "sent"


async def test_a_message_without_an_address_says_so_and_how_to_give_one(world: World) -> None:
    await world.make_workflow(EMAIL)
    await world.trigger({"subscriberId": "ada", "firstName": "Ada"})
    await world.work()

    found = await explain_newest(world)

    assert only(found, "address", "failed")["summary"] == "Ada had no email address."
    await world.api.patch("/v2/subscribers/ada", json={"email": "ada@example.com"})
    assert "There is one now" in only(await explain_newest(world), "address", "failed")["summary"]
    assert found["channels"]["email"] == {"outcome": "failed", "summary": "Ada had no email address."}


PUSH, CHAT = step("push", subject="a", body="b"), step("chat", body="b")


async def make_integration(world: World, provider: str, channel: str, **fields: Any) -> dict[str, Any]:
    body = {"providerId": provider, "channel": channel, "identifier": f"my-{provider}", "active": True, **fields}
    response = await world.api.post("/v1/integrations", json=body)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def test_push_and_chat_without_an_integration_say_so_and_name_those_that_are_off(world: World) -> None:
    await make_integration(world, "slack", "chat", active=False)
    await world.make_workflow(PUSH, CHAT)
    await world.trigger(ADA)
    await world.work()

    found = await explain_newest(world)

    push, chat = of_kind(found, "integration")
    assert push["summary"] == "The environment has no integration for push."
    assert chat["summary"] == "No integration for chat could send it: 'my-slack' is not active."
    assert of_kind(found, "address") == []
    assert {one["outcome"] for one in found["channels"].values()} == {"failed"}


async def test_an_in_app_integration_that_is_off_is_named(world: World) -> None:
    (own,) = [one for one in (await world.api.get("/v1/integrations")).json() if one["channel"] == "in_app"]
    await world.api.put(f"/v1/integrations/{own['_id']}", json={"active": False})
    await world.make_workflow(in_app())
    await world.trigger(ADA)
    await world.work()

    decision = only(await explain_newest(world), "integration", "failed")

    assert decision["summary"] == f"No integration for in-app could send it: '{own['identifier']}' is not active."


async def test_an_integration_that_the_trigger_names_is_named_where_it_cannot_send(world: World) -> None:
    async with account(world, "first"), account(world, "second", active=False):
        await world.make_workflow(EMAIL)
        for wanted in ("thrid", "second"):
            await world.trigger(ADA, overrides={"email": {"integrationIdentifier": wanted}})
        await world.work()

    unknown, off = [
        only(await explain_id(world, event["_id"]), "integration", "failed") for event in await world.events()
    ]

    assert unknown["summary"] == (
        "The trigger names the integration 'thrid', which is no integration for email; there are 'first', 'second'."
    )
    assert off["summary"] == "The trigger names the integration 'second', which is not active."
    assert "then redrive the dead letter" in off["remedy"]


async def test_the_provider_of_a_persons_token_is_named_when_its_integration_is_gone(world: World) -> None:
    made = await make_integration(world, "pushpad", "push", credentials={"apiKey": "k", "applicationId": "1"})
    await world.api.post("/v2/subscribers", json=ADA)
    body = {"providerId": "pushpad", "credentials": {"deviceTokens": ["t"]}}
    assert (await world.api.put("/v1/subscribers/ada/credentials", json=body)).status_code == 200
    await world.make_workflow(PUSH)
    await world.api.put(f"/v1/integrations/{made['_id']}", json={"active": False})
    await world.trigger("ada")
    await world.work()

    decision = only(await explain_newest(world), "integration", "failed")

    assert decision["summary"].startswith(
        "The message is for the provider 'pushpad', of which there is no active integration"
    )


async def test_push_and_chat_without_credentials_name_what_is_missing(world: World) -> None:
    await make_integration(world, "pushpad", "push", credentials={"apiKey": "k", "applicationId": "1"})
    slack = {"applicationId": "a", "clientId": "c", "secretKey": "s"}
    await make_integration(world, "slack", "chat", credentials=slack)
    await world.make_workflow(PUSH, CHAT)
    await world.trigger(ADA)
    await world.work()

    push, chat = of_kind(await explain_newest(world), "address")

    assert push["summary"] == "Ada had no device token at any provider of the channel."
    assert chat["summary"] == "Ada had no chat address at any provider of the channel."


async def test_a_suppressed_address_tells_since_when_and_why(world: World, database: Database) -> None:
    one = Suppression(
        environment_id=world.api.environment.id,
        channel=Channel.EMAIL,
        address="ada@example.com",
        reason=SuppressionReason.BOUNCED,
        created_at=Millis(world.clock.now() - DAY),
        detail="mailbox full",
    )
    await database.transaction(lambda db: insert_suppressions(db, [one]))
    async with account(world, "first"):
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()

    found = await explain_newest(world)
    decision = only(found, "suppression")
    await world.api.delete("/v1/suppressions/email/ada@example.com")
    cleared = only(await explain_newest(world), "suppression")

    assert decision["summary"].startswith("The email address of Ada is suppressed since")
    assert decision["summary"].endswith("because an earlier message to it bounced.")
    assert decision["values"]["detail"] == "mailbox full"
    assert "DELETE /v1/suppressions" in decision["remedy"]
    assert "it is not any more" in cleared["summary"]


async def test_an_open_circuit_is_named_with_the_integration_that_took_over(world: World) -> None:
    async with account(world, "first") as first, account(world, "second"):
        await world.make_workflow(EMAIL)
        first.break_down()
        for number in range(6):
            await world.trigger({"subscriberId": f"p{number}", "email": f"p{number}@example.com"})
            await world.work()
        await world.trigger(ADA)
        await world.work()

    chosen = only(await explain_newest(world), "integration", "passed")

    assert "Passed over: 'first' failed too often, so that its circuit was open until" in chosen["summary"]
    assert list(chosen["values"]["restsUntil"]) == ["first"]


async def test_without_an_integration_each_that_there_is_is_explained(world: World) -> None:
    plan = {"on": "payload", "field": "plan", "operator": "EQUAL", "value": "gold"}
    conditions = [{"type": "GROUP", "value": "AND", "isNegated": False, "children": [plan]}]
    async with account(world, "gold", conditions=conditions):
        await world.make_workflow(EMAIL)
        await world.trigger(ADA, payload={"plan": "free"})
        await world.work()

    decision = only(await explain_newest(world), "integration", "failed")

    assert decision["summary"] == ("No integration for email could send it: 'gold' has conditions that do not hold.")


async def test_failed_attempts_are_numbered_and_the_next_is_announced(world: World) -> None:
    async with account(world, "first") as first:
        first.break_down()
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()
        waiting = await explain_newest(world)
        first.break_down(400)
        await world.work(after=2 * MINUTE)

    found = await explain_newest(world)

    failed, later = of_kind(waiting, "attempt")
    assert failed["summary"].startswith("Attempt 1 through 'email-webhook' failed")
    assert later["summary"].startswith("The next attempt is due on")
    assert (waiting["channels"]["email"]["outcome"], later["verdict"]) == ("waiting", "waiting")
    assert [one["values"]["attempt"] for one in of_kind(found, "attempt")] == [1, 2]
    assert found["channels"]["email"]["outcome"] == "failed"


async def test_content_that_cannot_be_made_names_the_reason(world: World) -> None:
    await world.make_workflow(in_app("{{payload.list | divided_by: payload.zero}}"))
    await world.trigger(ADA, payload={"list": 1})
    await world.work()

    decision: dict[str, Any] = only(await explain_newest(world), "content", "failed")

    assert decision["values"]["reason"] in decision["summary"]


async def test_a_bounce_after_the_send_makes_the_channel_fail(world: World, database: Database, vault: Vault) -> None:
    async with account(world, "first") as first:
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()
    raw = {"why": "no such user"}
    await report(database, vault, world, first.integration, ReceiptKind.BOUNCED, is_hard=True, raw=raw)

    found = await explain_newest(world)

    bounce = only(found, "receipt", "failed")
    assert bounce["summary"] == "The provider 'email-webhook' reported that the message bounced for good."
    assert bounce["values"]["why"] == "no such user"
    assert found["channels"]["email"] == {"outcome": "failed", "summary": bounce["summary"]}
    suppressing = only(found, "suppression", "passed")
    assert suppressing["summary"] == ("Because the message bounced for good, nothing more is sent to ada@example.com.")
    assert "DELETE /v1/suppressions" in suppressing["remedy"]


async def test_a_soft_bounce_is_no_suppression(world: World, database: Database, vault: Vault) -> None:
    async with account(world, "first") as first:
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()
        await report(database, vault, world, first.integration, ReceiptKind.BOUNCED, is_hard=False, raw={"why": "full"})
        found = await explain_newest(world)
        await world.trigger(ADA)
        await world.work()

    bounce = only(found, "receipt", "failed")
    assert bounce["summary"].endswith("reported that the message bounced, but may arrive another time.")
    assert bounce["remedy"].endswith("The address is not suppressed.")
    assert of_kind(found, "suppression") == []
    assert (await explain_newest(world))["channels"]["email"]["outcome"] == "sent"


async def test_a_complaint_is_told_with_the_suppression_that_it_leads_to(
    world: World, database: Database, vault: Vault
) -> None:
    async with account(world, "first") as first:
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()
    await report(database, vault, world, first.integration, ReceiptKind.COMPLAINED, raw={})

    found = await explain_newest(world)

    assert "complained" in only(found, "receipt", "stopped")["summary"]
    assert only(found, "suppression", "passed")["values"]["reason"] == "complained"
    assert found["channels"]["email"]["outcome"] == "sent"


async def test_a_failed_step_that_stops_the_run_is_the_reason_of_those_behind_it(world: World) -> None:
    await world.make_workflow(EMAIL | {"shouldStopOnFail": True}, in_app())
    await world.trigger({"subscriberId": "ada"})
    await world.work()

    found = await explain_newest(world)

    assert only(found, "cancel")["summary"].startswith("An earlier step failed")
    assert found["channels"]["in_app"]["outcome"] == "canceled"


async def test_a_redriven_message_is_followed_to_its_end(world: World) -> None:
    async with account(world, "first") as first:
        first.break_down(400)
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()
        first.come_back()
        redriven = await world.api.post("/v1/dead-letters/redrive", json={"all": True})
        assert redriven.status_code == 200, redriven.text
        await world.work()

    found = await explain_newest(world)

    verdicts = [one["verdict"] for one in of_kind(found, "attempt")]
    assert verdicts == ["failed", "waiting", "passed"]
    assert found["channels"]["email"]["outcome"] == "sent"


async def test_a_rate_limit_that_is_used_up_lets_a_message_wait(world: World) -> None:
    async with account(world, "first", rateLimit=1):
        await world.make_workflow(EMAIL)
        for _ in range(4):
            await world.trigger(ADA)
        await world.work()

    waiting = [
        one for event in await world.events() for one in of_kind(await explain_id(world, event["_id"]), "integration")
    ]

    assert any(one["summary"].startswith("The rate limit of 'first' was used up") for one in waiting)


async def test_a_pause_that_the_provider_asks_for_is_no_rate_limit_of_ours(world: World) -> None:
    async with account(world, "first") as first:
        await world.make_workflow(EMAIL)
        first.break_down(429, **{"Retry-After": "120"})
        await world.trigger(ADA)
        await world.work()
        await world.trigger({"subscriberId": "bob", "email": "bob@example.com"})
        await world.work()

    found = await explain_newest(world)

    decision = only(found, "integration", "waiting")
    assert decision["summary"].startswith("The provider of 'first' asked to be left alone until ")
    assert list(decision["values"]["pausedUntil"]) == ["first"]
    assert "higher limit at the provider" in decision["remedy"]
    assert found["channels"]["email"]["outcome"] == "waiting"


async def test_an_integration_that_is_passed_over_for_a_pause_is_told_so(world: World) -> None:
    async with account(world, "first") as first, account(world, "second"):
        await world.make_workflow(EMAIL)
        first.break_down(429, **{"Retry-After": "120"})
        for name in ("bob", "ada"):
            await world.trigger({"subscriberId": name, "email": f"{name}@example.com"})
            await world.work()

    chosen = of_kind(await explain_newest(world), "integration")[-1]

    assert "Passed over: 'first' was paused, because its provider asked for it until " in chosen["summary"]


async def test_dead_letters_are_named_only_while_there_is_one(world: World) -> None:
    async with account(world, "first") as first:
        await world.make_workflow(EMAIL)
        first.break_down()
        await world.trigger(ADA)
        await world.work()
        retried = only(await explain_newest(world), "attempt", "failed")
        first.break_down(400)
        await world.work(after=2 * MINUTE)
        dead = of_kind(await explain_newest(world), "attempt")[-1]
        discarded = await world.api.post("/v1/dead-letters/discard", json={"all": True})
        assert discarded.status_code == 200, discarded.text
        gone = of_kind(await explain_newest(world), "attempt")
        first.come_back()
        await world.trigger(ADA)
        first.break_down()
        await world.work()
        first.come_back()
        await world.work(after=2 * MINUTE)

    recovered = of_kind(await explain_newest(world), "attempt")

    assert retried["remedy"] == "Nothing has to be done yet: it is tried again."
    assert dead["remedy"].endswith("then redrive the dead letter (POST /v1/dead-letters/redrive).")
    assert gone[1]["remedy"].endswith("there is no dead letter to redrive.")
    assert gone[-1]["summary"].startswith("The dead letter was discarded")
    assert [one["verdict"] for one in recovered] == ["failed", "passed"]
    assert "remedy" not in recovered[0]
