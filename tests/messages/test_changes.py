"""Changing and withdrawing messages through HTTP: what becomes of those in inboxes, and what is refused."""

from typing import Any

import pytest

from clarion.db.port import Database
from clarion.jsontext import json_text
from clarion.vocabulary import Channel, Scope
from tests.inbox.conftest import MakePerson, Person, ada, make_person
from tests.inbox.sockets.clients import COUNT_EVENTS, PlainClient, names
from tests.inbox.sockets.conftest import Deliver, address, deliver
from tests.records import (
    MadeMessage,
    make_job,
    make_message,
    make_notification,
    make_subscriber,
    make_trigger,
    make_workflow,
)
from tests.support import Api, MakeApi

__all__ = ["MakePerson", "ada", "address", "deliver", "make_person"]

BUTTONS = {
    "action": {
        "buttons": [{"type": "primary", "content": "Ack", "url": "/a", "target": "_self"}],
        "status": "done",
        "result": {"type": "primary"},
    },
    "type": "redirect",
    "data": {"url": "/incident", "target": "_self"},
}


async def make_in_app(api: Api, database: Database, *, transaction: str = "t-1", count: int = 1) -> list[MadeMessage]:
    environment = api.environment
    workflow = await make_workflow(database, environment, key=f"incident-{transaction}")
    trigger = await make_trigger(database, environment, workflow=workflow, transaction=transaction)
    made = []
    for number in range(count):
        person = await make_subscriber(database, environment, f"p{number}")
        run = await make_notification(database, environment, trigger=trigger, subscriber=person)
        job = await make_job(database, environment, notification=run)
        fields: dict[str, Any] = {"subject": "Down", "content": "The site is down", "cta": json_text(BUTTONS)}
        made.append(await make_message(database, environment, job=job, provider_id="svc", **fields))
    return made


async def test_an_in_app_message_is_changed_field_by_field(api: Api, database: Database) -> None:
    (message,) = await make_in_app(api, database)
    body: dict[str, Any] = {"body": "It is <b>up</b> again<script>x</script>", "subject": None, "data": {"level": 0}}
    body["primaryAction"] = {"label": "Read more", "redirect": {"url": "https://status.example.com"}}
    answer = await api.patch(f"/v1/messages/{message.text}", json=body)

    assert answer.status_code == 200, answer.text
    changed = answer.json()
    assert changed["content"] == "It is <b>up</b> again"
    assert "subject" not in changed
    assert changed["data"] == {"level": 0}
    link = {"url": "https://status.example.com", "target": "_self"}
    assert changed["cta"] == {
        # What was done with the former button is gone; the redirect, which was not given, stays.
        "action": {"buttons": [{"type": "primary", "content": "Read more", **link}]},
        "type": "redirect",
        "data": {"url": "/incident", "target": "_self"},
    }
    assert changed["change"] == {"state": "updated", "at": changed["updatedAt"]}
    again = await api.patch(f"/v1/messages/{message.text}", json={"primaryAction": None, "redirect": None})
    assert again.json()["cta"] == {"action": {"buttons": []}}
    assert (await api.get(f"/v1/messages/{message.text}")).json()["content"] == changed["content"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body"),
        ({"title": "x"}, "title"),
        ({"content": "x"}, "content"),
        ({"body": None}, "body"),
        ({"body": "x" * 70_000}, "body"),
        ({"subject": "x" * 5_000}, "subject"),
        ({"data": {"x": "y" * 20_000}}, "data"),
        ({"redirect": {"url": "javascript:alert(1)"}}, "redirect.url"),
        ({"primaryAction": {"label": "x", "redirect": {"url": "JaVaScRiPt:alert(1)"}}}, "primaryAction.redirect.url"),
        ({"primaryAction": {"label": ""}}, "primaryAction.label"),
        ({"primaryAction": {"label": "x", "color": "red"}}, "primaryAction.color"),
    ],
)
async def test_what_cannot_be_in_a_message_is_refused_by_name(
    api: Api, database: Database, body: dict[str, Any], field: str
) -> None:
    (message,) = await make_in_app(api, database)
    answer = await api.patch(f"/v1/messages/{message.text}", json=body)

    assert answer.status_code == 422, answer.text
    assert list(answer.json()["errors"]) == [field]
    assert "change" not in (await api.get(f"/v1/messages/{message.text}")).json()


async def test_an_email_is_not_changed(api: Api, database: Database) -> None:
    environment = api.environment
    job = await make_job(database, environment)
    message = await make_message(database, environment, job=job, channel=Channel.EMAIL)
    answer = await api.patch(f"/v1/messages/{message.text}", json={"body": "x"})

    assert answer.status_code == 422
    assert answer.json()["errors"]["messageId"]["messages"] == [
        "names a message of the channel email, which cannot be changed"
    ]


async def test_a_message_is_changed_a_hundred_times_at_most(api: Api, database: Database) -> None:
    (message,) = await make_in_app(api, database)
    for number in range(100):
        assert (await api.patch(f"/v1/messages/{message.text}", json={"body": f"n{number}"})).status_code == 200
    answer = await api.patch(f"/v1/messages/{message.text}", json={"body": "once more"})

    assert (answer.status_code, "changed 100 times" in answer.text) == (422, True)
    assert (await api.get(f"/v1/messages/{message.text}")).json()["content"] == "n99"


