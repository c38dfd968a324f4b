"""Events: written in the transaction of the change, and only if an endpoint listens to them."""

from typing import Any

import pytest

from clarion.clock import HOUR, ManualClock
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.ids import MessageId
from clarion.webhooks.events import append_message_events
from clarion.webhooks.model import EventType
from tests.engine.support import World, in_app, step
from tests.providers.loopback import SLACK, answering, web_server
from tests.records import make_message, make_subscriber, make_workflow
from tests.support import Api
from tests.webhooks.support import list_deliveries, make_endpoint

URL = "https://hooks.example.com/clarion"
COUNT = sql("SELECT count(*) AS n FROM webhook_events WHERE environment_id = :environment_id")


async def list_written_events(api: Api, endpoint: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The events that are to be delivered, oldest first."""
    return [(one["payload"]["type"], one["payload"]["data"]) for one in await list_deliveries(api, endpoint)]


async def count_events(database: Database, api: Api) -> int:
    async def count(db: Connection) -> int:
        row = await db.fetch_one(COUNT, environment_id=api.environment.id)
        return int(row["n"]) if row else 0

    return await database.read(count)


@pytest.fixture
async def endpoint(api: Api) -> dict[str, Any]:
    return await make_endpoint(api, URL, active=True)


async def test_an_in_app_message_makes_an_event_without_its_content(world: World, endpoint: dict[str, Any]) -> None:
    await world.make_workflow(in_app("Your code is {{payload.code}}"))
    answer = await world.trigger("ada", payload={"code": "canary-4711"})
    await world.engine.work_lanes()

    (_, (kind, data)) = await list_written_events(world.api, endpoint)
    (message,) = await world.messages()
    assert kind == "message.sent"
    assert data["_id"] == message["_id"]
    assert (data["subscriberId"], data["templateIdentifier"]) == ("ada", "welcome")
    assert (data["transactionId"], data["channel"]) == (answer["transactionId"], "in_app")
    assert (data["status"], data["seen"], data["read"]) == ("sent", False, False)
    assert "canary" not in str(data)
    assert {name for name in data if name not in message} == {"subscriberId"}


async def test_a_message_without_an_address_makes_a_failed_event(world: World, endpoint: dict[str, Any]) -> None:
    await world.make_workflow(step("email", subject="Hello", body="Hello"))
    await world.trigger("ada")
    await world.engine.work_lanes()

    (_, (kind, data)) = await list_written_events(world.api, endpoint)
    assert (kind, data["channel"], data["status"]) == ("message.failed", "email", "warning")
    assert data["errorText"] == "Subscriber missing email address"


async def test_a_message_that_a_provider_accepts_makes_a_sent_event(world: World, endpoint: dict[str, Any]) -> None:
    body = {"providerId": "svc-email", "channel": "email", "active": True}
    assert (await world.api.post("/v1/integrations", json=body)).status_code == 201
    await world.make_workflow(step("email", subject="Hello", body="Hello"))
    await world.trigger({"subscriberId": "ada", "email": "ada@example.com"})
    await world.engine.work_lanes()
    before = await list_written_events(world.api, endpoint)
    await world.engine.sender.work()

    _, (kind, data) = await list_written_events(world.api, endpoint)
    assert [one for one, _ in before] == ["workflow.created"]
    assert (kind, data["channel"], data["status"]) == ("message.sent", "email", "sent")
    assert "providerId" not in data


async def test_a_message_makes_a_failed_event_when_it_is_given_up_and_not_before(
    world: World, endpoint: dict[str, Any]
) -> None:
    async with web_server(answering(500)) as slack:
        credentials = {"webhookUrl": slack.url()}
        await world.api.post(
            "/v1/integrations", json={"providerId": "slack", "channel": "chat", "active": True, "credentials": SLACK}
        )
        await world.api.post("/v2/subscribers", json={"subscriberId": "ada"})
        await world.api.put("/v1/subscribers/ada/credentials", json={"providerId": "slack", "credentials": credentials})
        await world.make_workflow(step("chat", body="Hello"))
        await world.trigger("ada")
        await world.engine.work_lanes()
        await world.engine.sender.work()
        early = await list_written_events(world.api, endpoint)
        for _ in range(20):
            world.clock.move(HOUR)
            await world.engine.sender.work()

    _, (kind, data) = await list_written_events(world.api, endpoint)
    assert [one for one, _ in early] == ["workflow.created"]
    assert (kind, data["channel"], data["providerId"], data["status"]) == ("message.failed", "chat", "slack", "error")
    assert "canary" not in str(data)


@pytest.mark.parametrize("mark_as", ["read", "seen", "unread", "unseen"])
async def test_marks_make_events_of_their_name(
    api: Api, database: Database, endpoint: dict[str, Any], mark_as: str
) -> None:
    subscriber = await make_subscriber(database, api.environment, "ada")
    message = await make_message(database, api.environment, subscriber=subscriber)

    await api.post("/v1/subscribers/ada/messages/mark-as", json={"messageId": message.text, "markAs": mark_as})

    ((kind, data),) = await list_written_events(api, endpoint)
    assert (kind, data["_id"], data["read"]) == (f"message.{mark_as}", message.text, mark_as == "read")


async def test_marking_all_tells_of_those_that_changed(api: Api, database: Database, endpoint: dict[str, Any]) -> None:
    subscriber = await make_subscriber(database, api.environment, "ada")
    messages = [await make_message(database, api.environment, subscriber=subscriber) for _ in range(3)]
    await api.post("/v1/subscribers/ada/messages/mark-as", json={"messageId": messages[0].text, "markAs": "read"})

    count = await api.post("/v1/subscribers/ada/messages/mark-all", json={"markAs": "read"})

    _, *others = await list_written_events(api, endpoint)
    assert count.json() == 2
    assert sorted((kind, data["_id"]) for kind, data in others) == [("message.read", one.text) for one in messages[1:]]


async def test_every_change_of_a_workflow_makes_an_event(api: Api, endpoint: dict[str, Any]) -> None:
    body = {"name": "Welcome", "workflowId": "welcome", "steps": []}
    made = (await api.post("/v2/workflows", json=body)).json()
    await api.patch("/v2/workflows/welcome", json={"name": "Hello"})
    await api.patch("/v2/workflows/welcome", json={"name": "Hello"})
    await api.post("/v2/workflows/welcome/duplicate", json={"workflowId": "copy"})
    await api.delete("/v2/workflows/welcome")

    assert [(kind, data["workflowId"], data["name"]) for kind, data in await list_written_events(api, endpoint)] == [
        ("workflow.created", "welcome", "Welcome"),
        ("workflow.updated", "welcome", "Hello"),
        ("workflow.created", "copy", "Hello (Copy)"),
        ("workflow.deleted", "welcome", "Hello"),
    ]
    assert (await list_written_events(api, endpoint))[0][1]["_id"] == made["_id"]


async def test_preferences_make_events_globally_and_by_workflow(
    api: Api, database: Database, endpoint: dict[str, Any]
) -> None:
    await make_subscriber(database, api.environment, "ada")
    await make_workflow(database, api.environment, key="welcome")
    path = "/v2/subscribers/ada/preferences"

    await api.patch(path, json={"channels": {"email": False}})
    await api.patch(path, json={"channels": {"sms": True}, "workflowId": "welcome"})
    await api.patch(f"{path}/bulk", json={"preferences": [{"workflowId": "welcome", "channels": {"push": False}}]})
    await api.patch(path, json={"schedule": {"isEnabled": False}})

    events = await list_written_events(api, endpoint)
    assert {kind for kind, _ in events} == {"preference.updated"}
    assert {data["subscriberId"] for _, data in events} == {"ada"}
    assert [(data["level"], data.get("channels")) for _, data in events] == [
        ("global", {"email": False}),
        ("template", {"sms": True}),
        ("template", {"push": False}),
        ("global", None),
    ]
    assert events[1][1]["workflow"]["identifier"] == "welcome"
    assert events[3][1]["schedule"] == {"isEnabled": False}


async def test_an_event_goes_to_the_endpoints_that_want_it(api: Api) -> None:
    everything = await make_endpoint(api, URL)
    some = await make_endpoint(api, URL, "workflow.deleted", "workflow.created")
    other = await make_endpoint(api, URL, "message.sent")
    off = await make_endpoint(api, URL, active=False)

    await api.post("/v2/workflows", json={"name": "Welcome", "workflowId": "welcome", "steps": []})

    kinds = [[kind for kind, _ in await list_written_events(api, one)] for one in (everything, some, other, off)]
    assert kinds == [["workflow.created"], ["workflow.created"], [], []]


async def test_nothing_is_written_where_nobody_listens(api: Api, database: Database) -> None:
    await make_endpoint(api, URL, "message.sent")

    await api.post("/v2/workflows", json={"name": "Welcome", "workflowId": "welcome", "steps": []})

    assert await count_events(database, api) == 0


async def test_a_change_that_is_rolled_back_makes_no_event(
    api: Api, database: Database, endpoint: dict[str, Any]
) -> None:
    await make_subscriber(database, api.environment, "ada")
    await make_workflow(database, api.environment, key="welcome")
    body = {"channels": {"email": False}, "workflowId": "welcome", "schedule": {"isEnabled": False}}

    refused = await api.patch("/v2/subscribers/ada/preferences", json=body)

    assert refused.status_code == 422
    assert await list_written_events(api, endpoint) == []


async def test_environments_hear_nothing_of_each_other(
    api: Api, other_api: Api, database: Database, endpoint: dict[str, Any]
) -> None:
    await other_api.post("/v2/workflows", json={"name": "Welcome", "workflowId": "welcome", "steps": []})

    assert await list_written_events(api, endpoint) == []
    assert await count_events(database, other_api) == 0


async def test_receipts_can_tell_of_messages_and_those_that_are_gone_are_skipped(
    api: Api, database: Database, endpoint: dict[str, Any], clock: ManualClock
) -> None:
    message = await make_message(database, api.environment)
    events = [(EventType.MESSAGE_BOUNCED, message.id), (EventType.MESSAGE_BOUNCED, MessageId(bytes(16)))]

    environment_id, now = api.environment.id, clock.now()
    await database.transaction(lambda db: append_message_events(db, environment_id, events, now))

    assert [(kind, data["_id"]) for kind, data in await list_written_events(api, endpoint)] == [
        ("message.bounced", message.text)
    ]
