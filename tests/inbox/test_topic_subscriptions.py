"""Subscribing to topics oneself."""

from typing import Any

import pytest

from clarion.topics.model import MAX_SUBSCRIPTIONS_PER_PERSON
from tests.inbox.conftest import MakePerson, Person
from tests.inbox.topic_support import DEFAULT, OWN, make_workflow, problems, subscribe
from tests.support import Api


async def test_subscribing_creates_the_topic_and_gives_the_default_identifier(ada: Person, api: Api) -> None:
    answer = await ada.post(OWN, json={"identifier": "", "name": "All news", "topic": {"name": "News"}})
    made = answer.json()["data"]

    assert answer.status_code == 201
    assert made == {"id": made["id"], "identifier": DEFAULT, "name": "All news", "preferences": []}
    assert (await api.get("/v2/topics/news")).json()["name"] == "News"
    listed = (await api.get("/v2/topics/news/subscriptions")).json()["data"]
    assert [(one["identifier"], one["name"], one["subscriber"]["subscriberId"]) for one in listed] == [
        (DEFAULT, "All news", "ada")
    ]
    assert (await ada.get(OWN)).json() == {"data": [made]}
    assert (await ada.get(f"{OWN}/{DEFAULT}")).json() == {"data": made}


async def test_subscribing_does_not_rename_an_existing_topic(ada: Person, api: Api) -> None:
    await api.post("/v2/topics", json={"key": "news", "name": "News"})

    await ada.post(OWN, json={"topic": {"name": "Taken over"}})

    assert (await api.get("/v2/topics/news")).json()["name"] == "News"


async def test_a_person_may_have_several_subscriptions_to_a_topic(ada: Person, api: Api) -> None:
    await subscribe(ada)
    await subscribe(ada, identifier="weekly:a,b")

    assert [one["identifier"] for one in (await ada.get(OWN)).json()["data"]] == [DEFAULT, "weekly:a,b"]
    assert (await ada.get(f"{OWN}/weekly:a,b")).json()["data"]["identifier"] == "weekly:a,b"
    assert len((await api.get("/v2/topics/news/subscriptions")).json()["data"]) == 2


async def test_subscribing_again_changes_what_is_given_and_keeps_the_rest(ada: Person, api: Api) -> None:
    await make_workflow(api, "digest")
    first = await subscribe(ada, name="Mine", preferences=["digest"])
    again = await subscribe(ada, identifier=DEFAULT, name="Other")

    assert again == first | {"name": "Other"}
    assert len((await ada.get(OWN)).json()["data"]) == 1


async def test_the_number_of_subscriptions_to_a_topic_is_limited(ada: Person) -> None:
    for number in range(MAX_SUBSCRIPTIONS_PER_PERSON):
        await subscribe(ada, identifier=f"s{number}")

    assert problems(await ada.post(OWN, json={"identifier": "one-more"})) == ["identifier"]
    assert (await ada.post(OWN, json={"identifier": "s0", "name": "changed"})).status_code == 201


async def test_a_subscription_that_does_not_exist_is_204_to_read_and_404_to_change(ada: Person, api: Api) -> None:
    await make_workflow(api, "digest")
    for topic in ("news", "unknown"):
        path = f"/v1/inbox/topics/{topic}/subscriptions/tk_{topic}:si_ada"
        await api.post("/v2/topics", json={"key": "news"})

        read = await ada.get(path)

        assert (read.status_code, read.content) == (204, b"")
        assert (await ada.patch(path, json={"name": "x"})).status_code == 404
        assert (await ada.delete(path)).status_code == 404
    changed = await ada.patch(f"/v1/inbox/subscriptions/{DEFAULT}/preferences/digest", json={"enabled": False})
    assert changed.status_code == 404
    assert (await ada.get("/v1/inbox/topics/unknown/subscriptions")).json() == {"data": []}


async def test_unsubscribing_removes_one_subscription(ada: Person, api: Api) -> None:
    await subscribe(ada)
    await subscribe(ada, identifier="weekly")

    gone = await ada.delete(f"{OWN}/{DEFAULT}")

    assert (gone.status_code, gone.json()) == (200, {"data": {"success": True}})
    assert [one["identifier"] for one in (await ada.get(OWN)).json()["data"]] == ["weekly"]
    assert (await api.get("/v1/topics/news/subscribers/ada")).status_code == 200


async def test_people_who_were_added_by_the_application_see_their_subscription(ada: Person, api: Api) -> None:
    await api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["ada"]})

    assert (await ada.get(f"{OWN}/{DEFAULT}")).json()["data"]["identifier"] == DEFAULT


async def test_the_application_removes_all_subscriptions_of_a_person(ada: Person, api: Api) -> None:
    await subscribe(ada)
    await subscribe(ada, identifier="weekly")

    answer = await api.request("DELETE", "/v2/topics/news/subscriptions", json={"subscriberIds": ["ada"]})

    assert answer.json()["meta"] == {"totalCount": 1, "successful": 1, "failed": 0}
    assert answer.json()["data"][0]["identifier"] == DEFAULT
    assert (await ada.get(OWN)).json() == {"data": []}


