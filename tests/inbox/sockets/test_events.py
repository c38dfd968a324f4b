"""What sockets get: events of both protocols, in their order, once, and only those of their person."""

import msgspec
import pytest
from websockets.frames import Frame, Opcode

from clarion.app import Application
from clarion.bus import InboxChange
from clarion.clock import Millis, iso_text
from clarion.db.port import Database
from clarion.ids import SubscriberKey, id_text
from clarion.inbox.sockets.events import list_pushed_messages
from clarion.inbox.sockets.sockets import text_frame
from clarion.jsontext import json_text
from clarion.subscribers.store import get_subscriber
from clarion.vocabulary import Channel, Severity
from tests.inbox.conftest import MakePerson, Person
from tests.inbox.sockets.clients import CLIENTS, COUNT_EVENTS, Event, PlainClient, SocketClient, SocketIoClient, names
from tests.inbox.sockets.conftest import Deliver
from tests.records import NOW, make_job, make_message, make_notification, make_subscriber, make_trigger, make_workflow
from tests.support import Api, Site

ARRIVAL = ["notification_received", *COUNT_EVENTS]


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_new_socket_gets_the_counts(
    address: str, ada: Person, deliver: Deliver, client: type[SocketClient]
) -> None:
    await deliver(ada, severity="high")
    await deliver(ada, seen=True)

    async with client.open(address, ada.token) as socket:
        events = await socket.events(2)

    assert events == [
        (
            "unread_count_changed",
            {
                "counts": {"total": 2, "severity": {"high": 1, "medium": 0, "low": 0, "none": 1}},
                "unreadCount": 2,
                "hasMore": False,
            },
        ),
        ("unseen_count_changed", {"unseenCount": 1, "hasMore": False}),
    ]


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_message_that_arrives_is_pushed_once_and_before_the_counts(
    address: str, ada: Person, deliver: Deliver, client: type[SocketClient]
) -> None:
    async with client.open(address, ada.token) as socket:
        await socket.events(2)
        first = await deliver(ada, content="Hello")
        events = await socket.events(3)
        second = await deliver(ada)
        following = await socket.events(3)

    assert names(events) == names(following) == ARRIVAL
    assert events[0][1]["message"]["_id"] == first.text
    assert events[0][1]["message"]["content"] == "Hello"
    assert following[0][1]["message"]["_id"] == second.text
    assert [data["unreadCount"] for name, data in [*events, *following] if name == COUNT_EVENTS[0]] == [1, 2]


async def test_messages_that_arrive_together_share_the_counts(address: str, ada: Person, deliver: Deliver) -> None:
    async with PlainClient.open(address, ada.token) as socket:
        await socket.events(2)
        await deliver(ada)
        await socket.events(3)
        # The person was just pushed something, so that these wait for each other.
        messages = [await deliver(ada) for _ in range(3)]
        events: list[Event] = []
        while ("unseen_count_changed", {"unseenCount": 4, "hasMore": False}) not in events or names(events).count(
            "notification_received"
        ) < len(messages):
            events.append(await socket.next_event())

    arrived = [data["message"]["_id"] for name, data in events if name == "notification_received"]
    assert arrived == [one.text for one in messages]


async def test_counts_are_sent_only_if_they_are_different(
    address: str, ada: Person, application: Application, database: Database, deliver: Deliver
) -> None:
    subscriber = await database.read(lambda db: get_subscriber(db, ada.environment.id, SubscriberKey("ada")))
    unchanged = InboxChange(environment_id=ada.environment.id, subscriber_id=subscriber.id)
    async with PlainClient.open(address, ada.token) as socket:
        await socket.events(2)
        application.services.bus.publish_inbox_changes([unchanged])
        await deliver(ada, seen=True)
        events = await socket.events(2)
        await deliver(ada)
        following = await socket.events(3)

    # The first change may be looked at when the message is there, and not announced yet.
    assert sorted(names(events)) == ["notification_received", "unread_count_changed"]
    assert names(following) == ARRIVAL


async def test_all_sockets_of_a_person_get_events_in_their_protocol(
    address: str, ada: Person, deliver: Deliver
) -> None:
    async with PlainClient.open(address, ada.token) as plain, SocketIoClient.open(address, ada.token) as other:
        await plain.events(2)
        await other.events(2)
        await deliver(ada)

        assert await plain.events(3) == await other.events(3)


