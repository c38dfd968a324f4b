"""Listing and deleting messages through HTTP, on both databases."""

import pytest

from clarion.clock import Millis, iso_text
from clarion.db.port import Database
from clarion.ids import id_text
from clarion.jsontext import json_text
from clarion.vocabulary import Channel, MessageStatus, Scope
from tests.records import (
    NOW,
    MadeMessage,
    make_job,
    make_message,
    make_notification,
    make_subscriber,
    make_trigger,
    make_workflow,
)
from tests.support import Api, MakeApi


def ids(page: dict[str, list[dict[str, str]]]) -> list[str]:
    return [one["_id"] for one in page["data"]]


async def list_ids(api: Api, query: str = "") -> list[str]:
    found = await api.get(f"/v1/messages{query}")
    assert found.status_code == 200, found.text
    return ids(found.json())


async def make_full_message(api: Api, database: Database) -> MadeMessage:
    environment = api.environment
    workflow = await make_workflow(database, environment, key="welcome", tags=["a"])
    trigger = await make_trigger(
        database,
        environment,
        workflow=workflow,
        transaction="t-1",
        payload={"n": 1, "deep": {"x": [True, None]}},
        overrides={"email": {"from": "x@example.com"}},
    )
    ada = await make_subscriber(database, environment, first_name="Ada", email="ada@example.com")
    run = await make_notification(database, environment, trigger=trigger, subscriber=ada)
    return await make_message(
        database,
        environment,
        job=await make_job(database, environment, notification=run),
        channel=Channel.EMAIL,
        provider_id="svc-email",
        status=MessageStatus.ERROR,
        subject="Hi",
        title="Title",
        email="ada@example.com",
        phone="+123",
        webhook_url="https://example.com/hook",
        device_tokens=json_text(["d1"]),
        cta=json_text({"type": "redirect", "data": {"url": "https://example.com"}}),
        data=json_text({"k": "v"}),
        seen=True,
        read=True,
        seen_at=NOW + 1,
        read_at=NOW + 2,
        snoozed_until=NOW + 3,
        delivered_at=json_text([NOW, NOW + 4]),
        error_id="mail_unexpected_error",
        error_text="refused",
    )


async def test_a_message_tells_all_that_is_known_of_it(api: Api, database: Database) -> None:
    message = await make_full_message(api, database)
    run = message.job.notification

    found = (await api.get("/v1/messages")).json()

    (item,) = found["data"]
    assert (found["totalCount"], found["hasMore"], found["pageSize"], found["page"]) == (1, False, 1, 0)
    subscriber = item.pop("subscriber")
    assert subscriber["subscriberId"] == "ada"
    assert subscriber["firstName"] == "Ada"
    assert subscriber["channels"] == []
    assert "lastName" not in subscriber
    assert item.pop("_messageTemplateId")
    assert item == {
        "contextKeys": [],
        "_id": message.text,
        "_templateId": id_text(run.trigger.workflow.id),
        "_environmentId": id_text(api.environment.id),
        "_organizationId": id_text(api.environment.organization_id),
        "_notificationId": id_text(run.id),
        "_subscriberId": id_text(run.subscriber.id),
        "_jobId": id_text(message.job.id),
        "_feedId": None,
        "templateIdentifier": "welcome",
        "transactionId": "t-1",
        "channel": "email",
        "providerId": "svc-email",
        "subject": "Hi",
        "title": "Title",
        "content": "Hello",
        "email": "ada@example.com",
        "phone": "+123",
        "directWebhookUrl": "https://example.com/hook",
        "deviceTokens": ["d1"],
        "cta": {"type": "redirect", "data": {"url": "https://example.com"}},
        "payload": {"n": 1, "deep": {"x": [True, None]}},
        "overrides": {"email": {"from": "x@example.com"}},
        "data": {"k": "v"},
        "tags": ["a"],
        "severity": "none",
        "status": "error",
        "errorId": "mail_unexpected_error",
        "errorText": "refused",
        "seen": True,
        "read": True,
        "archived": False,
        "lastSeenDate": iso_text(Millis(NOW + 1)),
        "lastReadDate": iso_text(Millis(NOW + 2)),
        "snoozedUntil": iso_text(Millis(NOW + 3)),
        "deliveredAt": [iso_text(NOW), iso_text(Millis(NOW + 4))],
        "createdAt": iso_text(NOW),
        "updatedAt": iso_text(NOW),
    }


async def test_what_a_message_does_not_have_is_absent_but_a_call_to_action_is_always_there(
    api: Api, database: Database
) -> None:
    await make_message(database, api.environment)

    (item,) = (await api.get("/v1/messages")).json()["data"]

    assert item["cta"] == {"action": {"buttons": []}}
    absent = {"subject", "title", "email", "phone", "providerId", "overrides", "data", "deliveredAt", "template"}
    assert not absent & item.keys()
    assert not {"lastSeenDate", "lastReadDate", "snoozedUntil", "archivedAt", "errorId", "errorText"} & item.keys()


