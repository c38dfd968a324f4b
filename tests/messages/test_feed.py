"""The in-app feed through HTTP, on both databases."""

import base64
from typing import Any

import pytest

from clarion.clock import ManualClock, iso_text
from clarion.db.port import Database
from clarion.errors import Malformed
from clarion.ids import id_text
from clarion.jsontext import json_text
from clarion.messages.filters import read_pattern
from clarion.vocabulary import Channel
from tests.records import NOW, make_message, make_subscriber
from tests.support import Api


def encode(pattern: Any) -> str:
    return base64.urlsafe_b64encode(json_text(pattern).encode()).decode()


async def feed_ids(api: Api, query: str = "") -> list[str]:
    found = await api.get(f"/v1/subscribers/ada/notifications/feed{query}")
    assert found.status_code == 200, found.text
    return [one["_id"] for one in found.json()["data"]]


async def count(api: Api, query: str = "") -> Any:
    return (await api.get(f"/v1/subscribers/ada/notifications/unseen{query}")).json()


async def test_a_feed_item_tells_all_that_is_known_of_it(api: Api, database: Database) -> None:
    await make_subscriber(database, api.environment, first_name="Ada", avatar="https://example.com/a.png")
    message = await make_message(
        database,
        api.environment,
        transaction="t-1",
        payload={"n": 1},
        provider_id="svc",
        subject="Hi",
        data=json_text({"k": 1}),
    )
    run = message.job.notification

    page = (await api.get("/v1/subscribers/ada/notifications/feed")).json()

    (item,) = page.pop("data")
    assert page == {"totalCount": 1, "hasMore": False, "pageSize": 1, "page": 0}
    assert item.pop("_messageTemplateId")
    assert item == {
        "_id": message.text,
        "_templateId": id_text(run.trigger.workflow.id),
        "_environmentId": id_text(api.environment.id),
        "_organizationId": id_text(api.environment.organization_id),
        "_notificationId": id_text(run.id),
        "_subscriberId": id_text(run.subscriber.id),
        "_jobId": id_text(message.job.id),
        "_feedId": None,
        "templateIdentifier": run.trigger.workflow.key,
        "transactionId": "t-1",
        "channel": "in_app",
        "providerId": "svc",
        "subject": "Hi",
        "content": "Hello",
        "cta": {"action": {"buttons": []}},
        "payload": {"n": 1},
        "data": {"k": 1},
        "tags": [],
        "severity": "none",
        "status": "sent",
        "seen": False,
        "read": False,
        "archived": False,
        "subscriber": {
            "_id": id_text(run.subscriber.id),
            "subscriberId": "ada",
            "firstName": "Ada",
            "avatar": "https://example.com/a.png",
        },
        "createdAt": iso_text(NOW),
        "updatedAt": iso_text(NOW),
    }


async def test_the_feed_shows_in_app_messages_that_are_neither_archived_nor_asleep(
    api: Api, other_api: Api, database: Database, clock: ManualClock
) -> None:
    visible = await make_message(database, api.environment)
    awake = await make_message(database, api.environment, snoozed_until=NOW)
    asleep = await make_message(database, api.environment, snoozed_until=NOW + 1)
    await make_message(database, api.environment, archived=True)
    await make_message(database, api.environment, channel=Channel.EMAIL)
    bob = await make_subscriber(database, api.environment, "bob")
    await make_message(database, api.environment, subscriber=bob)
    await make_message(database, other_api.environment)

    now = await feed_ids(api)
    clock.move(1)
    later = await feed_ids(api)

    assert now == [awake.text, visible.text]
    assert later == [asleep.text, awake.text, visible.text]


async def test_the_feed_is_filtered_by_read_and_seen(api: Api, database: Database) -> None:
    new = await make_message(database, api.environment)
    seen = await make_message(database, api.environment, seen=True)
    read = await make_message(database, api.environment, seen=True, read=True)

    assert await feed_ids(api, "?read=false") == [seen.text, new.text]
    assert await feed_ids(api, "?read=true") == [read.text]
    assert await feed_ids(api, "?seen=false") == [new.text]
    assert await feed_ids(api, "?seen=true&read=false") == [seen.text]


PAYLOAD = {
    "n": 1,
    "flag": True,
    "nothing": None,
    "name": "Ada",
    "tags": ["a", "b"],
    "rooms": [{"id": 1, "open": True}],
    "deep": {"er": {"est": {"x": {"y": 1.5}}, "other": 2}},
}


@pytest.mark.parametrize(
    "pattern",
    [
        {},
        {"n": 1},
        {"n": 1.0},
        {"flag": True, "name": "Ada"},
        {"nothing": None},
        {"deep": {}},
        {"deep": {"er": {"est": {"x": {"y": 1.5}}}}},
        {"tags": ["a", "b"]},
        {"rooms": [{"open": True, "id": 1}]},
    ],
)
async def test_a_payload_that_holds_the_pattern_is_found(api: Api, database: Database, pattern: Any) -> None:
    message = await make_message(database, api.environment, payload=PAYLOAD)

    assert await feed_ids(api, f"?payload={encode(pattern)}") == [message.text]