async def test_messages_of_a_trigger_are_withdrawn_in_pages(api: Api, database: Database) -> None:
    messages = await make_in_app(api, database, count=5)
    (other,) = await make_in_app(api, database, transaction="t-2")
    first = (await api.delete("/v1/messages?transactionId=t-1&limit=3")).json()
    second = (await api.delete(f"/v1/messages?transactionId=t-1&limit=3&after={first['next']}")).json()

    assert (first["withdrawn"], second["withdrawn"], second["next"]) == (3, 2, None)
    assert [one["_id"] for page in (first, second) for one in page["messages"]] == [one.text for one in messages]
    stored = {one["_id"]: one for one in (await api.get("/v1/messages")).json()["data"]}
    assert {stored[one.text]["change"]["state"] for one in messages} == {"withdrawn"}
    assert stored[messages[0].text]["content"] == "The site is down"
    assert "change" not in stored[other.text]
    for path in ("/v1/subscribers/p0/notifications/feed", "/v2/subscribers/p0/notifications"):
        ids = [one.get("_id", one.get("id")) for one in (await api.get(path)).json()["data"]]
        assert ids == [other.text]
    archived = await api.get("/v2/subscribers/p0/notifications?archived=true")
    assert archived.json()["data"] == []
    revived = await api.patch(f"/v2/subscribers/p0/notifications/{messages[0].text}/unarchive", json={})
    assert revived.status_code == 404


async def test_messages_of_a_workflow_are_withdrawn(api: Api, database: Database) -> None:
    await make_in_app(api, database, count=3)
    (other,) = await make_in_app(api, database, transaction="t-2")
    found = [await api.delete("/v1/messages?workflow=incident-t-1&limit=2")]
    while found[-1].json()["next"]:
        found.append(await api.delete(f"/v1/messages?workflow=incident-t-1&limit=2&after={found[-1].json()['next']}"))

    assert sum(one.json()["withdrawn"] for one in found) == 3
    both = await api.delete("/v1/messages?transactionId=t-2&workflow=incident-t-1")
    assert both.json()["messages"] == []
    assert "change" not in (await api.get(f"/v1/messages/{other.text}")).json()


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "transactionId"),
        ("?transactionId=", "transactionId"),
        ("?transactionId=t-1&limit=501", "limit"),
        ("?transactionId=t-1&subscriberId=ada", "subscriberId"),
        ("?transactionId=t-1&after=x", "after"),
    ],
)
async def test_a_withdrawal_says_what_it_means(api: Api, database: Database, query: str, field: str) -> None:
    await make_in_app(api, database)
    answer = await api.delete(f"/v1/messages{query}")

    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])


async def test_messages_of_another_environment_stay_as_they_are(api: Api, other_api: Api, database: Database) -> None:
    (message,) = await make_in_app(other_api, database)
    answers = [
        await api.patch(f"/v1/messages/{message.text}", json={"body": "Taken over"}),
        await api.delete("/v1/messages?transactionId=t-1"),
        await api.delete("/v1/messages?workflow=incident-t-1"),
    ]

    assert [one.status_code for one in answers] == [404, 200, 200]
    assert [one.json()["messages"] for one in answers[1:]] == [[], []]
    assert (await other_api.get(f"/v1/messages/{message.text}")).json()["content"] == "The site is down"


async def test_a_key_that_only_reads_messages_changes_none(api: Api, make_api: MakeApi, database: Database) -> None:
    (message,) = await make_in_app(api, database)
    reader = await make_api(scopes=frozenset({Scope.MESSAGES_READ, Scope.EVENTS_WRITE}))
    answers = [
        await reader.patch(f"/v1/messages/{message.text}", json={"body": "x"}),
        await reader.delete("/v1/messages?transactionId=t-1"),
    ]

    assert [one.status_code for one in answers] == [403, 403]


async def test_an_open_inbox_shows_the_new_content_and_loses_what_is_withdrawn(
    api: Api, address: str, ada: Person, deliver: Deliver
) -> None:
    async with PlainClient.open(address, ada.token) as socket:
        await socket.events(2)
        first = await deliver(ada, content="The site is down")
        await socket.events(3)
        assert (await api.patch(f"/v1/messages/{first.text}", json={"body": "It is up"})).status_code == 200
        (updated,) = await socket.events(1)
        transaction = first.job.notification.trigger.transaction
        await api.delete(f"/v1/messages?transactionId={transaction}")
        gone = await socket.events(3)

    assert updated[0] == "notification_updated"
    assert (updated[1]["message"]["_id"], updated[1]["message"]["content"]) == (first.text, "It is up")
    assert names(gone) == ["notification_removed", *COUNT_EVENTS]
    assert gone[0][1] == {"messageId": first.text}
    assert gone[1][1]["unreadCount"] == 0


async def test_nobody_else_is_told_of_a_change(
    api: Api, address: str, ada: Person, make_person: MakePerson, deliver: Deliver
) -> None:
    grace = await make_person("grace")
    async with PlainClient.open(address, grace.token) as socket:
        await socket.events(2)
        message = await deliver(ada, content="For Ada")
        await api.patch(f"/v1/messages/{message.text}", json={"body": "Still for Ada"})
        await deliver(grace, content="For Grace")
        (event, *_) = await socket.events(3)

    assert (event[0], event[1]["message"]["content"]) == ("notification_received", "For Grace")
