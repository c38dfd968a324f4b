"""In-app messages after they were delivered: snoozed, archived and deleted ones."""

import pytest

from clarion.clock import DAY, HOUR
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.inbox.snoozes import wake_due_messages
from tests.engine.support import World, in_app, step
from tests.explain.support import explain_newest, of_kind, only

ADA = {"subscriberId": "ada", "firstName": "Ada", "email": "ada@example.com"}
OF_ADA = "/v2/subscribers/ada/notifications"


async def deliver(world: World) -> tuple[str, str]:
    """Put a message into Ada's inbox; returns its id and its transaction."""
    await world.make_workflow(in_app())
    answer = await world.trigger(ADA)
    await world.work()
    world.clock.move(HOUR)
    return (await world.messages())[-1]["_id"], answer["transactionId"]


async def wake(world: World, database: Database) -> None:
    world.clock.move(2 * DAY)
    await database.transaction(lambda db: wake_due_messages(db, world.clock.now(), limit=100))


async def test_a_snoozed_message_is_hidden_until_its_moment(world: World, database: Database) -> None:
    message_id, _ = await deliver(world)
    body = {"snoozeUntil": "2026-01-02T09:00:00.000Z"}
    response = await world.api.patch(f"{OF_ADA}/{message_id}/snooze", json=body)
    assert response.status_code == 200, response.text

    found = await explain_newest(world)
    await wake(world, database)
    back = await explain_newest(world)

    snoozed = only(found, "receipt", "waiting")
    assert snoozed["summary"] == (
        "Ada snoozed the message: it is hidden until 2 January at 09:00 UTC, and comes back then."
    )
    assert found["channels"]["in_app"] == {"outcome": "waiting", "summary": snoozed["summary"]}
    assert back["channels"]["in_app"]["outcome"] == "delivered"
    assert {one["verdict"] for one in of_kind(back, "receipt")} == {"passed"}


async def test_a_message_that_came_back_from_a_snooze_is_found_with_its_marks(world: World, database: Database) -> None:
    message_id, _ = await deliver(world)
    await world.api.patch(f"{OF_ADA}/{message_id}/snooze", json={"snoozeUntil": "2026-01-02T09:00:00.000Z"})
    await wake(world, database)
    await world.api.patch(f"{OF_ADA}/{message_id}/read")

    found = await explain_newest(world)

    assert [one["summary"] for one in of_kind(found, "receipt")][-1] == "Ada read the message on 3 January."


@pytest.mark.parametrize("how", ["message", "transaction", "inbox", "all"])
async def test_a_deleted_message_tells_when_and_by_whom(world: World, how: str) -> None:
    message_id, transaction = await deliver(world)
    paths = {
        "message": f"/v1/messages/{message_id}",
        "transaction": f"/v1/messages/transaction/{transaction}",
        "inbox": f"{OF_ADA}/{message_id}",
    }
    if how == "all":
        response = await world.api.post("/v2/subscribers/ada/notifications/delete", json={})
    else:
        response = await world.api.delete(paths[how])
    assert response.is_success, response.text

    found = await explain_newest(world)

    deleted = only(found, "receipt")
    assert deleted["summary"].startswith("The message was in the inbox until 1 January at 01:00 UTC, when it was ")
    assert "deleted by the API key" in deleted["summary"]
    assert deleted["source"] == "recorded"
    assert found["channels"]["in_app"] == {"outcome": "deleted", "summary": deleted["summary"]}


async def test_a_message_that_its_person_deletes_is_told_so(world: World) -> None:
    message_id, _ = await deliver(world)
    token = await open_session(world)
    headers = {"Authorization": f"Bearer {token}"}
    response = await world.api.delete(f"/v1/inbox/notifications/{message_id}/delete", headers=headers)
    assert response.status_code == 204, response.text

    assert only(await explain_newest(world), "receipt")["summary"].endswith("deleted by Ada in the inbox.")


async def open_session(world: World) -> str:
    body = {"applicationIdentifier": world.api.environment.identifier, "subscriberId": "ada"}
    response = await world.api.post("/v1/inbox/session", json=body)
    assert response.status_code == 201, response.text
    return str(response.json()["data"]["token"])


async def test_a_deletion_that_was_not_recorded_is_told_as_that(world: World, database: Database) -> None:
    await deliver(world)
    forget = sql("DELETE FROM messages WHERE environment_id = :environment_id")
    await database.transaction(lambda db: db.execute(forget, environment_id=world.api.environment.id))

    found = await explain_newest(world)

    deleted = only(found, "receipt")
    assert deleted["summary"].endswith("when it was deleted, and by whom, was not recorded.")
    assert (deleted["at"], found["channels"]["in_app"]["outcome"]) == (None, "deleted")


async def test_the_record_of_an_email_that_is_deleted_does_not_change_what_came_of_it(world: World) -> None:
    await world.make_workflow(step("email", subject="Hi", body="<p>x</p>"))
    body = {"providerId": "svc-email", "channel": "email", "active": True}
    await world.api.post("/v1/integrations", json=body)
    await world.trigger(ADA)
    await world.work()
    await world.api.delete(f"/v1/messages/{(await world.messages())[-1]['_id']}")

    found = await explain_newest(world)

    assert "The record of the message was deleted" in only(found, "receipt", "passed")["summary"]
    assert found["channels"]["email"]["outcome"] == "sent"