@pytest.mark.parametrize(
    "pattern",
    [
        {"n": 2},
        {"n": True},
        {"n": "1"},
        {"flag": 1},
        {"flag": "true"},
        {"missing": None},
        {"nothing": False},
        {"name": "ada"},
        {"name": {}},
        {"tags": ["a"]},
        {"tags": ["b", "a"]},
        {"tags": "a"},
        {"rooms": [{"id": 1}]},
        {"rooms": [{"id": 1, "open": 1}]},
        {"deep": {"er": {"est": {"x": {"y": 2}}}}},
        {"deep": {"er": {"est": {"x": {"y": 1.5, "z": 1}}}}},
    ],
)
async def test_a_payload_that_does_not_hold_the_pattern_is_not_found(
    api: Api, database: Database, pattern: Any
) -> None:
    await make_message(database, api.environment, payload=PAYLOAD)

    assert await feed_ids(api, f"?payload={encode(pattern)}") == []


async def test_a_payload_pattern_that_cannot_be_read_is_refused(api: Api, database: Database) -> None:
    await make_subscriber(database, api.environment)

    refused = await api.get("/v1/subscribers/ada/notifications/feed?payload=%25%25%25")

    assert refused.status_code == 400


async def test_feed_pages_hold_every_item_once_and_tell_exactly_whether_there_are_more(
    api: Api, database: Database
) -> None:
    made = [(await make_message(database, api.environment)).text for _ in range(4)]  # all in one millisecond

    pages = [(await api.get(f"/v1/subscribers/ada/notifications/feed?limit=2&page={n}")).json() for n in range(3)]

    assert [one["_id"] for page in pages for one in page["data"]] == made[::-1]
    assert [page["hasMore"] for page in pages] == [True, False, False]
    assert [(page["totalCount"], page["pageSize"], page["page"]) for page in pages] == [(4, 2, 0), (4, 2, 1), (4, 0, 2)]


@pytest.mark.parametrize(
    ("query", "field"), [("limit=101", "limit"), ("limit=0", "limit"), ("page=-1", "page"), ("read=yes", "read")]
)
async def test_feed_parameters_outside_their_bounds_are_named(api: Api, query: str, field: str) -> None:
    refused = await api.get(f"/v1/subscribers/ada/notifications/feed?{query}")

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == [field]


async def test_the_feed_of_an_unknown_subscriber_is_not_found(api: Api, other_api: Api, database: Database) -> None:
    await make_subscriber(database, other_api.environment)

    assert (await api.get("/v1/subscribers/ada/notifications/feed")).status_code == 404
    assert (await api.get("/v1/subscribers/ada/notifications/unseen")).status_code == 404


async def test_unseen_counts_what_the_feed_shows_up_to_the_limit(api: Api, database: Database) -> None:
    await make_message(database, api.environment, seen=True)
    for _ in range(3):
        await make_message(database, api.environment)
    await make_message(database, api.environment, archived=True)
    await make_message(database, api.environment, snoozed_until=NOW + 1)
    await make_message(database, api.environment, channel=Channel.EMAIL)

    assert await count(api) == {"count": 3}
    assert await count(api, "?limit=2") == {"count": 2}
    assert await count(api, "?seen=true") == {"count": 1}
    assert (await api.get("/v1/subscribers/ada/notifications/unseen?limit=101")).status_code == 422


def encode_text(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("given", [None, ""])
def test_nothing_given_is_no_pattern(given: str | None) -> None:
    assert read_pattern(given) is None


def test_an_object_is_read_from_either_alphabet_padded_or_not() -> None:
    pattern = '{"a":"~~~???>>>"}'
    standard = encode_text(pattern)
    assert "+" in standard or "/" in standard
    url_safe = standard.replace("+", "-").replace("/", "_")

    assert {read_pattern(one) for one in (standard, url_safe, standard.rstrip("="), url_safe.rstrip("="))} == {pattern}


def test_a_plus_that_came_through_a_query_string_as_a_space_is_understood() -> None:
    standard = encode_text('{"a":"~~~>>>"}')

    assert read_pattern(standard.replace("+", " ")) == '{"a":"~~~>>>"}'


@pytest.mark.parametrize(
    "given",
    [
        "%%%",
        "e",
        "ä",
        encode_text("{"),
        encode_text("[1]"),
        encode_text('"text"'),
        encode_text("1e999"),
        encode_text('{"a": "\\u0000"}'),
        encode_text('{"a": "\\ud800"}'),
        encode_text('{"a":' * 100_000),
        base64.b64encode(b'{"a": "\xff"}').decode(),
    ],
)
def test_what_is_not_an_object_in_base64_is_malformed(given: str) -> None:
    with pytest.raises(Malformed):
        read_pattern(given)


def test_a_text_that_only_looks_like_an_escape_is_kept() -> None:
    assert read_pattern(encode_text('{"a":"\\\\u0000"}')) == '{"a":"\\\\u0000"}'