async def test_adding_a_person_who_subscribed_with_an_identifier_adds_the_default_subscription(
    ada: Person, api: Api
) -> None:
    await subscribe(ada, identifier="weekly")

    answer = await api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["ada"]})

    assert [one["identifier"] for one in answer.json()["data"]] == [DEFAULT]
    assert [one["identifier"] for one in (await ada.get(OWN)).json()["data"]] == ["weekly", DEFAULT]


async def test_the_default_identifier_of_a_session_with_contexts_names_them(make_person: MakePerson) -> None:
    ada = await make_person("ada", context_keys=("app:shop", "tenant:acme"))

    made = await subscribe(ada)

    assert made["identifier"] == f"{DEFAULT}:ctx_app:shop,tenant:acme"
    assert (await ada.get(f"{OWN}/{made['identifier']}")).json() == {"data": made}
    assert (await ada.get(f"{OWN}/{DEFAULT}")).status_code == 204


async def test_a_session_sees_and_changes_subscriptions_of_its_contexts_and_of_none(make_person: MakePerson) -> None:
    plain = await make_person("ada")
    acme, beta = [await make_person("ada", context_keys=(f"tenant:{one}",)) for one in ("acme", "beta")]
    await subscribe(plain)
    made = await subscribe(acme, identifier="weekly")
    path = f"{OWN}/{made['identifier']}"

    async def seen(person: Person) -> list[str]:
        return [one["identifier"] for one in (await person.get(OWN)).json()["data"]]

    assert made["contextKeys"] == ["tenant:acme"]
    assert [await seen(one) for one in (plain, acme, beta)] == [[DEFAULT], [DEFAULT, "weekly"], [DEFAULT]]
    assert (await beta.get(path)).status_code == 204
    assert (await beta.patch(path, json={"name": "x"})).status_code == 404
    assert (await beta.delete(path)).status_code == 404
    assert (await beta.patch("/v1/inbox/subscriptions/weekly/preferences/x", json={})).status_code == 404
    assert problems(await beta.post(OWN, json={"identifier": "weekly"})) == ["identifier"]
    assert (await acme.delete(path)).status_code == 200


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"preferences": ["unknown"]}, ["preferences.0"]),
        ({"preferences": [{"workflowId": "unknown"}, {}]}, ["preferences.0.workflowId", "preferences.1"]),
        ({"preferences": [{"filter": {"workflowIds": ["unknown"]}}]}, ["preferences.0.filter.workflowIds"]),
        ({"preferences": [{"filter": {}}]}, ["preferences.0"]),
        ({"preferences": [{"workflowId": "first", "condition": {"no-such": [1]}}]}, ["preferences.0.condition"]),
        ({"preferences": [{"workflowId": "first", "condition": {"==": [1]}}]}, ["preferences.0.condition"]),
        ({"preferences": ["first"] * 101}, ["preferences"]),
        ({"preferences": "first"}, ["preferences"]),
        ({"identifier": "x" * 513}, ["identifier"]),
        ({"identifier": " x"}, ["identifier"]),
        ({"name": "x" * 256}, ["name"]),
    ],
)
async def test_what_is_wrong_with_a_subscription_is_named(
    ada: Person, api: Api, body: dict[str, Any], fields: list[str]
) -> None:
    await make_workflow(api, "first")

    assert problems(await ada.post(OWN, json=body)) == fields


async def test_a_topic_key_that_is_not_valid_is_refused(ada: Person) -> None:
    assert problems(await ada.post(f"/v1/inbox/topics/{'x' * 256}/subscriptions", json={})) == ["topicKey"]


async def test_subscriptions_of_others_are_invisible_and_cannot_be_changed(
    ada: Person, api: Api, make_person: MakePerson, other_api: Api
) -> None:
    await make_workflow(api, "first")
    await make_workflow(other_api, "first")
    await subscribe(ada, name="Ada's", preferences=["first"])
    await subscribe(ada, identifier="weekly", preferences=["first"])
    before = (await ada.get(OWN)).json()
    ids = [one["id"] for one in before["data"]]

    for stranger in (await make_person("bob"), await make_person("ada", other_api.environment)):
        assert (await stranger.get(OWN)).json() == {"data": []}
        for reference in (DEFAULT, "weekly", *ids):
            path = f"{OWN}/{reference}"
            assert (await stranger.get(path)).status_code == 204
            assert (await stranger.patch(path, json={"name": "x"})).status_code == 404
            assert (await stranger.delete(path)).status_code == 404
            preference = f"/v1/inbox/subscriptions/{reference}/preferences/first"
            assert (await stranger.patch(preference, json={"enabled": False})).status_code == 404
        await subscribe(stranger, identifier="weekly", name="Mine")

    assert (await ada.get(OWN)).json() == before


async def test_a_session_that_is_over_cannot_subscribe(ada: Person, api: Api) -> None:
    await api.delete("/v2/subscribers/ada")

    for method, path in (
        ("GET", OWN),
        ("POST", OWN),
        ("GET", f"{OWN}/x"),
        ("PATCH", f"{OWN}/x"),
        ("DELETE", f"{OWN}/x"),
    ):
        body: dict[str, Any] | None = {} if method in ("POST", "PATCH") else None
        assert (await ada.request(method, path, json=body)).status_code == 401
    assert (await api.get("/v2/topics/news")).status_code == 404
