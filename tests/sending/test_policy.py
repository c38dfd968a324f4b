"""Which integration carries a message when some fail, rest, or have no room."""

import asyncio

from clarion.app import Application
from clarion.clock import HOUR, MINUTE, SECOND
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.engine.worker import Engine
from clarion.ids import id_text
from clarion.integrations.callbacks import make_receipts_url_finder
from clarion.providers.definition.outgoing import Outgoing
from clarion.providers.definition.result import Sent
from clarion.providers.sending.gateway import ProviderGateway
from clarion.providers.transport.egress import EgressGuard
from clarion.sending.health import FAILURES_TO_OPEN
from clarion.vault import Vault
from tests.engine.providers import ADA, EMAIL, account, trigger_many
from tests.engine.support import World, details, in_app, step
from tests.providers.loopback import answering, mail_server, web_server
from tests.sending.test_sends import integrate


async def test_a_message_that_fails_too_often_goes_to_the_next_integration(world: World) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down()
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        # One message alone opens the circuit with its fifth attempt, and is carried by the other.
        for _ in range(12):
            await world.work(after=HOUR)

        (message,) = await world.messages()
        assert await world.statuses() == [["completed"]]
        assert (message["status"], second.count) == ("sent", 1)
        assert first.count == FAILURES_TO_OPEN + 1


async def test_attempts_that_are_used_up_on_one_integration_begin_anew_on_the_next(world: World) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.refused = second.refused = b"ada@example.com"
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        for hour in range(12):
            await world.work(after=HOUR)
            # Others get through, so that no circuit opens.
            await trigger_many(world, 2, start=2 * hour)
            await world.work()

        tried = [
            [b"ada@example.com" in one for one in account.server.requests].count(True) for account in (first, second)
        ]
        assert tried == [8, 3]
        (found,) = (await world.api.get("/v1/dead-letters")).json()["data"]
        assert (found["subscriberId"], found["attempts"]) == ("ada", 11)


async def test_an_open_circuit_sends_new_messages_to_the_next_one_at_once(world: World) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down()
        await world.make_workflow(EMAIL)
        await trigger_many(world, FAILURES_TO_OPEN)
        await world.work()
        assert (first.count, second.count) == (FAILURES_TO_OPEN, 0)

        await trigger_many(world, 20, start=100)
        await world.work()

        assert (first.count, second.count) == (FAILURES_TO_OPEN, 20)
        (event, *_) = reversed(await world.events())
        selected = next(one for one in event["jobs"][0]["executionDetails"] if "selected" in one["detail"])
        assert '"passedOver":{"a":"failed too often, and rests"}' in selected["raw"]


async def test_one_message_tries_out_whether_it_works_again_and_is_not_held_up_by_that(world: World) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down()
        await world.make_workflow(EMAIL)
        await trigger_many(world, FAILURES_TO_OPEN)
        await world.work()
        await trigger_many(world, 20, start=100)
        await world.work(after=11 * SECOND)
        assert (first.count, second.count) == (FAILURES_TO_OPEN + 1, 20)

        first.come_back()
        await trigger_many(world, 20, start=200)
        await world.work(after=21 * SECOND)
        assert first.count == FAILURES_TO_OPEN + 2
        await trigger_many(world, 20, start=300)
        await world.work()

        assert first.count == FAILURES_TO_OPEN + 2 + 20
        assert {status for (status,) in await world.statuses()} == {"completed"}


async def test_an_integration_alone_is_tried_however_its_circuit_stands(world: World) -> None:
    async with account(world, "a") as first:
        first.break_down()
        await world.make_workflow(EMAIL)
        await trigger_many(world, 2 * FAILURES_TO_OPEN)
        await world.work()
        first.come_back()
        await world.work(after=20 * SECOND)

        assert first.count == 4 * FAILURES_TO_OPEN
        assert {status for (status,) in await world.statuses()} == {"completed"}


async def test_an_integration_that_was_changed_is_used_again_at_once(world: World) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down()
        await world.make_workflow(EMAIL)
        await trigger_many(world, FAILURES_TO_OPEN)
        await world.work()
        first.come_back()

        path = f"/v1/integrations/{first.integration['_id']}"
        assert (await world.api.put(path, json={"name": "Repaired"})).status_code == 200
        await world.trigger(ADA)
        await world.work()

        assert (first.count, second.count) == (FAILURES_TO_OPEN + 1, 0)


async def test_messages_beyond_the_rate_limit_wait_for_their_turn_and_lose_no_attempt(world: World) -> None:
    async with account(world, "a", rateLimit=10) as first:
        await world.make_workflow(EMAIL)
        await trigger_many(world, 35)
        counts = []
        for _ in range(5):
            await world.work()
            counts.append(first.count)
            world.clock.move(SECOND + 10)

        events = await world.events()
        waited = [one for one in events if "Waits for its turn at the integration" in details(one["jobs"][0])]
        assert counts[0] == 10
        assert counts == sorted(counts)
        assert counts[1] <= 20
        assert counts[-1] == 35
        assert len(waited) == 25
        assert not any(one["isRetry"] for event in events for one in event["jobs"][0]["executionDetails"])


