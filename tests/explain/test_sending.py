"""Messages for providers: addresses, suppressions, integrations, attempts and receipts."""

from typing import Any

from clarion.clock import DAY, MINUTE, Millis
from clarion.db.port import Database
from clarion.ids import IntegrationId, find_id
from clarion.providers.definition.receipts import Receipt, ReceiptKind
from clarion.receipts.actions import record_reports
from clarion.receipts.model import read_report
from clarion.receipts.store import find_integration
from clarion.suppressions.model import Suppression, SuppressionReason
from clarion.suppressions.store import insert_suppressions
from clarion.vault import Vault
from clarion.vocabulary import Channel
from tests.engine.providers import account
from tests.engine.support import World, in_app, step
from tests.explain.support import explain_id, explain_newest, of_kind, only

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


async def test_push_and_chat_without_credentials_name_what_is_missing(world: World) -> None:
    await world.make_workflow(step("push", subject="a", body="b"), step("chat", body="b"))
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
    await world.make_workflow(in_app("{{payload.list | divided_by: 0}}"))
    await world.trigger(ADA, payload={"list": 1})
    await world.work()

    decision: dict[str, Any] = only(await explain_newest(world), "content", "failed")

    assert decision["values"]["reason"] in decision["summary"]


async def test_a_bounce_after_the_send_makes_the_channel_fail(world: World, database: Database, vault: Vault) -> None:
    async with account(world, "first") as first:
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()
    (message,) = await world.messages()
    environment_id, own_id = world.api.environment.id, find_id(first.integration["_id"])
    assert own_id is not None
    integration = await database.read(
        lambda db: find_integration(db, environment_id, IntegrationId(own_id), vault=vault)
    )
    assert integration is not None
    receipt = Receipt(kind=ReceiptKind.BOUNCED, message_id=message["_id"], is_hard=True, raw={"why": "no such user"})
    report = read_report(receipt, integration, lambda value: value, world.clock.now())
    await record_reports(database, integration, [report], world.clock.now())

    found = await explain_newest(world)

    bounce = only(found, "receipt", "failed")
    assert bounce["summary"] == "The provider 'email-webhook' reported that the message bounced."
    assert bounce["values"]["why"] == "no such user"
    assert found["channels"]["email"] == {"outcome": "failed", "summary": bounce["summary"]}


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
