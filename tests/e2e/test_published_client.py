"""The published Python client, unmodified, against a running service."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from novu_py import Novu, models

from clarion.clock import SystemClock
from clarion.db.port import Database
from clarion.environments.model import Environment
from clarion.vocabulary import Channel, StepType
from tests.processes import Process
from tests.records import make_job, make_message, make_notification, make_subscriber, make_trigger, make_workflow
from tests.services import Service, Tenant, running_service

# The client marks some of its own calls as deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
async def service(
    backend: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Service]:
    async with running_service(backend, request, tmp_path_factory, CLARION_BUILTIN_NAME="novu") as running:
        yield running


@pytest.fixture
def process(service: Service) -> Process:
    return service.process


@pytest.fixture
def database(service: Service) -> Database:
    return service.database


@pytest.fixture
async def tenant(service: Service) -> Tenant:
    return await service.make_tenant()


@pytest.fixture
def environment(tenant: Tenant) -> Environment:
    return tenant.environment


@pytest.fixture
def client(process: Process, tenant: Tenant) -> Novu:
    return Novu(secret_key=tenant.key, server_url=process.address, retry_config=None)


async def call(function: Any, *args: Any, **kwargs: Any) -> Any:
    response = await asyncio.to_thread(function, *args, **kwargs)
    return response.result if hasattr(response, "result") else response


async def test_subscribers(client: Novu) -> None:
    person = {"subscriber_id": "ada", "email": "ada@example.com", "data": {"plan": "pro"}, "timezone": "Europe/London"}
    created = await call(client.subscribers.create, create_subscriber_request_dto=person)
    patched = await call(
        client.subscribers.patch, subscriber_id="ada", patch_subscriber_request_dto={"first_name": "Ada"}
    )
    bulk = await call(
        client.subscribers.create_bulk, bulk_subscriber_create_dto={"subscribers": [{"subscriber_id": "bob"}]}
    )
    found = await call(client.subscribers.search, request={"email": "example", "limit": 3, "include_cursor": True})
    flag = {"is_online": True}
    online = await call(
        client.subscribers.properties.update_online_flag,
        subscriber_id="ada",
        update_subscriber_online_flag_request_dto=flag,
    )

    assert (created.subscriber_id, patched.first_name) == ("ada", "Ada")
    assert bulk.created[0].subscriber_id == "bob"
    assert [one.subscriber_id for one in found.data] == ["ada"]
    assert online.is_online is True
    assert (await call(client.subscribers.delete, subscriber_id="ada")).acknowledged


async def test_topics(client: Novu) -> None:
    await call(client.subscribers.create, create_subscriber_request_dto={"subscriber_id": "ada"})
    await call(client.topics.create, create_update_topic_request_dto={"key": "news", "name": "News"})
    again = await call(client.topics.create, create_update_topic_request_dto={"key": "news", "name": "Newer"})
    wanted = {"subscriber_ids": ["ada", "ghost"]}
    joined = await call(
        client.topics.subscriptions.create, topic_key="news", create_topic_subscriptions_request_dto=wanted
    )
    members = await call(client.topics.subscriptions.list, request={"topic_key": "news", "limit": 5})
    mine = await call(client.subscribers.topics.list, request={"subscriber_id": "ada"})
    member = await call(client.topics.subscribers.retrieve, topic_key="news", external_subscriber_id="ada")
    topics = await call(client.topics.list, request={"key": "news"})
    renamed = await call(client.topics.update, topic_key="news", update_topic_request_dto={"name": "Latest"})
    left = await call(
        client.topics.subscriptions.delete,
        topic_key="news",
        delete_topic_subscriptions_request_dto={"subscriber_ids": ["ada"]},
    )

    assert (again.name, renamed.name, topics.data[0].key) == ("Newer", "Latest", "news")
    assert (joined.meta.successful, joined.meta.failed) == (1, 1)
    assert members.data[0].subscriber.subscriber_id == mine.data[0].subscriber.subscriber_id == "ada"
    assert member.external_subscriber_id == "ada"
    assert left.meta.successful == 1
    assert (await call(client.topics.delete, topic_key="news")).acknowledged


async def test_credentials(client: Novu) -> None:
    await call(client.subscribers.create, create_subscriber_request_dto={"subscriber_id": "ada"})
    integration = await call(
        client.integrations.create,
        create_integration_request_dto={
            "provider_id": "fcm",
            "channel": "push",
            "active": True,
            "check": False,
            "credentials": {"service_account": "{}"},
        },
    )
    tokens = {"provider_id": "fcm", "credentials": {"device_tokens": ["t1"]}}
    appended = await call(
        client.subscribers.credentials.append, subscriber_id="ada", update_subscriber_channel_request_dto=tokens
    )
    replaced = await call(
        client.subscribers.credentials.update, subscriber_id="ada", update_subscriber_channel_request_dto=tokens
    )
    await call(client.subscribers.credentials.delete, subscriber_id="ada", provider_id="fcm")

    assert appended.channels[0].integration_id == replaced.channels[0].integration_id == integration.id
    assert (await call(client.subscribers.retrieve, subscriber_id="ada")).channels == []


async def test_integrations_and_environments(client: Novu) -> None:
    mail = {
        "provider_id": "nodemailer",
        "channel": "email",
        "active": True,
        "credentials": {"host": "smtp.example.com", "port": "587", "from_": "a@example.com", "sender_name": "A"},
        "conditions": [],
    }
    first = await call(client.integrations.create, create_integration_request_dto=mail | {"identifier": "first"})
    second = await call(client.integrations.create, create_integration_request_dto=mail | {"identifier": "second"})
    update = {"name": "Renamed"}
    renamed = await call(client.integrations.update, integration_id=second.id, update_integration_request_dto=update)
    primary = await call(client.integrations.set_as_primary, integration_id=second.id)
    listed = await call(client.integrations.list)
    active = await call(client.integrations.list_active)
    left = await call(client.integrations.delete, integration_id=second.id)

    assert (first.primary, second.primary, primary.primary, renamed.name) == (True, False, True, "Renamed")
    assert {one.provider_id for one in listed} == {"novu", "nodemailer"}
    assert len(active) == 3
    assert [one.identifier for one in left if one.primary] == ["first"]
    assert [one.name for one in await call(client.environments.list)] == ["Development", "Production"]


async def test_environments_are_created_changed_and_deleted(client: Novu, process: Process) -> None:
    made = await call(
        client.environments.create, create_environment_request_dto={"name": "Staging", "color": "#2f6fed"}
    )
    (key,) = made.api_keys
    tags = await call(client.environments.get_tags, environment_id=made.id)
    renamed = await call(
        client.environments.update, environment_id=made.id, update_environment_request_dto={"name": "Preview"}
    )
    staging = Novu(secret_key=key.key, server_url=process.address, retry_config=None)
    names = [one.name for one in await call(staging.environments.list)]
    await call(client.environments.delete, environment_id=made.id)

    assert (made.name, made.type, tags) == ("Staging", "dev", [])
    assert (renamed.name, renamed.id, renamed.identifier) == ("Preview", made.id, made.identifier)
    assert names == ["Preview"]
    assert [one.name for one in await call(client.environments.list)] == ["Development", "Production"]


async def test_preferences(client: Novu, database: Database, environment: Environment) -> None:
    await call(client.subscribers.create, create_subscriber_request_dto={"subscriber_id": "ada"})
    await make_workflow(database, environment, key="welcome", steps=[StepType.IN_APP, StepType.EMAIL])
    schedule = {"is_enabled": True, "weekly_schedule": {"monday": {"is_enabled": True}}}

    before = await call(client.subscribers.preferences.list, subscriber_id="ada")
    off = {"channels": {"email": False}, "schedule": schedule}
    after = await call(client.subscribers.preferences.update, subscriber_id="ada", patch_subscriber_preferences_dto=off)
    items = {"preferences": [{"workflow_id": "welcome", "channels": {"email": True}}]}
    bulk = await call(
        client.subscribers.preferences.bulk_update,
        subscriber_id="ada",
        bulk_update_subscriber_preferences_dto=items,
    )

    assert before.workflows[0].workflow.identifier == "welcome"
    assert after.workflows[0].channels.email is False
    assert after.global_.schedule.is_enabled is True
    assert bulk[0].channels.email is True


async def test_messages_feed_and_events(client: Novu, database: Database, environment: Environment) -> None:
    now = SystemClock().now()
    workflow = await make_workflow(database, environment, steps=[StepType.IN_APP, StepType.DIGEST, StepType.EMAIL])
    subscriber = await make_subscriber(database, environment, "ada", email="ada@example.com", now=now)
    trigger = await make_trigger(
        database, environment, workflow=workflow, transaction="tx-1", payload={"n": 1}, now=now
    )
    notification = await make_notification(database, environment, trigger=trigger, subscriber=subscriber, now=now)
    job = await make_job(database, environment, notification=notification, now=now)
    message = await make_message(database, environment, job=job, channel=Channel.IN_APP, now=now)

    listed = await call(client.messages.retrieve, request={"transaction_id": ["tx-1"], "limit": 5, "page": 0})
    payload = base64.b64encode(b'{"n": 1}').decode()
    feed = await call(
        client.subscribers.notifications.feed, request={"subscriber_id": "ada", "payload": payload, "read": False}
    )
    unseen = await call(client.subscribers.notifications.unseen_count, subscriber_id="ada")
    marks = {"message_id": message.text, "mark_as": "read"}
    marked = await call(client.subscribers.messages.mark_all_as, subscriber_id="ada", message_mark_as_request_dto=marks)
    back = {"mark_as": "unseen"}
    changed = await call(
        client.subscribers.messages.mark_all, subscriber_id="ada", mark_all_message_as_request_dto=back
    )
    events = await call(client.notifications.list, request={"subscriber_ids": ["ada"], "limit": 2, "page": 0})
    event = await call(client.notifications.retrieve, notification_id=events.data[0].id)

    assert listed.data[0].id == feed.data[0].id == marked[0].id == message.text
    assert (unseen.count, marked[0].read, changed) == (1, True, 1)
    assert event.transaction_id == "tx-1"
    assert event.template.origin == "novu-cloud"
    assert event.jobs[0].provider_id
    assert (await call(client.messages.delete, message_id=message.text)).acknowledged
    await make_message(database, environment, job=job, now=now)
    await call(client.messages.delete_by_transaction_id, transaction_id="tx-1")


async def test_refusals_arrive_as_the_clients_own_errors(client: Novu) -> None:
    with pytest.raises(models.ErrorDto) as missing:
        await call(client.subscribers.retrieve, subscriber_id="nobody")
    with pytest.raises(models.ValidationErrorDto) as invalid:
        await call(client.subscribers.create, create_subscriber_request_dto={"subscriber_id": "a", "email": "?"})

    assert missing.value.data.status_code == 404
    assert list(invalid.value.data.errors) == ["email"]


async def eventually(read: Any, wanted: Any) -> Any:
    """Ask until the answer is the wanted one."""
    answer = None
    for _ in range(200):
        answer = await read()
        if answer == wanted:
            return answer
        await asyncio.sleep(0.05)
    return answer


async def test_a_workflow_from_its_creation_to_what_people_see(client: Novu) -> None:
    steps = [
        {"name": "Inbox", "type": "in_app", "control_values": {"body": "Hello {{payload.name}}", "subject": "Hi"}},
        {"name": "Digest", "type": "digest", "control_values": {"type": "regular", "amount": 1, "unit": "seconds"}},
        {"name": "Summary", "type": "in_app", "control_values": {"body": "{{steps.digest.eventCount}} events"}},
    ]
    created = await call(
        client.workflows.create,
        create_workflow_dto={"name": "Welcome", "workflow_id": "welcome", "steps": steps, "active": True},
    )
    await call(client.subscribers.create, create_subscriber_request_dto={"subscriber_id": "bob"})
    members = {"subscriber_ids": ["bob"]}
    await call(client.topics.subscriptions.create, topic_key="t", create_topic_subscriptions_request_dto=members)

    async def feed(key: str) -> list[str]:
        try:
            page = await call(client.subscribers.notifications.feed, request={"subscriber_id": key})
        except models.ErrorDto:  # A worker creates her, after the trigger is accepted.
            return []
        return sorted(one.content for one in page.data)

    for name in ("one", "two"):
        event = {"workflow_id": "welcome", "to": "ada", "payload": {"name": name}}
        answer = await call(client.trigger, trigger_event_request_dto=event)
        assert answer.status == "processed"
    topic = {"type": "Topic", "topic_key": "t"}
    await call(
        client.trigger, trigger_event_request_dto={"workflow_id": "welcome", "to": topic, "payload": {"name": "all"}}
    )

    assert created.status == "ACTIVE"
    told = ["2 events", "Hello one", "Hello two"]
    assert await eventually(lambda: feed("ada"), told) == told
    assert await eventually(lambda: feed("bob"), ["1 events", "Hello all"]) == ["1 events", "Hello all"]
    events = await call(client.notifications.list, request={"subscriber_ids": ["ada"]})
    assert sorted(job.status for event in events.data for job in event.jobs) == sorted(
        ["completed"] * 4 + ["merged"] * 2
    )


async def test_a_delayed_event_is_cancelled_and_a_preference_holds(client: Novu) -> None:
    steps = [
        {"name": "Delay", "type": "delay", "control_values": {"type": "regular", "amount": 1, "unit": "hours"}},
        {"name": "Inbox", "type": "in_app", "control_values": {"body": "late"}},
    ]
    now = [{"name": "Inbox", "type": "in_app", "control_values": {"body": "now"}}]
    for key, chosen in (("late", steps), ("now", now)):
        await call(
            client.workflows.create,
            create_workflow_dto={"name": key, "workflow_id": key, "steps": chosen, "active": True},
        )
    event = {"workflow_id": "late", "to": "ada", "transaction_id": "t-late"}
    await call(client.trigger, trigger_event_request_dto=event)

    async def statuses(transaction: str) -> list[str]:
        events = await call(client.notifications.list, request={"transaction_id": transaction})
        return [job.status for one in events.data for job in one.jobs]

    assert await eventually(lambda: statuses("t-late"), ["delayed", "pending"]) == ["delayed", "pending"]
    assert await call(client.cancel, transaction_id="t-late") is True
    assert await statuses("t-late") == ["canceled", "canceled"]

    off = {"channels": {"in_app": False}}
    await call(client.subscribers.preferences.update, subscriber_id="ada", patch_subscriber_preferences_dto=off)
    await call(client.trigger, trigger_event_request_dto={"workflow_id": "now", "to": "ada", "transaction_id": "t-now"})
    assert await eventually(lambda: statuses("t-now"), ["skipped"]) == ["skipped"]
    bulk = {"events": [{"workflow_id": "now", "to": "eve"}, {"workflow_id": "none", "to": "eve"}]}
    results = await call(client.trigger_bulk, bulk_trigger_event_dto=bulk)
    assert [one.status for one in results] == ["processed", "error"]


async def make_inbox(database: Database, environment: Environment) -> tuple[str, str]:
    """Two messages for Ada: with a button and data, and without."""
    now = SystemClock().now()
    ada = await make_subscriber(database, environment, now=now)
    run = await make_notification(database, environment, subscriber=ada, now=now)
    job = await make_job(database, environment, notification=run)
    cta = '{"action": {"buttons": [{"type": "primary", "content": "Go"}]}}'
    first = await make_message(database, environment, job=job, cta=cta, data='{"n": 1}')
    return first.text, (await make_message(database, environment, job=job)).text


@pytest.mark.newer_client
async def test_single_notifications_of_a_subscriber(client: Novu, database: Database, environment: Environment) -> None:
    inbox = client.subscribers.notifications
    one: dict[str, Any] = {"subscriber_id": "ada", "notification_id": (await make_inbox(database, environment))[0]}

    assert (await call(inbox.mark_as_read, **one)).is_read
    assert not (await call(inbox.mark_as_unread, **one)).is_read
    assert (await call(inbox.archive, **one)).is_archived
    assert not (await call(inbox.unarchive, **one)).is_archived
    until = {"snooze_until": datetime.now(UTC) + timedelta(hours=1)}
    snoozed = await call(inbox.snooze, request={**one, "snooze_subscriber_notification_dto": until})
    assert snoozed.is_snoozed
    assert not (await call(inbox.unsnooze, **one)).is_snoozed
    done = await call(inbox.complete_action, request={**one, "action_type": "primary"})
    assert (done.primary_action.is_completed, done.is_read) == (True, True)
    undone = await call(inbox.revert_action, request={**one, "action_type": "primary"})
    assert not undone.primary_action.is_completed
    await call(inbox.delete, **one)
    assert len((await call(inbox.list, request={"subscriber_id": "ada"})).data) == 1


@pytest.mark.newer_client
async def test_all_notifications_of_a_subscriber(client: Novu, database: Database, environment: Environment) -> None:
    inbox = client.subscribers.notifications
    first, second = await make_inbox(database, environment)
    chosen: dict[str, Any] = {
        "subscriber_id": "ada",
        "update_all_subscriber_notifications_dto": {"data": '{"n": 1}'},
    }

    page = await call(inbox.list, request={"subscriber_id": "ada", "limit": 1, "read": False, "snoozed": False})
    assert ([one.id for one in page.data], page.has_more) == ([second], True)
    sent = [{"read": False}, {"data": {"n": 1}}, {"severity": ["high"]}]
    counts = await call(inbox.count, subscriber_id="ada", filters=json.dumps(sent))
    assert [(one.count, one.filter_) for one in counts] == list(zip((2, 1, 0), sent, strict=True))
    seen = {"notification_ids": [first]}
    await call(inbox.mark_as_seen, subscriber_id="ada", mark_subscriber_notifications_as_seen_dto=seen)
    await call(inbox.mark_all_as_read, **chosen)
    await call(inbox.archive_all_read, **chosen)
    archived = await call(inbox.list, request={"subscriber_id": "ada", "archived": True, "seen": True})
    assert [one.id for one in archived.data] == [first]
    await call(inbox.archive_all, **chosen)
    await call(inbox.delete_all, **chosen)
    assert [one.id for one in (await call(inbox.list, request={"subscriber_id": "ada"})).data] == [second]
