"""Subscriptions through HTTP, on both databases."""

import asyncio
from typing import Any

import pytest

from clarion.clock import ManualClock
from clarion.ids import id_text
from tests.support import Api
from tests.topics.support import make_subscribers, make_topic, people, subscribe, unsubscribe


async def test_a_subscription_has_the_documented_shape_everywhere(api: Api) -> None:
    ada = (await api.post("/v2/subscribers", json={"subscriberId": "ada", "email": "ada@example.com"})).json()
    topic = await make_topic(api, name="News")
    del topic["isOpen"]

    answer = await subscribe(api, "ada")

    row = answer["data"][0]
    assert row == {
        "_id": row["_id"],
        "identifier": "tk_news:si_ada",
        "topic": topic,
        "subscriber": {
            "_id": ada["_id"],
            "subscriberId": "ada",
            "avatar": None,
            "firstName": None,
            "lastName": None,
            "email": "ada@example.com",
        },
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z",
    }
    assert answer["meta"] == {"totalCount": 1, "successful": 1, "failed": 0}
    assert "errors" not in answer
    page = {"data": [row], "next": None, "previous": None, "totalCount": 1, "totalCountCapped": False}
    assert (await api.get("/v2/topics/news/subscriptions")).json() == page
    assert (await api.get("/v2/subscribers/ada/subscriptions")).json() == page


async def test_subscribing_creates_the_topic_and_reports_unknown_people(api: Api) -> None:
    await make_subscribers(api, "ada", "bob")

    answer = await subscribe(api, "bob", "ghost", "ada")

    assert people(answer) == ["bob", "ada"]
    assert answer["meta"] == {"totalCount": 3, "successful": 2, "failed": 1}
    assert [(one["subscriberId"], one["code"]) for one in answer["errors"]] == [("ghost", "SUBSCRIBER_NOT_FOUND")]
    assert "'ghost'" in answer["errors"][0]["message"]
    assert (await api.get("/v2/subscribers/ghost")).status_code == 404
    assert (await api.get("/v2/topics/news")).status_code == 200


async def test_subscribing_only_unknown_people_tells_that_none_succeeded(api: Api) -> None:
    answer = await subscribe(api, "ghost")

    assert answer["data"] == []
    assert answer["meta"] == {"totalCount": 1, "successful": 0, "failed": 1}


async def test_subscribing_twice_answers_the_existing_subscription(api: Api, clock: ManualClock) -> None:
    await make_subscribers(api, "ada")
    first = await subscribe(api, "ada")
    clock.move(1000)

    again = await subscribe(api, "ada", "ada")

    assert again == first
    assert (await api.get("/v2/topics/news/subscriptions")).json()["totalCount"] == 1


async def test_concurrent_calls_subscribe_each_person_once(api: Api) -> None:
    keys = [f"person-{number}" for number in range(20)]
    await make_subscribers(api, *keys)

    answers = await asyncio.gather(*(subscribe(api, *keys[:: 1 if n % 2 else -1]) for n in range(8)))

    assert all(answer["meta"]["successful"] == 20 for answer in answers)
    assert len({one["_id"] for answer in answers for one in answer["data"]}) == 20
    assert (await api.get("/v2/topics/news/subscriptions")).json()["totalCount"] == 20


async def test_a_person_deleted_while_being_subscribed_leaves_no_subscription(api: Api) -> None:
    await make_topic(api)
    for _ in range(5):
        await make_subscribers(api, "ada")
        await asyncio.gather(subscribe(api, "ada"), api.delete("/v2/subscribers/ada"))

        assert (await api.get("/v2/topics/news/subscriptions")).json()["totalCount"] == 0


async def test_a_topic_deleted_while_people_subscribe_leaves_no_subscription_behind(api: Api) -> None:
    await make_subscribers(api, "ada")
    for _ in range(5):
        await make_topic(api)
        await asyncio.gather(subscribe(api, "ada"), api.delete("/v2/topics/news"))

        left = (await api.get("/v2/subscribers/ada/subscriptions")).json()
        assert left["totalCount"] == len(left["data"])
        await api.delete("/v2/topics/news")


