"""Subscriptions to topics for messages of some contexts: made, listed, changed and deleted, on both databases."""

from typing import Any

import pytest

from clarion.vocabulary import Scope
from tests.support import Api, MakeApi, Site
from tests.topics.support import make_subscribers
from tests.workflows.support import make_workflow

SUBSCRIPTIONS = "/v2/topics/news/subscriptions"
ACME = "tk_news:si_ada:ctx_tenant:acme"


async def subscribe(api: Api, *people: Any, **fields: Any) -> dict[str, Any]:
    response = await api.post(SUBSCRIPTIONS, json={"subscriptions": list(people), **fields})
    assert response.status_code == 201, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def list_identifiers(api: Api, query: str = "") -> list[str]:
    return sorted(one["identifier"] for one in (await api.get(f"{SUBSCRIPTIONS}{query}")).json()["data"])


async def test_a_subscription_of_a_context_stands_beside_the_one_of_any(api: Api) -> None:
    await make_subscribers(api, "ada")
    plain = await subscribe(api, "ada")

    made = await subscribe(api, "ada", context={"tenant": {"id": "acme", "data": {"plan": "pro"}}, "app": "shop"})
    shown = (await api.get(f"{SUBSCRIPTIONS}/{made['data'][0]['identifier']}")).json()
    changed = (await api.patch(f"{SUBSCRIPTIONS}/{made['data'][0]['_id']}", json={"name": "Mine"})).json()

    assert "contextKeys" not in plain["data"][0]
    assert made["data"][0]["identifier"] == "tk_news:si_ada:ctx_app:shop,tenant:acme"
    assert made["data"][0]["contextKeys"] == shown["contextKeys"] == changed["contextKeys"]
    assert shown["contextKeys"] == ["app:shop", "tenant:acme"]
    assert (await api.get("/v2/contexts/tenant/acme")).json()["data"] == {"plan": "pro"}


async def test_lists_are_narrowed_to_exactly_a_context_or_to_none(api: Api) -> None:
    await make_subscribers(api, "ada", "bob")
    await subscribe(api, "ada", "bob")
    await subscribe(api, "ada", context={"tenant": "acme"})
    await subscribe(api, "bob", context={"tenant": "acme", "app": "shop"})

    of_acme = await list_identifiers(api, "?contextKeys=tenant:acme")
    of_none = await list_identifiers(api, "?contextKeys=")
    of_both = await list_identifiers(api, "?contextKeys=tenant:acme&contextKeys=app:shop")
    of_ada = (await api.get("/v2/subscribers/ada/subscriptions?contextKeys=tenant:acme")).json()["data"]

    assert of_acme == [one["identifier"] for one in of_ada] == [ACME]
    assert of_none == ["tk_news:si_ada", "tk_news:si_bob"]
    assert of_both == ["tk_news:si_bob:ctx_app:shop,tenant:acme"]


async def test_names_identifiers_and_rules_are_stored_and_existing_subscriptions_get_them(api: Api) -> None:
    await make_subscribers(api, "ada")
    await make_workflow(api, workflowId="welcome")
    wanted = {"subscriberId": "ada", "identifier": "weekly", "name": "Weekly"}

    first = await subscribe(api, wanted, preferences=["welcome"], context={"tenant": "acme"})
    rule = {"workflowId": "welcome", "enabled": False}
    second = await subscribe(api, wanted | {"name": "Ours"}, preferences=[rule], context={"tenant": "acme"})
    third = await subscribe(api, {"subscriberId": "ada", "identifier": "weekly"}, context={"tenant": "acme"})

    assert [one["data"][0]["name"] for one in (first, second, third)] == ["Weekly", "Ours", "Ours"]
    assert [one["data"][0]["rules"][0]["enabled"] for one in (first, second, third)] == [True, False, False]
    assert len({one["data"][0]["_id"] for one in (first, second, third)}) == 1