async def test_a_second_tab_costs_the_first_one_no_event(address: str, ada: Person, deliver: Deliver) -> None:
    async with PlainClient.open(address, ada.token) as first:
        await first.events(2)
        async with PlainClient.open(address, ada.token) as second:
            assert names(await second.events(2)) == COUNT_EVENTS
        await deliver(ada)

        assert names(await first.events(3)) == ARRIVAL


async def test_nobody_else_gets_the_events_of_a_person(
    address: str, make_person: MakePerson, site: Site, deliver: Deliver
) -> None:
    ada, bob = await make_person("ada"), await make_person("bob")
    elsewhere = await make_person("ada", site.production)
    async with (
        PlainClient.open(address, bob.token) as other,
        SocketIoClient.open(address, elsewhere.token) as namesake,
    ):
        await other.events(2)
        await namesake.events(2)
        await deliver(ada)
        theirs = [await deliver(bob), await deliver(elsewhere)]

        # What came first would be seen first.
        got = [(await one.next_event())[1]["message"]["_id"] for one in (other, namesake)]

    assert got == [one.text for one in theirs]


async def test_an_announcement_cannot_push_a_message_to_somebody_else(
    address: str, application: Application, make_person: MakePerson, database: Database, deliver: Deliver
) -> None:
    ada, bob = await make_person("ada"), await make_person("bob")
    secret = await deliver(ada)
    subscriber = await database.read(lambda db: get_subscriber(db, bob.environment.id, SubscriberKey("bob")))
    async with PlainClient.open(address, bob.token) as socket:
        await socket.events(2)
        application.services.bus.publish_inbox_changes(
            [InboxChange(environment_id=bob.environment.id, subscriber_id=subscriber.id, arrived=(secret.id,))]
        )
        own = await deliver(bob)
        events = await socket.events(3)

    assert [data["message"]["_id"] for name, data in events if name == "notification_received"] == [own.text]


async def test_a_text_ping_is_answered(address: str, ada: Person) -> None:
    async with PlainClient.open(address, ada.token) as socket:
        await socket.events(2)
        await socket.connection.send("ping")

        assert await socket.receive() == "pong"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v2/subscribers/ada/notifications/seen", {}),
        ("/v1/subscribers/ada/messages/mark-as", {"markAs": "seen"}),
        ("/v1/subscribers/ada/messages/mark-all", {"markAs": "seen"}),
        ("/v1/inbox/notifications/seen", {}),
    ],
)
async def test_what_becomes_seen_changes_the_unseen_count_alone(
    address: str, api: Api, ada: Person, deliver: Deliver, path: str, body: dict[str, str]
) -> None:
    message = await deliver(ada)
    async with PlainClient.open(address, ada.token) as socket:
        await socket.events(2)
        client = ada if path.startswith("/v1/inbox") else api
        marked = await client.post(path, json=body | ({"messageId": message.text} if path.endswith("as") else {}))
        event = await socket.next_event()

    assert marked.is_success, marked.text
    assert event == ("unseen_count_changed", {"unseenCount": 0, "hasMore": False})


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536])
def test_frames_of_all_sizes_are_those_of_the_library(size: int) -> None:
    payload = b"x" * size

    assert text_frame(payload) == Frame(Opcode.TEXT, payload).serialize(mask=False)


async def test_sockets_get_the_messages_and_counts_of_exactly_their_contexts(
    address: str, ada: Person, make_person: MakePerson, deliver: Deliver
) -> None:
    of_acme = await make_person("ada", context_keys=("tenant:acme",))
    async with PlainClient.open(address, ada.token) as plain, PlainClient.open(address, of_acme.token) as acme:
        await plain.events(2)
        await acme.events(2)
        await deliver(ada, content="Of a context", context_keys='["tenant:acme"]')
        pushed = await acme.events(3)
        await deliver(ada, content="Of none")
        others = await plain.events(3)

    assert (names(pushed), pushed[0][1]["message"]["content"]) == (ARRIVAL, "Of a context")
    assert (names(others), others[0][1]["message"]["content"]) == (ARRIVAL, "Of none")
    assert others[1][1]["unreadCount"] == 1


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
