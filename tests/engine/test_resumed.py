"""What steps see of the past after a run has waited: who acted, and what became of earlier messages."""

from typing import Any

import pytest

from clarion.clock import HOUR, MINUTE
from clarion.db.port import Database
from clarion.db.query import sql
from tests.engine.support import World, in_app, step
from tests.records import make_subscriber
from tests.sending.test_sends import EMAIL, integrate

ADA = {"subscriberId": "ada", "email": "ada@example.com"}
DELAY = step("delay", type="regular", amount=1, unit="hours")
DIGEST = step("digest", type="regular", amount=1, unit="hours")
IF_UNREAD = {"==": [{"var": "steps.inbox.read"}, False]}
REPORT_OPENED = sql("""
    UPDATE messages SET delivery = '{"delivered": 1, "opened": 2}'
    WHERE environment_id = :environment_id AND channel = 'email'
""")


async def mark(world: World, mark_as: str) -> None:
    ids = [one["_id"] for one in await world.messages(channel="in_app")]
    body = {"messageId": ids, "markAs": mark_as}
    assert (await world.api.post("/v1/subscribers/ada/messages/mark-as", json=body)).status_code == 201


@pytest.mark.parametrize(("mark_as", "status"), [("read", "skipped"), ("seen", "completed"), (None, "completed")])
@pytest.mark.parametrize("wait", [DELAY, DIGEST])
async def test_a_mail_goes_out_after_an_hour_only_if_the_message_is_unread(
    world: World, wait: dict[str, Any], mark_as: str | None, status: str
) -> None:
    await integrate(world, "svc-email", "email")
    mail = step("email", subject="x", body="x", skip=IF_UNREAD)
    await world.make_workflow(in_app("x"), wait, mail)
    await world.trigger(ADA)
    await world.work()
    if mark_as:
        await mark(world, mark_as)

    await world.work(after=HOUR)

    assert await world.statuses() == [["completed", "completed", status]]


async def test_marks_are_those_of_the_moment_at_which_the_step_is_decided(world: World) -> None:
    text = "{{steps.inbox.seen}} {{steps.inbox.read}} {{steps.inbox.lastReadDate}}"
    await world.make_workflow(in_app("x"), DELAY, in_app(text), DELAY, in_app(text), DELAY, in_app(text))
    await world.trigger()
    await world.work(after=MINUTE)
    await mark(world, "seen")
    await world.work(after=HOUR)
    await mark(world, "read")
    await world.work(after=HOUR)
    await mark(world, "unread")
    await world.work(after=HOUR)

    _, seen, read, unread = await world.feed()
    assert (seen, read, unread) == ("true false ", "true true 2026-01-01T01:01:00.000Z", "true false ")


async def test_people_do_not_see_the_marks_of_others(world: World) -> None:
    await world.make_workflow(in_app("x"), DELAY, in_app("{{steps.inbox.read}}"))
    await world.trigger(["ada", "bob"])
    await world.work()
    await world.api.post("/v1/subscribers/ada/messages/mark-all", json={"markAs": "read"})

    await world.work(after=HOUR)

    assert await world.feed("ada") == ["x", "true"]
    assert await world.feed("bob") == ["x", "false"]


async def test_a_message_that_was_deleted_is_unread(world: World) -> None:
    await world.make_workflow(in_app("x"), DELAY, in_app("{{steps.inbox.read}}"))
    await world.trigger()
    await world.work()
    await mark(world, "read")
    (message,) = await world.messages()
    await world.api.delete(f"/v1/messages/{message['_id']}")

    await world.work(after=HOUR)

    assert await world.feed() == ["false"]


async def test_an_email_is_read_when_it_was_opened(world: World, database: Database) -> None:
    await integrate(world, "svc-email", "email")
    await world.make_workflow(EMAIL, in_app("{{steps.email.read}}"), DELAY, in_app("{{steps.email.read}}"))
    await world.trigger(ADA)
    await world.work()
    await database.transaction(lambda db: db.execute(REPORT_OPENED, environment_id=world.api.environment.id))

    await world.work(after=HOUR)

    assert await world.feed() == ["false", "true"]


@pytest.mark.parametrize("wait", [DELAY, DIGEST, EMAIL])
async def test_the_actor_is_known_after_a_wait(world: World, database: Database, wait: dict[str, Any]) -> None:
    await integrate(world, "svc-email", "email")
    text = "{{actor.firstName}}"
    await world.make_workflow(in_app(text), wait, in_app(text, skip={"==": [{"var": "actor.lastName"}, "Hopper"]}))
    await world.trigger(ADA, actor={"subscriberId": "grace", "firstName": "Grace", "lastName": "Hopper"})

    await world.work()
    await world.work(after=HOUR)

    assert await world.feed() == ["Grace", "Grace"]


async def test_an_actor_who_was_deleted_is_not_created_again(world: World, database: Database) -> None:
    await make_subscriber(database, world.api.environment, "grace", first_name="Grace")
    await world.make_workflow(DELAY, in_app("[{{actor.firstName}}]"))
    await world.trigger(actor="grace")
    await world.work()
    await world.api.delete("/v2/subscribers/grace")

    await world.work(after=HOUR)

    assert await world.feed() == ["[]"]
    assert (await world.api.get("/v2/subscribers/grace")).status_code == 404