async def test_an_identifier_of_another_context_is_reported_and_left_alone(api: Api) -> None:
    await make_subscribers(api, "ada")
    wanted = {"subscriberId": "ada", "identifier": "weekly"}
    await subscribe(api, wanted, context={"tenant": "acme"})

    answer = await subscribe(api, wanted, context={"tenant": "beta"})

    assert (answer["data"], answer["meta"]["failed"]) == ([], 1)
    assert answer["errors"][0]["code"] == "SUBSCRIPTION_IN_OTHER_CONTEXT"
    assert "tenant:acme" in answer["errors"][0]["message"]
    assert (await api.get(f"{SUBSCRIPTIONS}/weekly")).json()["contextKeys"] == ["tenant:acme"]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"context": {"ten/ant": "acme"}}, "context.ten/ant"),
        ({"preferences": ["missing"]}, "preferences.0"),
        ({"preferences": [{"filter": {"tags": ["missing"]}}]}, "preferences.0.filter.tags"),
        ({"subscriptions": [{"subscriberId": "ada", "identifier": " a"}]}, "subscriptions.0.identifier"),
    ],
)
async def test_what_is_wrong_is_refused_by_its_field_and_nobody_is_subscribed(
    api: Api, fields: dict[str, Any], path: str
) -> None:
    await make_subscribers(api, "ada")

    response = await api.post(SUBSCRIPTIONS, json={"subscriptions": ["ada"], **fields})

    assert response.status_code == 422
    assert list(response.json()["errors"]) == [path]
    assert (await api.get("/v2/topics/news")).status_code == 404


async def test_one_subscription_is_deleted_by_its_identifier_and_all_by_the_person(api: Api) -> None:
    await make_subscribers(api, "ada")
    await subscribe(api, "ada")
    for tenant in ("acme", "beta"):
        await subscribe(api, "ada", context={"tenant": tenant})

    async def delete(**member: str) -> dict[str, Any]:
        body = {"subscriptions": [{"subscriberId": "ada", **member}]}
        answer: dict[str, Any] = (await api.request("DELETE", SUBSCRIPTIONS, json=body)).json()
        return answer

    one, again = await delete(identifier=ACME), await delete(identifier=ACME)
    left = await list_identifiers(api)
    await delete()

    assert [row["identifier"] for row in one["data"]] == [ACME]
    assert again["errors"][0]["code"] == "SUBSCRIPTION_NOT_FOUND"
    assert left == ["tk_news:si_ada", "tk_news:si_ada:ctx_tenant:beta"]
    assert await list_identifiers(api) == []


async def test_a_person_has_at_most_a_hundred_subscriptions_to_a_topic(api: Api) -> None:
    await make_subscribers(api, "ada")
    people = [{"subscriberId": "ada", "identifier": f"number {number}"} for number in range(100)]
    full = await subscribe(api, *people)

    answer = await subscribe(api, "ada", people[0])

    assert full["meta"]["successful"] == 100
    assert [one["identifier"] for one in answer["data"]] == ["number 0"]
    assert [one["code"] for one in answer["errors"]] == ["TOO_MANY_SUBSCRIPTIONS"]


async def test_a_key_that_may_not_write_contexts_makes_none_and_is_told_what_is_not_stored(
    api: Api, make_api: MakeApi
) -> None:
    await make_subscribers(api, "ada")
    limited = await make_api(scopes=frozenset({Scope.TOPICS_READ, Scope.TOPICS_WRITE}))
    context = {"tenant": {"id": "acme", "data": {"plan": "pro"}}}

    answer = await subscribe(limited, "ada", context=context)

    assert answer["data"][0]["contextKeys"] == ["tenant:acme"]
    assert (await api.get("/v2/contexts/tenant/acme")).status_code == 404


async def test_subscriptions_of_another_environment_are_neither_seen_nor_deleted(
    api: Api, make_api: MakeApi, site: Site
) -> None:
    other = await make_api(site.production)
    for client in (api, other):
        await make_subscribers(client, "ada")
        await subscribe(client, "ada", context={"tenant": "acme"})

    body = {"subscriptions": [{"subscriberId": "ada", "identifier": ACME}]}
    await other.request("DELETE", SUBSCRIPTIONS, json=body)

    assert await list_identifiers(other) == []
    assert await list_identifiers(api) == [ACME]