async def test_messages_are_filtered_by_channel_subscriber_and_transactions_together(
    api: Api, database: Database
) -> None:
    ada = await make_subscriber(database, api.environment, "ada")
    bob = await make_subscriber(database, api.environment, "bob")
    first = await make_message(database, api.environment, subscriber=ada, transaction="t-1")
    second = await make_message(database, api.environment, subscriber=ada, transaction="t-2", channel=Channel.SMS)
    third = await make_message(database, api.environment, subscriber=bob, transaction="t-3")

    assert await list_ids(api) == [third.text, second.text, first.text]
    assert await list_ids(api, "?subscriberId=ada") == [second.text, first.text]
    assert await list_ids(api, "?channel=in_app") == [third.text, first.text]
    assert await list_ids(api, "?channel=in_app&subscriberId=ada") == [first.text]
    assert await list_ids(api, "?transactionId=t-1") == [first.text]
    assert await list_ids(api, "?transactionId=t-1&transactionId=t-3") == [third.text, first.text]
    assert await list_ids(api, "?transactionId[]=t-1&transactionId[]=t-2&channel=sms") == [second.text]


@pytest.mark.parametrize("query", ["subscriberId=nobody", "transactionId=never", "page=5", "channel=push"])
async def test_filters_that_name_nothing_give_an_empty_page(api: Api, database: Database, query: str) -> None:
    await make_message(database, api.environment)

    found = await api.get(f"/v1/messages?{query}")

    assert found.status_code == 200
    assert found.json()["data"] == []
    assert found.json()["hasMore"] is False


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("channel=pigeon", "channel"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=x", "limit"),
        ("page=-1", "page"),
    ],
)
async def test_parameters_outside_their_bounds_are_named(api: Api, query: str, field: str) -> None:
    found = await api.get(f"/v1/messages?{query}")

    assert found.status_code == 422
    assert list(found.json()["errors"]) == [field]


async def test_pages_hold_every_message_once_and_tell_exactly_whether_there_are_more(
    api: Api, database: Database
) -> None:
    made = [(await make_message(database, api.environment)).text for _ in range(4)]  # all in one millisecond

    first = (await api.get("/v1/messages?limit=2.0&page=0")).json()
    second = (await api.get("/v1/messages?limit=2&page=1.0")).json()
    third = (await api.get("/v1/messages?limit=2&page=2")).json()

    assert ids(first) + ids(second) == made[::-1]
    assert [page["hasMore"] for page in (first, second, third)] == [True, False, False]
    assert [page["totalCount"] for page in (first, second, third)] == [4, 4, 4]
    assert [page["pageSize"] for page in (first, second, third)] == [2, 2, 0]


async def test_messages_of_another_environment_are_not_seen(api: Api, other_api: Api, database: Database) -> None:
    message = await make_message(database, api.environment, transaction="t-1")

    assert await list_ids(other_api) == []
    assert await list_ids(other_api, "?subscriberId=ada&transactionId=t-1") == []
    assert (await other_api.delete(f"/v1/messages/{message.text}")).status_code == 404
    assert (await other_api.delete("/v1/messages/transaction/t-1")).status_code == 404
    assert await list_ids(api) == [message.text]


async def test_a_deleted_message_is_gone_and_deleting_it_again_finds_nothing(api: Api, database: Database) -> None:
    message = await make_message(database, api.environment)

    first = await api.delete(f"/v1/messages/{message.text}")
    again = await api.delete(f"/v1/messages/{message.text}")

    assert first.status_code == 200
    assert first.json() == {"acknowledged": True, "status": "deleted"}
    assert again.status_code == 404
    assert await list_ids(api) == []


async def test_a_malformed_message_id_names_nothing(api: Api) -> None:
    assert (await api.delete("/v1/messages/abc")).status_code == 404


async def test_the_messages_of_a_transaction_are_deleted_by_channel_or_altogether(api: Api, database: Database) -> None:
    kept = await make_message(database, api.environment, transaction="t-0")
    in_app = await make_message(database, api.environment, transaction="t-1")
    await make_message(database, api.environment, job=in_app.job, channel=Channel.EMAIL)

    by_channel = await api.delete("/v1/messages/transaction/t-1?channel=email")
    after_channel = await list_ids(api)
    none_left = await api.delete("/v1/messages/transaction/t-1?channel=email")
    altogether = await api.delete("/v1/messages/transaction/t-1")

    assert (by_channel.status_code, by_channel.content) == (204, b"")
    assert after_channel == [in_app.text, kept.text]
    assert none_left.status_code == 404
    assert altogether.status_code == 204
    assert await list_ids(api) == [kept.text]
    assert (await api.delete("/v1/messages/transaction/t-1?channel=pigeon")).status_code == 422


async def test_reading_and_changing_messages_take_their_scopes(make_api: MakeApi) -> None:
    reader = await make_api(scopes=frozenset({Scope.MESSAGES_READ}))
    writer = await make_api(scopes=frozenset({Scope.MESSAGES_WRITE}))

    assert (await reader.get("/v1/messages")).status_code == 200
    assert (await reader.delete("/v1/messages/transaction/t")).status_code == 403
    assert (await writer.get("/v1/messages")).status_code == 403
    assert (await writer.delete("/v1/messages/transaction/t")).status_code == 404