async def test_where_the_wait_is_long_another_integration_takes_over(world: World) -> None:
    async with account(world, "a", rateLimit=1) as first, account(world, "b") as second:
        await world.make_workflow(EMAIL)
        await trigger_many(world, 40)
        await world.work()
        for _ in range(12):
            await world.work(after=SECOND)

        assert first.count == 10
        assert second.count == 30
        assert {status for (status,) in await world.statuses()} == {"completed"}


async def test_a_provider_that_asks_for_patience_is_left_alone_and_the_others_take_over(world: World) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down(429, Retry_After="120")
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()
        await trigger_many(world, 10)
        await world.work()
        assert (first.count, second.count) == (1, 11)

        first.come_back()
        await world.trigger(ADA)
        await world.work(after=2 * MINUTE)

        assert (first.count, second.count) == (2, 11)


async def test_a_provider_that_asks_for_patience_for_ever_is_given_up_after_a_day(world: World) -> None:
    async with account(world, "a") as first:
        first.break_down(429, Retry_After="1800")
        await world.make_workflow(EMAIL, in_app("after"))
        await world.trigger(ADA)
        for _ in range(30):
            await world.work(after=HOUR)

        (event,) = await world.events()
        (found,) = (await world.api.get("/v1/dead-letters")).json()["data"]
        assert [job["status"] for job in event["jobs"]] == ["failed", "completed"]
        assert details(event["jobs"][0])[-1] == "Put off by the provider for too long"
        assert not any(one["isRetry"] for one in event["jobs"][0]["executionDetails"])
        assert 12 <= first.count <= 24
        assert found["attempts"] == 1

        first.come_back()
        body = {"ids": [found["_id"]]}
        assert (await world.api.post("/v1/dead-letters/redrive", json=body)).is_success
        await world.work(after=HOUR)
        assert len(first.taken) == 1


async def test_a_redriven_message_is_put_off_for_a_day_again(world: World) -> None:
    async with account(world, "a") as first:
        first.break_down(429, Retry_After="86400")
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()
        await world.work(after=25 * HOUR)
        assert await world.statuses() == [["failed"]]
        await world.api.post("/v1/dead-letters/redrive", json={"channel": "email"})
        await world.work(after=HOUR)

        assert await world.statuses() == [["queued"]]
        assert first.count == 3


async def test_a_message_that_is_put_off_for_long_goes_to_the_next_integration(world: World) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down(429, Retry_After="5")
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()
        for _ in range(9):
            await world.work(after=2 * MINUTE)

        (event,) = await world.events()
        assert event["jobs"][0]["status"] == "completed"
        assert "Put off by the provider for too long" in details(event["jobs"][0])
        assert (first.count, second.count) == (9, 1)


async def test_the_limit_of_the_next_integration_is_kept_when_it_takes_over(world: World) -> None:
    async with account(world, "a") as first, account(world, "b", rateLimit=5) as second:
        first.break_down(401)
        await world.make_workflow(EMAIL)
        await trigger_many(world, 12)
        await world.work()
        assert second.count == 5
        for _ in range(3):
            await world.work(after=SECOND + 10)

        assert (first.count, second.count) == (12, 12)
        assert {status for (status,) in await world.statuses()} == {"completed"}


async def test_a_lost_answer_is_told_and_tried_where_a_second_try_is_recognised(world: World) -> None:
    async with account(world, "a") as first, account(world, "b") as second:
        first.break_down(None)
        await world.make_workflow(EMAIL)
        await trigger_many(world, FAILURES_TO_OPEN + 1)
        await world.work()
        (message, *_) = await world.messages()
        assert (message["status"], message["errorId"]) == ("error", "possibly_delivered")

        first.come_back()
        await world.work(after=20 * SECOND)

        (event, *_) = await world.events()
        assert "Unconfirmed by the provider, which knows a second try" in details(event["jobs"][0])
        assert (second.count, len(set(first.taken))) == (0, FAILURES_TO_OPEN + 1)
        assert {one["id"] for one in first.bodies} == set(first.taken)
        (message, *_) = await world.messages()
        assert message["status"] == "sent"
        assert "errorId" not in message


async def test_a_lost_answer_of_a_provider_that_takes_no_key_says_possibly_delivered(world: World) -> None:
    async with mail_server() as mail:
        mail.replies["DATA"] = "hang up"
        server = {"host": "127.0.0.1", "port": str(mail.port), "from": "a@example.com"}
        await integrate(world, "nodemailer", "email", **server)
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await world.work()

        (event,) = await world.events()
        (message,) = await world.messages()
        assert "Possibly delivered" in details(event["jobs"][0])
        assert message["errorId"] == "possibly_delivered"


async def test_an_address_on_the_suppression_list_is_not_written_to(world: World) -> None:
    async with account(world, "a") as first:
        body = {"channel": "email", "address": "Ada@Example.com"}
        response = await world.api.post("/v1/suppressions", json=body)
        assert response.status_code in (200, 201), response.text
        await world.make_workflow(EMAIL, in_app("after"))
        await world.trigger(ADA)
        await world.work()

        (event,) = await world.events()
        (message,) = await world.messages(channel="email")
        assert first.count == 0
        assert [job["status"] for job in event["jobs"]] == ["failed", "completed"]
        assert (message["status"], message["errorText"]) == ("warning", "Subscriber's email address is suppressed")
        assert "/v1/suppressions" in event["jobs"][0]["executionDetails"][-1]["raw"]
        assert (await world.api.get("/v1/dead-letters")).json()["data"] == []


