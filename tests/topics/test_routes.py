"""Topics through HTTP, on both databases."""

import asyncio
from typing import Any

import pytest

from clarion.clock import ManualClock
from clarion.vocabulary import Scope
from tests.support import Api, MakeApi
from tests.topics.support import make_subscribers, make_topic, subscribe


async def test_a_new_topic_answers_201_and_is_retrieved_as_created(api: Api) -> None:
    created = await api.post("/v2/topics", json={"key": "news", "name": "News"})
    found = await api.get("/v2/topics/news")

    assert created.status_code == 201
    assert found.status_code == 200
    assert found.json() == created.json()
    assert found.json() == {
        "_id": created.json()["_id"],
        "key": "news",
        "name": "News",
        "isOpen": False,
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z",
    }


async def test_a_topic_without_a_name_has_no_name_member(api: Api) -> None:
    assert "name" not in await make_topic(api)


async def test_creating_a_topic_again_answers_200_with_the_new_name(api: Api, clock: ManualClock) -> None:
    before = await make_topic(api, name="News")
    clock.move(1000)

    again = await api.post("/v2/topics", json={"key": "news", "name": "Good news"})

    assert again.status_code == 200
    assert again.json() == before | {"name": "Good news", "updatedAt": "2026-01-01T00:00:01.000Z"}
    assert (await api.get("/v2/topics/news")).json() == again.json()


async def test_creating_a_topic_again_without_a_name_keeps_it_untouched(api: Api, clock: ManualClock) -> None:
    before = await make_topic(api, name="News")
    clock.move(1000)

    assert await make_topic(api) == before


async def test_fail_if_exists_refuses_and_changes_nothing(api: Api) -> None:
    before = await make_topic(api, name="News")

    refused = await api.post("/v2/topics?failIfExists=true", json={"key": "news", "name": "Other"})

    assert refused.status_code == 409
    assert (await api.get("/v2/topics/news")).json() == before


async def test_fail_if_exists_creates_what_does_not_exist(api: Api) -> None:
    assert (await api.post("/v2/topics?failIfExists=true", json={"key": "news"})).status_code == 201


async def test_concurrent_creations_make_one_topic(api: Api) -> None:
    answers = await asyncio.gather(*(api.post("/v2/topics", json={"key": "news"}) for _ in range(10)))

    assert sorted(answer.status_code for answer in answers) == [200] * 9 + [201]
    assert len({answer.json()["_id"] for answer in answers}) == 1
    assert (await api.get("/v2/topics")).json()["totalCount"] == 1


@pytest.mark.parametrize("key", ["", " news", "news ", "a\nb", "x" * 256, None, 7])
async def test_a_key_that_breaks_the_rule_is_named(api: Api, key: Any) -> None:
    refused = await api.post("/v2/topics", json={"key": key})

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == ["key"]


async def test_every_bad_field_of_a_topic_is_named(api: Api) -> None:
    refused = await api.post("/v2/topics", json={"name": "x" * 256})

    assert refused.status_code == 422
    assert set(refused.json()["errors"]) == {"key", "name"}


async def test_a_key_of_any_printable_text_names_its_topic(api: Api) -> None:
    key = "häuser/ämter & más 🏠" + "x" * 200
    created = await make_topic(api, key=key)

    found = await api.get("/v2/topics/" + "".join(f"%{byte:02X}" for byte in key.encode()))

    assert found.json() == created


async def test_the_name_changes_and_null_clears_it(api: Api, clock: ManualClock) -> None:
    before = await make_topic(api, name="News")
    clock.move(1000)

    renamed = await api.patch("/v2/topics/news", json={"name": "Better"})
    cleared = await api.patch("/v2/topics/news", json={"name": None})

    assert renamed.status_code == 200
    assert renamed.json() == before | {"name": "Better", "updatedAt": "2026-01-01T00:00:01.000Z"}
    assert "name" not in cleared.json()
    assert (await api.get("/v2/topics/news")).json() == cleared.json()


async def test_a_change_that_changes_nothing_moves_no_date(api: Api, clock: ManualClock) -> None:
    before = await make_topic(api, name="News")
    clock.move(1000)

    assert (await api.patch("/v2/topics/news", json={"name": "News"})).json() == before
    assert (await api.patch("/v2/topics/news", json={})).json() == before


async def test_topics_are_listed_newest_first_by_key_and_by_part_of_the_name(api: Api) -> None:
    await make_topic(api, key="a", name="Great news")
    await make_topic(api, key="b", name="Great News")
    await make_topic(api, key="c")

    async def keys(**filters: str) -> list[str]:
        return [one["key"] for one in (await api.get("/v2/topics", params=filters)).json()["data"]]

    assert await keys() == ["c", "b", "a"]
    assert await keys(key="a") == ["a"]
    assert await keys(key="A") == []
    assert await keys(name="news") == ["a"]
    assert await keys(name="Great") == ["b", "a"]
    assert await keys(name="%") == []
    assert await keys(key="b", name="news") == []


async def test_deleting_a_topic_removes_its_subscriptions_and_no_one_else(api: Api) -> None:
    await make_subscribers(api, "ada")
    await subscribe(api, "ada")
    await subscribe(api, "ada", topic="other")

    deleted = await api.delete("/v2/topics/news")

    assert deleted.status_code == 200
    assert deleted.json() == {"acknowledged": True}
    assert (await api.get("/v2/topics/news")).status_code == 404
    left = (await api.get("/v2/subscribers/ada/subscriptions")).json()
    assert [one["topic"]["key"] for one in left["data"]] == ["other"]
    await make_topic(api)
    assert (await api.get("/v2/topics/news/subscriptions")).json()["data"] == []


async def test_keys_need_the_scope_of_topics(make_api: MakeApi) -> None:
    reader = await make_api(scopes=frozenset({Scope.TOPICS_READ}))
    stranger = await make_api(scopes=frozenset({Scope.SUBSCRIBERS_READ}))

    assert (await reader.get("/v2/topics")).status_code == 200
    assert (await reader.post("/v2/topics", json={"key": "news"})).status_code == 403
    assert (await stranger.get("/v2/topics")).status_code == 403
    assert (await stranger.get("/v2/subscribers/ada/subscriptions")).status_code == 403


async def test_a_repeated_request_with_an_idempotency_key_gets_the_first_status_again(api: Api) -> None:
    headers = {"Idempotency-Key": "once"}

    first = await api.post("/v2/topics", json={"key": "news"}, headers=headers)
    again = await api.post("/v2/topics", json={"key": "news"}, headers=headers)

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
