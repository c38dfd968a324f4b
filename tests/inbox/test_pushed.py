"""The shape of pushed messages, on both databases."""

import msgspec

from clarion.clock import Millis, iso_text
from clarion.db.port import Database
from clarion.ids import id_text
from clarion.inbox.pushed import list_pushed_messages
from clarion.jsontext import json_text
from clarion.vocabulary import Channel, Severity
from tests.records import NOW, make_job, make_message, make_notification, make_subscriber, make_trigger, make_workflow
from tests.support import Site


async def test_a_pushed_message_has_all_that_a_list_shows(database: Database, site: Site) -> None:
    environment = site.development
    ada = await make_subscriber(database, environment, first_name="Ada")
    workflow = await make_workflow(database, environment, key="welcome", tags=["news"], severity=Severity.LOW)
    trigger = await make_trigger(database, environment, workflow=workflow, transaction="t-1")
    run = await make_notification(database, environment, trigger=trigger, subscriber=ada)
    cta = {
        "action": {"buttons": [{"type": "primary", "content": "Go", "url": "/go", "target": "_self"}]},
        "data": {"url": "/all", "target": "_self"},
    }
    message = await make_message(
        database,
        environment,
        job=await make_job(database, environment, notification=run),
        subject="Hi",
        cta=json_text(cta),
        data=json_text({"k": 1}),
        severity=Severity.HIGH,
        delivered_at=json_text([NOW]),
    )

    found = await database.read(lambda db: list_pushed_messages(db, environment.id, [message.id]))

    assert msgspec.json.decode(msgspec.json.encode(found[message.id])) == {
        "_id": message.text,
        "_templateId": id_text(workflow.id),
        "_environmentId": id_text(environment.id),
        "_notificationId": id_text(run.id),
        "_subscriberId": id_text(ada.id),
        "templateIdentifier": "welcome",
        "transactionId": "t-1",
        "channel": "in_app",
        "subject": "Hi",
        "content": "Hello",
        "cta": cta,
        "data": {"k": 1},
        "tags": ["news"],
        "contextKeys": [],
        "severity": "high",
        "seen": False,
        "read": False,
        "archived": False,
        "deliveredAt": [iso_text(NOW)],
        "createdAt": iso_text(NOW),
        "updatedAt": iso_text(NOW),
        "subscriber": {"_id": id_text(ada.id), "subscriberId": "ada", "firstName": "Ada"},
        "workflow": {
            "id": id_text(workflow.id),
            "identifier": "welcome",
            "name": "Welcome",
            "critical": False,
            "tags": ["news"],
            "severity": "low",
        },
    }


async def test_a_message_without_buttons_still_has_the_members_that_clients_read(
    database: Database, site: Site
) -> None:
    message = await make_message(database, site.development, snoozed_until=Millis(NOW + 1))

    found = await database.read(lambda db: list_pushed_messages(db, site.development.id, [message.id]))

    assert found[message.id].cta == {"action": {"buttons": []}, "data": {}}
    assert found[message.id].snoozed_until == iso_text(Millis(NOW + 1))


async def test_only_in_app_messages_of_the_environment_are_pushed(database: Database, site: Site) -> None:
    email = await make_message(database, site.development, channel=Channel.EMAIL)
    foreign = await make_message(database, site.production)

    found = await database.read(lambda db: list_pushed_messages(db, site.development.id, [email.id, foreign.id]))

    assert found == {}
