"""One subscription to a topic: found by its identifier or `_id`, and its rules changed, on both databases."""

from typing import Any

import pytest

from clarion.db.port import Database
from clarion.db.query import sql
from clarion.ids import new_id
from clarion.vocabulary import Scope
from tests.records import NOW
from tests.support import Api, MakeApi
from tests.topics.support import make_subscribers, subscribe
from tests.workflows.support import make_workflow, step

PATH = "/v2/topics/news/subscriptions/tk_news:si_ada"


@pytest.fixture
async def news(api: Api) -> dict[str, Any]:
    """Ada's subscription to the topic, as it is listed."""
    await make_subscribers(api, "ada", "bob")
    await subscribe(api, "ada", "bob")
    (found,) = (await api.get("/v2/topics/news/subscriptions?subscriberId=ada")).json()["data"]
    listed: dict[str, Any] = found
    return listed


async def make_workflows(api: Api) -> None:
    for key, tags in (("welcome", ["hello"]), ("shipped", ["orders"]), ("returned", ["orders"])):
        await make_workflow(api, workflowId=key, name=key.title(), tags=tags, steps=[step("sms")])


async def test_a_subscription_is_found_by_its_identifier_and_its_id(api: Api, news: dict[str, Any]) -> None:
    by_identifier = await api.get(PATH)
    by_id = await api.get(f"/v2/topics/news/subscriptions/{news['_id']}")

    assert by_identifier.json() == by_id.json()
    assert by_identifier.json() == {"id": news["_id"], "identifier": "tk_news:si_ada", "preferences": []}


@pytest.mark.parametrize(
    "path",
    [
        "/v2/topics/missing/subscriptions/tk_missing:si_ada",
        "/v2/topics/news/subscriptions/tk_news:si_eve",
        "/v2/topics/news/subscriptions/tk_other:si_ada",
        "/v2/topics/news/subscriptions/ada",
        "/v2/topics/news/subscriptions/01a1df28-0000-7000-8000-000000000000",
    ],
)
async def test_an_unknown_subscription_is_not_found(api: Api, news: dict[str, Any], path: str) -> None:
    assert (await api.get(path)).status_code == 404
    assert (await api.patch(path, json={"name": "Mine"})).status_code == 404


async def test_rules_are_replaced_and_shown_for_their_workflows(api: Api, news: dict[str, Any]) -> None:
    await make_workflows(api)
    condition = {"==": [{"var": "payload.tier"}, "gold"]}

    changed = await api.patch(
        PATH,
        json={
            "name": "Ada's news",
            "preferences": ["welcome", {"filter": {"tags": ["orders"]}, "enabled": True, "condition": condition}],
        },
    )
    shown = (await api.get(PATH)).json()
    cleared = await api.patch(PATH, json={"preferences": []})

    assert changed.status_code == 200
    body = changed.json()
    assert (body["_id"], body["topic"]["key"], body["subscriber"]["subscriberId"]) == (news["_id"], "news", "ada")
    assert body["preferences"] == shown["preferences"]
    assert {one["workflow"]["identifier"]: one.get("condition") for one in shown["preferences"]} == {
        "welcome": None,
        "shipped": condition,
        "returned": condition,
    }
    assert (shown["name"], cleared.json()["preferences"], cleared.json()["name"]) == ("Ada's news", [], "Ada's news")


@pytest.mark.parametrize(
    ("preferences", "field"),
    [
        (["missing"], "preferences.0"),
        ([{"workflowId": "missing"}], "preferences.0.workflowId"),
        ([{"filter": {"workflowIds": ["missing"]}}], "preferences.0.filter.workflowIds"),
        ([{"filter": {"tags": ["orders", "oders"]}}], "preferences.0.filter.tags"),
        ([{"workflowId": "welcome", "condition": {"no such": 1}}], "preferences.0.condition"),
    ],
)
async def test_what_names_nothing_is_refused_with_the_field(
    api: Api, news: dict[str, Any], preferences: list[Any], field: str
) -> None:
    await make_workflows(api)

    response = await api.patch(PATH, json={"preferences": preferences})

    assert response.status_code == 422
    assert list(response.json()["errors"]) == [field]
    assert (await api.get(PATH)).json()["preferences"] == []


async def test_an_identifier_that_people_chose_alike_needs_the_id(
    api: Api, news: dict[str, Any], database: Database
) -> None:
    insert = sql("""
        INSERT INTO topic_subscriptions (environment_id, id, topic_id, subscriber_id, identifier, created_at)
        SELECT environment_id, :id, topic_id, subscriber_id, 'weekly', created_at FROM topic_subscriptions
        WHERE environment_id = :environment_id AND identifier = '' AND subscriber_id IN (
            SELECT id FROM subscribers WHERE environment_id = :environment_id AND key = :key
        )
    """)
    answers = []
    for key in ("ada", "bob"):
        bound = {"environment_id": api.environment.id, "id": new_id(NOW), "key": key}
        await database.transaction(lambda db, bound=bound: db.execute(insert, **bound))  # type: ignore[misc]
        answers.append(await api.get("/v2/topics/news/subscriptions/weekly"))

    assert [one.status_code for one in answers] == [200, 422]
    assert answers[0].json()["identifier"] == "weekly"


async def test_the_scopes_are_those_of_topics(make_api: MakeApi, news: dict[str, Any]) -> None:
    reader = await make_api(scopes={Scope.TOPICS_READ})

    assert (await reader.get(PATH)).status_code == 200
    assert (await reader.patch(PATH, json={"name": "Mine"})).status_code == 403