async def test_people_may_be_named_under_subscriptions_as_text_or_object(api: Api) -> None:
    await make_subscribers(api, "ada", "bob")
    body = {"name": "News", "subscriptions": ["ada", {"subscriberId": "bob", "identifier": "mine"}]}

    answer = await api.post("/v2/topics/news/subscriptions", json=body)

    assert answer.status_code == 201
    assert people(answer.json()) == ["ada", "bob"]
    assert [one["identifier"] for one in answer.json()["data"]] == ["tk_news:si_ada", "mine"]
    assert answer.json()["data"][0]["topic"]["name"] == "News"


async def test_a_hundred_people_are_subscribed_and_unsubscribed_in_one_call(api: Api) -> None:
    keys = [f"person-{number}" for number in range(100)]
    await make_subscribers(api, *keys)

    subscribed = await subscribe(api, *keys)
    removed = await unsubscribe(api, *keys)

    assert people(subscribed) == keys
    assert removed.json() == subscribed
    assert (await api.get("/v2/topics/news/subscriptions")).json()["totalCount"] == 0


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "subscriberIds"),
        ({"subscriberIds": []}, "subscriberIds"),
        ({"subscriberIds": None, "subscriptions": None}, "subscriberIds"),
        ({"subscriberIds": ["x"] * 101}, "subscriberIds"),
        ({"subscriberIds": ["ada", 7]}, "subscriberIds.1"),
        ({"subscriberIds": "ada"}, "subscriberIds"),
        ({"subscriptions": [{}]}, "subscriptions.0.subscriberId"),
        (
            {"subscriberIds": [f"a{n}" for n in range(60)], "subscriptions": [f"b{n}" for n in range(60)]},
            "subscriptions",
        ),
    ],
)
async def test_a_call_without_one_to_a_hundred_people_is_refused(api: Api, method: str, body: Any, path: str) -> None:
    await make_topic(api)

    refused = await api.request(method, "/v2/topics/news/subscriptions", json=body)

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == [path]


async def test_subscribing_to_a_key_that_cannot_be_one_is_refused(api: Api) -> None:
    refused = await api.post("/v2/topics/%20news/subscriptions", json={"subscriberIds": ["ada"]})

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == ["topicKey"]


async def test_unsubscribing_reports_who_was_not_subscribed(api: Api) -> None:
    await make_subscribers(api, "ada", "bob")
    subscribed = await subscribe(api, "ada")

    removed = await unsubscribe(api, "bob", "ada", "ghost")

    assert removed.status_code == 200
    assert removed.json()["data"] == subscribed["data"]
    assert removed.json()["meta"] == {"totalCount": 3, "successful": 1, "failed": 2}
    assert [(one["subscriberId"], one["code"]) for one in removed.json()["errors"]] == [
        ("bob", "SUBSCRIPTION_NOT_FOUND"),
        ("ghost", "SUBSCRIPTION_NOT_FOUND"),
    ]
    assert (await unsubscribe(api, "ada")).json()["meta"] == {"totalCount": 1, "successful": 0, "failed": 1}


async def test_concurrent_calls_unsubscribe_a_person_once(api: Api) -> None:
    await make_subscribers(api, "ada")
    await subscribe(api, "ada")

    answers = await asyncio.gather(*(unsubscribe(api, "ada") for _ in range(5)))

    assert sum(answer.json()["meta"]["successful"] for answer in answers) == 1


async def test_lists_of_subscriptions_are_filtered_by_the_other_side_exactly(api: Api) -> None:
    await make_subscribers(api, "ada", "bob")
    await subscribe(api, "ada", "bob")
    await subscribe(api, "ada", topic="other")

    async def found(path: str, **filters: str) -> list[str]:
        response = await api.get(path, params=filters)
        assert response.status_code == 200
        assert response.json()["totalCount"] == len(response.json()["data"])
        return [one["identifier"] for one in response.json()["data"]]

    assert await found("/v2/topics/news/subscriptions") == ["tk_news:si_bob", "tk_news:si_ada"]
    assert await found("/v2/topics/news/subscriptions", subscriberId="ada") == ["tk_news:si_ada"]
    assert await found("/v2/topics/other/subscriptions", subscriberId="bob") == []
    assert await found("/v2/topics/news/subscriptions", subscriberId="ad") == []
    assert await found("/v2/subscribers/ada/subscriptions") == ["tk_other:si_ada", "tk_news:si_ada"]
    assert await found("/v2/subscribers/ada/subscriptions", key="news") == ["tk_news:si_ada"]
    assert await found("/v2/subscribers/ada/subscriptions", key="none") == []


