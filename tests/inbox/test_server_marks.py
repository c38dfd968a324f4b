"""Marking messages through HTTP, on both databases."""

from typing import Any

import httpx
import pytest

from clarion.clock import ManualClock, Millis, iso_text
from clarion.db.port import Database
from clarion.ids import id_text, new_id
from clarion.vocabulary import Channel
from tests.records import NOW, make_message, make_subscriber
from tests.support import Api

EARLIER = Millis(NOW - 500)
STATE = ("seen", "lastSeenDate", "read", "lastReadDate")


async def mark(api: Api, message_id: Any, mark_as: str, subscriber: str = "ada") -> httpx.Response:
    return await api.post(
        f"/v1/subscribers/{subscriber}/messages/mark-as", json={"messageId": message_id, "markAs": mark_as}
    )


async def mark_all(api: Api, mark_as: str, **more: Any) -> httpx.Response:
    return await api.post("/v1/subscribers/ada/messages/mark-all", json={"markAs": mark_as, **more})


@pytest.mark.parametrize(
    ("mark_as", "state"),
    [
        ("read", (True, iso_text(NOW), True, iso_text(NOW))),
        ("seen", (True, iso_text(NOW), True, iso_text(EARLIER))),
        ("unread", (True, iso_text(EARLIER), False, None)),
        ("unseen", (False, None, False, None)),
    ],
)
async def test_a_mark_on_a_read_message(api: Api, database: Database, mark_as: str, state: tuple[Any, ...]) -> None:
    message = await make_message(
        database, api.environment, seen=True, read=True, seen_at=EARLIER, read_at=EARLIER, now=EARLIER
    )

    marked = await mark(api, message.text, mark_as)

    assert marked.status_code == 201
    (item,) = marked.json()
    assert tuple(item.get(name) for name in STATE) == state
    assert item["updatedAt"] == iso_text(NOW)
    assert "subscriber" not in item
    (listed,) = (await api.get("/v1/messages")).json()["data"]
    assert tuple(listed.get(name) for name in STATE) == state


async def test_marking_again_moves_the_dates(api: Api, database: Database, clock: ManualClock) -> None:
    message = await make_message(database, api.environment)
    await mark(api, message.text, "read")
    clock.move(1_000)

    (item,) = (await mark(api, message.text, "read")).json()

    assert item["lastReadDate"] == item["lastSeenDate"] == iso_text(Millis(NOW + 1_000))


async def test_the_answer_is_in_request_order_each_once_and_of_any_channel(api: Api, database: Database) -> None:
    first = await make_message(database, api.environment, channel=Channel.EMAIL)
    second = await make_message(database, api.environment)
    third = await make_message(database, api.environment)

    marked = await mark(api, [third.text, first.text, third.text, second.text], "seen")

    assert [one["_id"] for one in marked.json()] == [third.text, first.text, second.text]


async def test_ids_that_are_not_the_subscribers_are_skipped_and_left_alone(
    api: Api, other_api: Api, database: Database
) -> None:
    own = await make_message(database, api.environment)
    bob = await make_subscriber(database, api.environment, "bob")
    of_bob = await make_message(database, api.environment, subscriber=bob)
    elsewhere = await make_message(database, other_api.environment)
    unknown = id_text(new_id(NOW))

    marked = await mark(api, [unknown, of_bob.text, elsewhere.text, own.text], "read")

    assert [one["_id"] for one in marked.json()] == [own.text]
    assert [one["read"] for one in (await api.get("/v1/messages?subscriberId=bob")).json()["data"]] == [False]
    assert [one["read"] for one in (await other_api.get("/v1/messages")).json()["data"]] == [False]


async def test_when_every_id_is_unknown_the_answer_is_empty(api: Api, database: Database) -> None:
    await make_subscriber(database, api.environment)

    marked = await mark(api, id_text(new_id(NOW)), "read")

    assert (marked.status_code, marked.json()) == (201, [])


@pytest.mark.parametrize(
    ("message_id", "fields"),
    [
        ("abc", ["messageId"]),
        (["abc", "019a8a5e-7c00-7000-8000-000000000001", "x"], ["messageId.0", "messageId.2"]),
        ([], ["messageId"]),
        ([1], ["messageId.0"]),
        (7, ["messageId"]),
        (None, ["messageId"]),
    ],
)
async def test_every_id_that_is_none_is_named(api: Api, message_id: Any, fields: list[str]) -> None:
    refused = await mark(api, message_id, "read")

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == fields


async def test_more_ids_than_a_call_takes_are_refused(api: Api) -> None:
    refused = await mark(api, [id_text(new_id(NOW))] * 1001, "read")

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == ["messageId"]


async def test_what_is_missing_or_not_in_the_enum_is_named_together(api: Api) -> None:
    refused = await api.post("/v1/subscribers/ada/messages/mark-as", json={"markAs": "liked"})

    assert refused.status_code == 422
    assert sorted(refused.json()["errors"]) == ["markAs", "messageId"]


async def test_marking_for_an_unknown_subscriber_finds_nothing(api: Api) -> None:
    assert (await mark(api, id_text(new_id(NOW)), "read", "nobody")).status_code == 404
    assert (await mark_all(api, "read")).status_code == 404


async def test_mark_all_changes_and_counts_only_in_app_messages_not_yet_in_that_state(
    api: Api, other_api: Api, database: Database
) -> None:
    await make_message(database, api.environment, seen=True, read=True)
    await make_message(database, api.environment, seen=True)
    await make_message(database, api.environment)
    await make_message(database, api.environment, channel=Channel.EMAIL)
    await make_message(database, other_api.environment)

    counts = [(await mark_all(api, word)).json() for word in ("seen", "read", "read", "unread", "unseen", "unread")]

    assert counts == [1, 2, 0, 3, 3, 0]
    email = (await api.get("/v1/messages?channel=email")).json()["data"]
    assert [(one["seen"], one["read"]) for one in email] == [(False, False)]


async def test_mark_all_answers_a_bare_number_with_201(api: Api, database: Database) -> None:
    await make_message(database, api.environment)

    marked = await mark_all(api, "read")

    assert (marked.status_code, marked.content) == (201, b"1")


async def test_mark_all_leaves_the_dates_of_what_was_in_that_state(api: Api, database: Database) -> None:
    await make_message(database, api.environment, seen=True, read=True, seen_at=EARLIER, read_at=EARLIER)

    await mark_all(api, "read")

    (item,) = (await api.get("/v1/messages")).json()["data"]
    assert item["lastReadDate"] == iso_text(EARLIER)


async def test_no_message_belongs_to_a_named_feed(api: Api, database: Database) -> None:
    await make_message(database, api.environment)

    assert (await mark_all(api, "read", feedIdentifier="news")).json() == 0
    assert (await mark_all(api, "read", feedIdentifier=["news"])).json() == 0
    assert (await mark_all(api, "read", feedIdentifier=None)).json() == 1
