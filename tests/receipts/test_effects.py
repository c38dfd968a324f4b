"""Effects of reports: details, the state of messages, suppressions; each event exactly once."""

import asyncio
import json
import logging
import re
from typing import Any
from urllib.parse import parse_qsl

import pytest

from clarion.db.port import Database
from clarion.db.query import sql
from clarion.environments.model import Environment
from clarion.ids import IntegrationId, find_id
from clarion.jobs.details import APPENDED_DETAIL
from clarion.jsontext import json_text
from clarion.providers.definition.receipts import Receipt, ReceiptKind
from clarion.receipts.actions import record_reports
from clarion.receipts.model import read_report
from clarion.receipts.store import find_integration
from clarion.vault import Vault
from clarion.vocabulary import Channel
from tests.engine.support import World, details, step
from tests.providers.contract.vendor import Reply, Vendor
from tests.receipts.signing import make_address, sendgrid, sendgrid_event, ses_bounce, twilio
from tests.records import NOW, make_job, make_message, make_subscriber
from tests.support import Api

LIST_EVENTS = sql("SELECT type FROM webhook_events WHERE environment_id = :environment_id")
COUNT = sql("SELECT count(*) AS n FROM receipts WHERE environment_id = :environment_id")


async def count_receipts(database: Database, environment: Environment) -> int:
    row = await database.read(lambda db: db.fetch_one(COUNT, environment_id=environment.id))
    assert row is not None
    return int(row["n"])


async def job_of(api: Api) -> dict[str, Any]:
    (event,) = (await api.get("/v1/notifications")).json()["data"]
    (job,) = event["jobs"]
    assert isinstance(job, dict)
    return job


async def test_a_mail_goes_out_bounces_and_its_address_is_suppressed(world: World, vendor: Vendor) -> None:
    address = await make_address(world.api, "sendgrid")
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "email": "Ada@Example.org"})
    await world.make_workflow(step("email", subject="Hello", body="Hello"))
    vendor.answers = lambda _: Reply(status=202, headers={"X-Message-Id": "14c5d75ce93"})
    await world.trigger()
    await world.work()
    found = re.search(r'"clarion_message_id": ?"([0-9a-f-]{36})"', vendor.requests[-1].body.decode())
    assert found is not None

    bounce = sendgrid_event("bounce", found[1], type="bounce", email="ada@example.org", reason="550 No such user")
    response = await address.post(sendgrid(bounce))

    (message,), (event,) = await world.messages(), await world.events()
    (suppression,) = (await world.api.get("/v1/suppressions")).json()["data"]
    detail, suppressing = event["jobs"][0]["executionDetails"][-2:]
    assert response.status_code == 200
    assert (message["status"], message["errorId"], message["errorText"]) == ("error", "bounced", "550 No such user")
    assert (detail["detail"], detail["status"], detail["source"]) == ("Message bounced", "Failed", "Webhook")
    assert (detail["providerId"], json.loads(detail["raw"])["sg_event_id"]) == ("sendgrid", "event-1")
    assert (suppression["address"], suppression["reason"]) == ("ada@example.org", "bounced")
    assert suppressing["detail"] == "Address was suppressed"
    assert json.loads(suppressing["raw"]) == {"channel": "email", "address": "ada@example.org", "reason": "bounced"}
    assert (suppression["_messageId"], suppression["providerId"]) == (message["_id"], "sendgrid")


async def test_a_text_goes_out_with_the_address_that_its_provider_reports_to(world: World, vendor: Vendor) -> None:
    address = await make_address(world.api, "twilio")
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "phone": "+44 20 7946 0000"})
    await world.make_workflow(step("sms", body="Hello"))
    vendor.answers = lambda _: Reply(status=201, body={"sid": "SM1", "status": "queued"})
    await world.trigger()
    await world.work()
    called = dict(parse_qsl(vendor.requests[-1].body.decode()))["StatusCallback"]

    response = await address.post(twilio(called, "undelivered", "SM1", ErrorCode="30005"), url=called)

    (message,), (suppression,) = await world.messages(), (await world.api.get("/v1/suppressions")).json()["data"]
    assert response.status_code == 200
    assert (message["status"], message["errorId"]) == ("error", "bounced")
    assert (suppression["channel"], suppression["address"]) == ("sms", "442079460000")


async def test_nothing_is_sent_to_a_suppressed_address(world: World, vendor: Vendor) -> None:
    await make_address(world.api, "postmark")
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "email": "Ada@Example.org"})
    await world.api.post("/v1/suppressions", json={"channel": "email", "address": "ada@example.org"})
    await world.make_workflow(step("email", subject="Hello", body="Hello"))

    await world.trigger()
    await world.work()

    assert vendor.requests == []


