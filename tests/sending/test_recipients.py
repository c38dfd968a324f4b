"""Recipients of sends: which addresses suppressions stop, and how numbers without a country code are completed."""

import json
from typing import Any

import pytest

from clarion.db.port import Database
from clarion.sending.suppressions.model import Suppression, SuppressionReason
from clarion.sending.suppressions.store import insert_suppressions
from clarion.vocabulary import Channel
from tests.engine.providers import ADA, account
from tests.engine.support import World, step
from tests.providers.loopback import answering, web_server
from tests.records import NOW
from tests.sending.test_sends import integrate
from tests.support import Api

CRITICAL: dict[str, Any] = {"preferences": {"workflow": {"all": {"enabled": True, "readOnly": True}}}}
EMAIL = step("email", subject="Hi", body="<p>x</p>")
SMS = step("sms", body="x")


def suppression(api: Api, reason: SuppressionReason, address: str = "ada@example.com", **fields: Any) -> Suppression:
    given = {"channel": Channel.EMAIL, "created_at": NOW, **fields}
    return Suppression(environment_id=api.environment.id, address=address, reason=reason, **given)


async def suppress(database: Database, *suppressions: Suppression) -> None:
    await database.transaction(lambda db: insert_suppressions(db, suppressions))


async def test_an_unsubscription_stops_everything_but_critical_workflows(world: World, database: Database) -> None:
    async with account(world, "a") as first:
        await suppress(database, suppression(world.api, SuppressionReason.UNSUBSCRIBED))
        await world.make_workflow(EMAIL, key="news")
        await world.make_workflow(EMAIL, key="reset", **CRITICAL)
        await world.trigger(ADA, name="news")
        await world.work()
        await world.trigger(ADA, name="reset")
        await world.work()

        news, reset = await world.events()
        assert (news["jobs"][0]["status"], reset["jobs"][0]["status"]) == ("failed", "completed")
        assert first.count == 1
        assert json.loads(news["jobs"][0]["executionDetails"][-1]["raw"])["reason"] == "unsubscribed"
        (note,) = [one for one in reset["jobs"][0]["executionDetails"] if "unsubscribed" in one["detail"]]
        assert note["detail"] == "Address unsubscribed, but the workflow is critical"
        assert json.loads(note["raw"])["addresses"] == ["ada@example.com"]


@pytest.mark.parametrize("reason", sorted(set(SuppressionReason) - {SuppressionReason.UNSUBSCRIBED}))
async def test_every_other_reason_stops_critical_workflows_too(
    world: World, database: Database, reason: SuppressionReason
) -> None:
    async with account(world, "a") as first:
        await suppress(database, suppression(world.api, reason))
        await world.make_workflow(EMAIL, **CRITICAL)
        await world.trigger(ADA)
        await world.work()

        assert (first.count, await world.statuses()) == (0, [["failed"]])


async def test_copies_of_critical_mail_follow_the_same_rule(world: World, database: Database) -> None:
    async with account(world, "a") as first:
        await suppress(
            database,
            suppression(world.api, SuppressionReason.UNSUBSCRIBED, "bob@example.com"),
            suppression(world.api, SuppressionReason.BOUNCED, "eve@example.com"),
        )
        copied = step("email", subject="Hi", body="<p>x</p>", cc=["bob@example.com", "eve@example.com"])
        await world.make_workflow(copied, **CRITICAL)
        await world.trigger(ADA)
        await world.work()

        assert [body["cc"] for body in first.bodies] == [["bob@example.com"]]


async def test_who_unsubscribed_from_texts_gets_none_at_all(world: World, database: Database) -> None:
    phone = {"channel": Channel.SMS, "address": "442079460000"}
    await suppress(database, suppression(world.api, SuppressionReason.UNSUBSCRIBED, **phone))
    body = {"providerId": "svc-sms", "channel": "sms", "active": True}
    assert (await world.api.post("/v1/integrations", json=body)).status_code == 201
    await world.make_workflow(SMS, **CRITICAL)
    await world.trigger({"subscriberId": "ada", "phone": "+44 20 7946 0000"})
    await world.work()

    assert await world.statuses() == [["failed"]]


@pytest.mark.parametrize("is_at_once", [False, True])
async def test_a_later_bounce_replaces_an_unsubscription_and_not_the_other_way_round(
    api: Api, database: Database, is_at_once: bool
) -> None:
    unsubscribed = suppression(api, SuppressionReason.UNSUBSCRIBED, detail="link")
    bounced = suppression(api, SuppressionReason.BOUNCED, detail="550 No such user")
    for batch in [[unsubscribed, bounced, unsubscribed]] if is_at_once else [[unsubscribed], [bounced], [unsubscribed]]:
        await suppress(database, *batch)

    (stored,) = (await api.get("/v1/suppressions")).json()["data"]
    assert (stored["reason"], stored["detail"]) == ("bounced", "550 No such user")


LOCAL = "020 7946 0000"
COMPLETE = "+442079460000"


async def send(world: World, person: dict[str, Any], **credentials: str) -> tuple[list[str], dict[str, Any]]:
    """Return the numbers that the provider got, and the job."""
    async with web_server(answering(200, '{"id":"1"}')) as server:
        account = {"baseUrl": server.url(""), "apiKeyRequestHeader": "X-Key", "apiKey": "k", "idPath": "id"}
        await integrate(world, "generic-sms", "sms", **account, **{"from": "Acme"}, **credentials)
        await world.make_workflow(step("sms", body="x"))
        await world.trigger({"subscriberId": "ada", **person})
        await world.work()
        bodies = [json.loads(one.partition(b"\r\n\r\n")[2]) for one in server.requests]
    (event,) = await world.events()
    return [one["to"] for one in bodies], event["jobs"][0]


@pytest.mark.parametrize(
    ("person", "credentials"),
    [
        ({"locale": "en-GB"}, {}),
        ({}, {"defaultRegion": "GB"}),
        ({"locale": "en-US"}, {"defaultRegion": "GB"}),
        ({"locale": "en"}, {"defaultRegion": "GB"}),
    ],
)
async def test_a_number_without_a_country_code_is_completed_from_a_known_region(
    world: World, person: dict[str, str], credentials: dict[str, str]
) -> None:
    numbers, job = await send(world, {"phone": LOCAL, **person}, **credentials)

    assert (numbers, job["status"]) == ([COMPLETE], "completed")


async def test_a_number_without_a_country_code_is_refused_where_no_region_is_known(world: World) -> None:
    numbers, job = await send(world, {"phone": "(202) 555-0123"})

    assert (numbers, job["status"]) == ([], "failed")
    raw = json.loads(job["executionDetails"][-1]["raw"])
    assert (raw["kind"], "defaultRegion" in raw["message"]) == ("recipient_invalid", True)


async def test_a_suppressed_number_stays_suppressed_without_its_country_code(world: World) -> None:
    suppressed = {"channel": "sms", "address": COMPLETE}
    assert (await world.api.post("/v1/suppressions", json=suppressed)).status_code == 201

    numbers, job = await send(world, {"phone": LOCAL}, defaultRegion="GB")

    assert (numbers, job["status"]) == ([], "failed")
