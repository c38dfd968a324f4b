"""Fields of people in a trigger whose key may not write subscribers: they hold for that trigger alone."""

from typing import Any

import pytest

from clarion.clock import HOUR
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.vocabulary import Scope
from tests.engine.support import World, in_app, step
from tests.providers.loopback import answering, web_server
from tests.sending.test_addresses import bodies_of
from tests.sending.test_sends import integrate
from tests.support import Api, MakeApi

MAIL = step("email", "Mail", subject="For {{subscriber.firstName}}", body="From {{actor.firstName}}")
LIST_RECIPIENTS = sql("SELECT recipients FROM triggers WHERE environment_id = :environment_id")


@pytest.fixture
async def sender(world: World, make_api: MakeApi) -> Api:
    """A key that may trigger and nothing else."""
    mail = {"providerId": "svc-email", "channel": "email", "active": True}
    assert (await world.api.post("/v1/integrations", json=mail)).status_code in (201, 422)
    ada = {"subscriberId": "ada", "firstName": "Ada", "email": "ada@example.com"}
    assert (await world.api.post("/v2/subscribers", json=ada)).status_code == 201
    return await make_api(scopes=frozenset({Scope.EVENTS_WRITE}))


async def trigger(api: Api, to: Any, **fields: Any) -> None:
    response = await api.post("/v1/events/trigger", json={"name": "welcome", "to": to, **fields})
    assert response.status_code == 201, response.text


async def mails(world: World) -> list[tuple[str | None, str]]:
    """The address and the subject of every mail, oldest first."""
    return [(one.get("email"), one["subject"]) for one in await world.messages(channel="email")]


OTHER = {"subscriberId": "ada", "firstName": "Eve", "email": "eve@example.com"}


async def test_mail_of_this_trigger_goes_to_the_given_address_and_later_mail_to_the_stored_one(
    world: World, sender: Api
) -> None:
    await world.make_workflow(MAIL)
    await trigger(sender, OTHER)
    await trigger(sender, "ada")
    await world.work()

    assert await mails(world) == [("eve@example.com", "For Eve"), ("ada@example.com", "For Ada")]
    stored = (await world.api.get("/v2/subscribers/ada")).json()
    assert (stored["firstName"], stored["email"]) == ("Ada", "ada@example.com")


async def test_a_key_that_may_write_subscribers_changes_them_as_before(world: World, sender: Api) -> None:
    await world.make_workflow(MAIL)
    await trigger(world.api, OTHER)
    await trigger(sender, "ada")
    await world.work()

    assert await mails(world) == [("eve@example.com", "For Eve"), ("eve@example.com", "For Eve")]


async def test_the_fields_still_hold_after_delays_and_digests(world: World, sender: Api) -> None:
    delay = step("delay", "Wait", type="regular", amount=1, unit="hours")
    digest = step("digest", "Digest", type="regular", amount=1, unit="hours")
    await world.make_workflow(delay, digest, MAIL)
    await trigger(sender, OTHER, actor={"subscriberId": "bob", "firstName": "Bob"})
    await world.work()
    await world.work(after=HOUR)
    await world.work(after=HOUR)

    assert await mails(world) == [("eve@example.com", "For Eve")]
    (mail,) = await world.messages(channel="email")
    assert "From Bob" in mail["content"]
    assert (await world.api.get("/v2/subscribers/bob")).json()["firstName"] is None


async def test_null_takes_the_address_away_for_this_trigger_alone(world: World, sender: Api) -> None:
    await world.make_workflow(MAIL)
    await trigger(sender, {"subscriberId": "ada", "email": None})
    await trigger(sender, "ada")
    await world.work()

    assert [address for address, _ in await mails(world)] == [None, "ada@example.com"]


async def test_a_person_who_does_not_exist_is_created_with_their_id_alone(world: World, sender: Api) -> None:
    await world.make_workflow(MAIL)
    await trigger(sender, {"subscriberId": "new", "firstName": "New", "email": "new@example.com", "data": {"a": 1}})
    await world.work()

    assert await mails(world) == [("new@example.com", "For New")]
    stored = (await world.api.get("/v2/subscribers/new")).json()
    assert (stored["firstName"], stored["email"], stored["data"]) == (None, None, None)


async def test_people_of_several_lanes_and_members_of_topics_keep_their_own_fields(world: World, sender: Api) -> None:
    await world.make_workflow(in_app("{{subscriber.firstName}} {{subscriber.data.n}}"))
    people = [f"p{number}" for number in range(6)]
    await world.api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["ada"]})
    named = [{"subscriberId": key, "firstName": key.upper(), "data": {"n": key}} for key in people]
    await trigger(sender, [*named, {"type": "Topic", "topicKey": "news"}])
    await world.work_by_turns()

    assert [await world.feed(key) for key in people] == [[f"{key.upper()} {key}"] for key in people]
    assert await world.feed("ada") == ["Ada "]


async def test_a_number_without_a_country_code_is_completed_by_the_given_locale(world: World, sender: Api) -> None:
    async with web_server(answering(200, '{"id":"1"}')) as server:
        account = {"baseUrl": server.url(""), "apiKeyRequestHeader": "X-Key", "apiKey": "k", "idPath": "id"}
        await integrate(world, "generic-sms", "sms", **account, **{"from": "Acme"})
        await world.make_workflow(step("sms", body="x"))
        await trigger(sender, {"subscriberId": "ada", "phone": "020 7946 0000", "locale": "en-GB"})
        await world.work()

        assert [body["to"] for body in bodies_of(server)] == ["+442079460000"]


async def test_webhooks_get_the_person_as_the_trigger_describes_them(world: World, sender: Api) -> None:
    async with web_server(answering(200)) as server:
        await integrate(world, "push-webhook", "push", webhookUrl=server.url("/push"), secretKey="s")
        tokens = {"providerId": "push-webhook", "credentials": {"deviceTokens": ["one"]}}
        assert (await world.api.patch("/v1/subscribers/ada/credentials", json=tokens)).status_code == 200
        await world.make_workflow(step("push", subject="Hi", body="x"))
        await trigger(sender, OTHER)
        await world.work()

        (body,) = bodies_of(server)
        assert body["payload"]["subscriber"]["firstName"] == "Eve"


async def test_the_fields_leave_the_trigger_when_the_person_is_erased(
    world: World, sender: Api, database: Database
) -> None:
    await world.make_workflow(MAIL)
    await trigger(sender, [OTHER, {"subscriberId": "bob", "firstName": "Bob"}])
    await world.work()
    assert (await world.api.delete("/v2/subscribers/ada")).status_code == 200
    await world.work()

    rows = await database.read(lambda db: db.fetch(LIST_RECIPIENTS, environment_id=world.api.environment.id))
    assert "eve@example.com" not in str([row["recipients"] for row in rows])
    assert "Bob" in str([row["recipients"] for row in rows])