async def test_a_bounce_makes_a_webhook_event(api: Api, database: Database) -> None:
    address = await make_address(api, "sendgrid")
    await api.post("/v1/webhooks/endpoints", json={"url": "https://example.com/hook"})
    mail = await make_message(database, api.environment, channel=Channel.EMAIL, email="ada@example.org")

    await address.post(sendgrid(sendgrid_event("bounce", mail.text, type="bounce")))

    rows = await database.read(lambda db: db.fetch(LIST_EVENTS, environment_id=api.environment.id))
    assert [row["type"] for row in rows] == ["message.bounced"]


async def test_what_is_secret_is_neither_kept_nor_logged(
    api: Api, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    address = await make_address(api, "sendgrid")
    mail = await make_message(database, api.environment, channel=Channel.EMAIL, email="ada@example.org")
    token = address.url.rpartition("=")[2]
    leaks = f"SG.canary-api-key {token}"

    taken = await address.post(sendgrid(sendgrid_event("bounce", mail.text, reason=leaks, note=[leaks])))
    refused = await api.post(address.url, content=leaks)

    output = str(await job_of(api)) + (await api.get("/v1/messages")).text + (await api.get("/v1/suppressions")).text
    logged = str([one.__dict__ for one in caplog.records if one.name.startswith("clarion")])
    assert (taken.status_code, refused.status_code) == (200, 401)
    assert "***" in output
    for secret in ("canary", token):
        assert secret not in output
        assert secret not in logged


async def test_a_repeated_report_counts_once(api: Api, database: Database) -> None:
    address = await make_address(api, "sendgrid")
    mail = await make_message(database, api.environment, channel=Channel.EMAIL, email="ada@example.org")
    report = sendgrid(sendgrid_event("open", mail.text), sendgrid_event("open", mail.text))

    for _ in range(3):
        assert (await address.post(report)).status_code == 200
    await asyncio.gather(*(address.post(report) for _ in range(4)))

    assert details(await job_of(api)) == ["Message opened"]
    assert await count_receipts(database, api.environment) == 1


async def test_opening_a_mail_is_not_reading_in_app(api: Api, database: Database) -> None:
    address = await make_address(api, "sendgrid")
    mail = await make_message(database, api.environment, channel=Channel.EMAIL, email="ada@example.org")

    await address.post(sendgrid(sendgrid_event("open", mail.text), sendgrid_event("click", mail.text, number=2)))

    (message,) = (await api.get("/v1/messages")).json()["data"]
    job = await job_of(api)
    assert (message["seen"], message["read"], message["status"]) == (False, False, "sent")
    assert sorted(message["delivery"]) == ["clicked", "opened"]
    assert {one["status"] for one in job["executionDetails"]} == {"ReadConfirmation"}


async def test_moments_of_delivery_grow(api: Api, database: Database) -> None:
    address = await make_address(api, "sendgrid")
    columns: dict[str, Any] = {"email": "ada@example.org", "delivered_at": json_text([NOW - 1000])}
    mail = await make_message(database, api.environment, channel=Channel.EMAIL, **columns)

    await address.post(sendgrid(sendgrid_event("delivered", mail.text)))

    (message,) = (await api.get("/v1/messages")).json()["data"]
    assert message["deliveredAt"] == ["2025-12-31T23:59:59.000Z", "2026-01-01T00:00:00.000Z"]


async def test_a_thousand_events_come_in_one_call(api: Api, database: Database) -> None:
    address = await make_address(api, "sendgrid")
    mails = [
        await make_message(database, api.environment, channel=Channel.EMAIL, email=f"p{number}@example.org")
        for number in range(5)
    ]
    events = [
        sendgrid_event("open", mails[number % 5].text, number=number, at=NOW // 1000 + number) for number in range(1000)
    ]

    response = await address.post(sendgrid(*events))

    found = (await api.get("/v1/notifications")).json()["data"]
    assert response.status_code == 200
    assert [len(event["jobs"][0]["executionDetails"]) for event in found] == [200] * 5
    assert await count_receipts(database, api.environment) == 1000


async def test_a_mail_that_is_opened_for_ever_does_not_grow_for_ever(api: Api, database: Database) -> None:
    address = await make_address(api, "sendgrid")
    mail = await make_message(database, api.environment, channel=Channel.EMAIL, email="ada@example.org")
    browser = "x" * 900
    for first in (0, 200, 400):
        events = [sendgrid_event("open", mail.text, number=first + one, useragent=browser) for one in range(200)]
        await address.post(sendgrid(*events))

    assert len((await job_of(api))["executionDetails"]) == 200
    assert await count_receipts(database, api.environment) == 600


async def test_messages_that_are_not_there_are_counted_in_the_log_and_not_kept(
    api: Api, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    address = await make_address(api, "sendgrid")
    mail = await make_message(database, api.environment, channel=Channel.EMAIL, email="ada@example.org")
    unknown = [sendgrid_event("open", "no-id", number=number, sg_message_id=f"x{number}") for number in range(3)]

    response = await address.post(sendgrid(sendgrid_event("open", mail.text, number=9), *unknown))

    (line,) = [one for one in caplog.records if one.getMessage() == "Receipts"]
    assert response.status_code == 200
    assert (line.__dict__["recorded"], line.__dict__["repeated"], line.__dict__["unknown"]) == (1, 0, 3)
    assert await count_receipts(database, api.environment) == 1


async def test_in_app_messages_are_nothing_that_a_provider_can_report_on(api: Api, database: Database) -> None:
    address = await make_address(api, "sendgrid")
    message = await make_message(database, api.environment, channel=Channel.IN_APP)

    await address.post(sendgrid(sendgrid_event("bounce", message.text, type="bounce")))

    (found,) = (await api.get("/v1/messages")).json()["data"]
    assert found["status"] == "sent"
    assert await count_receipts(database, api.environment) == 0


async def test_a_copy_that_bounces_does_not_make_the_mail_an_error(api: Api, database: Database) -> None:
    address = await make_address(api, "ses")
    mail = await make_message(database, api.environment, channel=Channel.EMAIL, email="ada@example.org")

    await address.post(ses_bounce(mail.text, ["grace@example.org", "bob@example.org"]))

    (message,) = (await api.get("/v1/messages")).json()["data"]
    suppressed = (await api.get("/v1/suppressions")).json()["data"]
    assert message["status"] == "sent"
    assert sorted(one["address"] for one in suppressed) == ["bob@example.org", "grace@example.org"]
    assert sorted(details(await job_of(api))) == [*["Address was suppressed"] * 2, *["Message bounced"] * 2]


async def test_details_that_a_sender_writes_at_the_same_time_are_not_lost(api: Api, database: Database) -> None:
    address = await make_address(api, "sendgrid")
    job = await make_job(database, api.environment)
    mail = await make_message(database, api.environment, job=job, channel=Channel.EMAIL, email="ada@example.org")
    append = sql(f"""
        UPDATE jobs SET details = {APPENDED_DETAIL} WHERE environment_id = :environment_id AND id = :id
    """)

    async def send(number: int) -> None:
        text = json_text({"at": NOW, "status": "Success", "detail": f"Sent {number}"})
        scope = {"environment_id": api.environment.id, "id": job.id}
        await database.transaction(lambda db: db.execute(append, **scope, detail=text))

    reported = (address.post(sendgrid(sendgrid_event("open", mail.text, number=one))) for one in range(10))
    await asyncio.gather(*reported, *(send(one) for one in range(10)))

    assert len((await job_of(api))["executionDetails"]) == 20


async def test_a_dead_device_token_is_removed_from_the_subscriber(api: Api, database: Database, vault: Vault) -> None:
    address = await make_address(api, "pusher-beams")
    subscriber = await make_subscriber(database, api.environment, "ada")
    tokens = {"providerId": "pusher-beams", "credentials": {"deviceTokens": ["one", "two"]}}
    await api.put("/v1/subscribers/ada/credentials", json=tokens)
    push = await make_message(database, api.environment, subscriber=subscriber, channel=Channel.PUSH)
    receipt = Receipt(kind=ReceiptKind.BOUNCED, is_hard=True, message_id=push.text, recipient="one")

    integration_id = IntegrationId(find_id(address.integration_id) or b"")
    integration = await database.read(lambda db: find_integration(db, api.environment.id, integration_id, vault))
    assert integration is not None
    await record_reports(database, integration, [read_report(receipt, integration, lambda raw: raw, NOW)], NOW)

    found = (await api.get("/v2/subscribers/ada")).json()
    assert found["channels"][0]["credentials"]["deviceTokens"] == ["two"]
    assert "Invalid push device token was removed from subscriber" in details(await job_of(api))


async def test_characters_that_no_store_holds_do_no_harm(api: Api, database: Database) -> None:
    address = await make_address(api, "postmark")
    mail = await make_message(database, api.environment, channel=Channel.EMAIL, email="ada@example.org")
    odd = {"RecordType": "Bounce", "Type": "HardBounce", "Email": "a\0da@example.org", "Description": "no\0thing"}

    named = await api.post(address.url, json=odd | {"Metadata": {"clarion_message_id": mail.text}})
    unknown = await api.post(address.url, json=odd | {"MessageID": "x\0y"})

    (message,) = (await api.get("/v1/messages")).json()["data"]
    assert (named.status_code, unknown.status_code) == (200, 200)
    assert message["errorText"] == "nothing"
