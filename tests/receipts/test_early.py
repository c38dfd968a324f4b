"""Early reports: they are recorded once after the send is recorded, and deleted if they match no message."""

import asyncio

import pytest
from msgspec import DecodeError

from clarion.clock import MINUTE, SECOND, Millis
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.environments.model import Environment
from clarion.receipts.early import record_early_reports
from clarion.vault import Vault
from tests.engine.support import World, details, step
from tests.providers.contract.vendor import Reply, Vendor
from tests.receipts.signing import Address, Signed, make_address, sendgrid, sendgrid_event, twilio
from tests.records import NOW

SPOIL = sql("UPDATE early_reports SET report = '{' WHERE environment_id = :environment_id")
COUNT = sql("SELECT count(*) AS n FROM early_reports WHERE environment_id = :environment_id")


async def count_kept(database: Database, environment: Environment) -> int:
    row = await database.read(lambda db: db.fetch_one(COUNT, environment_id=environment.id))
    assert row is not None
    return int(row["n"])


def report(address: Address, status: str = "undelivered", sid: str = "SM1") -> Signed:
    return twilio(address.url, status, sid, ErrorCode="30005")


async def trigger_sms(world: World, vendor: Vendor) -> None:
    """An SMS whose provider id is SM1 once it is sent."""
    vendor.answers = lambda _: Reply(status=201, body={"sid": "SM1", "status": "queued"})
    await world.api.post("/v2/subscribers", json={"subscriberId": "ada", "phone": "+44 20 7946 0000"})
    await world.make_workflow(step("sms", body="Hello"))
    await world.trigger()


async def test_a_report_that_comes_before_its_send_is_recorded_counts_when_it_is(
    world: World, vendor: Vendor, database: Database, vault: Vault
) -> None:
    address = await make_address(world.api, "twilio")
    await trigger_sms(world, vendor)
    taken = await address.post(report(address))
    await record_early_reports(database, vault, world.clock.now())
    assert await count_kept(database, world.api.environment) == 1

    await world.work()
    await record_early_reports(database, vault, Millis(NOW + 15 * SECOND))

    (message,), (event,) = await world.messages(), await world.events()
    (suppression,) = (await world.api.get("/v1/suppressions")).json()["data"]
    assert taken.status_code == 200
    assert (message["status"], message["errorId"]) == ("error", "bounced")
    assert details(event["jobs"][0])[-2:] == ["Message bounced", "Address was suppressed"]
    assert suppression["address"] == "442079460000"
    assert await count_kept(database, world.api.environment) == 0


async def test_an_early_report_that_is_repeated_counts_once(
    world: World, vendor: Vendor, database: Database, vault: Vault
) -> None:
    address = await make_address(world.api, "twilio")
    await trigger_sms(world, vendor)
    await address.post(report(address))
    await address.post(report(address))
    assert await count_kept(database, world.api.environment) == 1
    await world.work()
    await address.post(report(address))
    again = [record_early_reports(database, vault, world.clock.now()) for _ in range(4)]
    await asyncio.gather(*again)
    await address.post(report(address))

    (event,) = await world.events()
    assert details(event["jobs"][0]).count("Message bounced") == 1
    assert await count_kept(database, world.api.environment) == 0


async def test_reports_of_messages_that_are_not_ours_are_forgotten_after_a_minute(
    world: World, database: Database, vault: Vault
) -> None:
    address = await make_address(world.api, "twilio")
    for number in range(5):
        await address.post(report(address, sid=f"SM{number}"))
    await record_early_reports(database, vault, Millis(NOW + 50 * SECOND), limit=2)
    kept = await count_kept(database, world.api.environment)
    await record_early_reports(database, vault, Millis(NOW + MINUTE), limit=2)

    assert (kept, await count_kept(database, world.api.environment)) == (5, 0)


async def test_reports_of_an_integration_that_is_gone_are_forgotten(
    world: World, database: Database, vault: Vault
) -> None:
    address = await make_address(world.api, "twilio")
    await address.post(report(address))
    assert (await world.api.delete(f"/v1/integrations/{address.integration_id}")).is_success

    await record_early_reports(database, vault, world.clock.now())

    assert await count_kept(database, world.api.environment) == 0


async def test_a_kept_report_that_nobody_can_read_goes_in_the_end(
    world: World, database: Database, vault: Vault
) -> None:
    address = await make_address(world.api, "twilio")
    await address.post(report(address))
    await database.transaction(lambda db: db.execute(SPOIL, environment_id=world.api.environment.id))
    with pytest.raises(DecodeError):
        await record_early_reports(database, vault, Millis(NOW + MINUTE))

    await record_early_reports(database, vault, Millis(NOW + 2 * MINUTE + 1))

    assert await count_kept(database, world.api.environment) == 0


async def test_a_report_that_names_our_id_of_no_message_is_not_kept(world: World, database: Database) -> None:
    address = await make_address(world.api, "sendgrid")
    nobody = "01a1df28-0000-7000-8000-000000000000"

    await address.post(sendgrid(sendgrid_event("delivered", nobody, sg_message_id="14c5d75ce93")))

    assert await count_kept(database, world.api.environment) == 0