@pytest.mark.parametrize("order_by", ["_id", "updatedAt"])
@pytest.mark.parametrize("direction", ["ASC", "DESC"])
async def test_walking_the_pages_of_a_topic_meets_everyone_once(api: Api, order_by: str, direction: str) -> None:
    keys = [f"person-{number}" for number in range(7)]
    await make_subscribers(api, *keys)
    await subscribe(api, *keys)
    met: list[str] = []
    query: dict[str, Any] = {"limit": 3, "orderBy": order_by, "orderDirection": direction}

    page = (await api.get("/v2/topics/news/subscriptions", params=query)).json()
    met += people(page)
    while page["next"]:
        page = (await api.get("/v2/topics/news/subscriptions", params={**query, "after": page["next"]})).json()
        met += people(page)

    assert met == (keys if direction == "ASC" else keys[::-1])
    assert page["totalCount"] == 7


async def test_a_page_of_subscriptions_has_at_most_a_hundred(api: Api) -> None:
    await make_topic(api)

    assert (await api.get("/v2/topics/news/subscriptions?limit=100")).status_code == 200
    assert (await api.get("/v2/topics/news/subscriptions?limit=101")).status_code == 422


async def test_a_member_is_returned_with_every_id(api: Api) -> None:
    await make_subscribers(api, "ada")
    row = (await subscribe(api, "ada"))["data"][0]

    found = await api.get("/v1/topics/news/subscribers/ada")

    assert found.status_code == 200
    assert found.json() == {
        "_organizationId": id_text(api.environment.organization_id),
        "_environmentId": id_text(api.environment.id),
        "_subscriberId": row["subscriber"]["_id"],
        "_topicId": row["topic"]["_id"],
        "topicKey": "news",
        "externalSubscriberId": "ada",
    }


async def test_who_is_not_a_member_is_not_found(api: Api) -> None:
    await make_subscribers(api, "ada", "bob")
    await subscribe(api, "bob")

    assert (await api.get("/v1/topics/news/subscribers/ada")).status_code == 404
    assert (await api.get("/v1/topics/news/subscribers/ghost")).status_code == 404
    assert (await api.get("/v1/topics/none/subscribers/bob")).status_code == 404


async def test_deleting_a_subscriber_removes_them_from_their_topics(api: Api) -> None:
    await make_subscribers(api, "ada", "bob")
    await subscribe(api, "ada", "bob")

    await api.delete("/v2/subscribers/ada")

    assert people((await api.get("/v2/topics/news/subscriptions")).json()) == ["bob"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v2/topics/news", None),
        ("PATCH", "/v2/topics/news", {"name": "x"}),
        ("DELETE", "/v2/topics/news", None),
        ("GET", "/v2/topics/news/subscriptions", None),
        ("DELETE", "/v2/topics/news/subscriptions", {"subscriberIds": ["ada"]}),
        ("GET", "/v2/subscribers/ada/subscriptions", None),
        ("GET", "/v1/topics/news/subscribers/ada", None),
    ],
)
async def test_another_environments_topic_and_people_are_not_found(
    api: Api, other_api: Api, method: str, path: str, body: Any
) -> None:
    await make_subscribers(api, "ada")
    await subscribe(api, "ada")

    refused = await other_api.request(method, path, json=body)

    assert refused.status_code == 404
    assert people((await api.get("/v2/topics/news/subscriptions")).json()) == ["ada"]


async def test_the_same_keys_in_another_environment_are_other_things(api: Api, other_api: Api) -> None:
    await make_subscribers(api, "ada")
    await make_subscribers(other_api, "bob")
    await subscribe(api, "ada")

    answer = await subscribe(other_api, "ada", "bob")

    assert people(answer) == ["bob"]
    assert (await other_api.get("/v2/topics")).json()["totalCount"] == 1
    assert people((await api.get("/v2/topics/news/subscriptions")).json()) == ["ada"]