async def test_a_webhook_is_told_of_the_trigger(world: World) -> None:
    async with account(world, "a") as first:
        await world.make_workflow(EMAIL)
        await world.trigger(ADA, transactionId="t-1", payload={"n": 1})
        await world.work()

        (body,) = first.bodies
        details = body["payloadDetails"]
        assert (details["subject"], details["payload"]["subscriber"]["subscriberId"]) == ("Hi", "ada")
        about = {"transactionId": "t-1", "workflowIdentifier": "welcome", "subscriberId": "ada"}
        assert body["notificationDetails"] == about


async def test_dead_device_tokens_are_taken_from_the_subscriber(world: World) -> None:
    async def respond(request: bytes, writer: asyncio.StreamWriter) -> None:
        await answering(410 if b'"dead"' in request else 200)(request, writer)

    async with web_server(respond) as server:
        await integrate(world, "push-webhook", "push", webhookUrl=server.url("/push"), secretKey="s")
        await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
        tokens = {"providerId": "push-webhook", "credentials": {"deviceTokens": ["dead", "alive"]}}
        assert (await world.api.patch("/v1/subscribers/ada/credentials", json=tokens)).status_code == 200
        await world.make_workflow(step("push", subject="Hi", body="Ping"))
        await world.trigger()
        await world.work()

        (event,) = await world.events()
        (entry,) = (await world.api.get("/v2/subscribers/ada")).json()["channels"]
        assert event["jobs"][0]["status"] == "completed"
        assert "Invalid push device token was removed from subscriber" in details(event["jobs"][0])
        assert entry["credentials"]["deviceTokens"] == ["alive"]
        assert "dead" not in str(event)


async def test_an_entry_is_used_with_the_integration_that_it_belongs_to(world: World) -> None:
    async with web_server(answering(200)) as one, web_server(answering(200)) as other:
        servers = {"first": one, "second": other}
        for name, server in servers.items():
            credentials = {"webhookUrl": server.url("/q7x"), "secretKey": "s"}
            body = {"providerId": "push-webhook", "channel": "push", "active": True, "identifier": name}
            assert (await world.api.post("/v1/integrations", json=body | {"credentials": credentials})).is_success
        await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
        for name in servers:
            entry = {"providerId": "push-webhook", "integrationIdentifier": name}
            tokens = entry | {"credentials": {"deviceTokens": [f"token of {name}"]}}
            assert (await world.api.patch("/v1/subscribers/ada/credentials", json=tokens)).is_success
        await world.make_workflow(step("push", subject="Hi", body="Ping"))
        await world.trigger()
        await world.work()

        for name, server in servers.items():
            (request,) = server.requests
            assert f"token of {name}".encode() in request


async def test_what_else_an_entry_says_reaches_the_provider(world: World) -> None:
    async with web_server(answering(200, '{"ok":true}')) as server:
        await integrate(world, "grafana-on-call", "chat")
        await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
        credentials = {"webhookUrl": server.url("/q7x"), "alertUid": "alert-1", "title": "Fire"}
        entry = {"providerId": "grafana-on-call", "credentials": credentials}
        assert (await world.api.patch("/v1/subscribers/ada/credentials", json=entry)).is_success
        await world.make_workflow(step("chat", body="Ping"))
        await world.trigger()
        await world.work()

        (request,) = server.requests
        assert b'"alert-1"' in request
        assert b'"Fire"' in request


async def test_the_provider_is_told_where_to_report_and_its_id_of_the_message_is_kept(
    world: World, application: Application, database: Database, vault: Vault, gateway: ProviderGateway
) -> None:
    shown: list[str | None] = []

    class Listening(ProviderGateway):
        async def send(self, provider_id: str, outgoing: Outgoing) -> Sent:
            shown.append(outgoing.receipts_url)
            return await super().send(provider_id, outgoing)

    async with Listening(EgressGuard()) as listening:
        engine = Engine(
            database,
            clock=world.clock,
            vault=vault,
            bus=application.services.bus,
            gateway=listening,
            receipts_url=make_receipts_url_finder("https://api.example.com", vault),
        )
        made = await integrate(world, "svc-email", "email")
        await world.make_workflow(EMAIL)
        await world.trigger(ADA)
        await engine.drain()

    (url,) = shown
    (message,) = await world.messages()
    row = await database.read(lambda db: db.fetch_one(GET_MESSAGE, environment_id=world.api.environment.id))
    assert url is not None
    assert f"/{made['_environmentId']}/{made['_id']}?token=" in url
    assert row is not None
    assert (id_text(row["integration_id"]), row["provider_message_id"]) == (made["_id"], message["_id"])


GET_MESSAGE = sql("SELECT integration_id, provider_message_id FROM messages WHERE environment_id = :environment_id")
