"""Subscribing to topics oneself, with rules about workflows."""

from typing import Any

import httpx
import pytest

from clarion.clock import ManualClock
from clarion.topics.model import MAX_SUBSCRIPTIONS_PER_PERSON
from clarion.topics.rules import MAX_RULES_BYTES
from tests.inbox.conftest import MakePerson, Person
from tests.support import Api

OWN = "/v1/inbox/topics/news/subscriptions"
DEFAULT = "tk_news:si_ada"
GOLD = {"==": [{"var": "payload.plan"}, "gold"]}


async def make_workflow(api: Api, key: str, **fields: Any) -> str:
    step = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "x"}}
    body = {"name": key.title(), "workflowId": key, "steps": [step], "active": True, **fields}
    response = await api.post("/v2/workflows", json=body)
    assert response.status_code == 201, response.text
    found: str = response.json()["_id"]
    return found


def critical() -> dict[str, Any]:
    return {"preferences": {"workflow": {"all": {"enabled": True, "readOnly": True}}}}


async def subscribe(person: Person, topic: str = "news", **body: Any) -> dict[str, Any]:
    response = await person.post(f"/v1/inbox/topics/{topic}/subscriptions", json=body)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()["data"]
    return made


def problems(response: httpx.Response) -> list[str]:
    assert response.status_code == 422, response.text
    return sorted(response.json()["errors"])


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


async def test_preferences_show_the_workflows_of_rules_by_name_id_filter_and_tag(ada: Person, api: Api) -> None:
    first = await make_workflow(api, "first", tags=["blue"], severity="high")
    second = await make_workflow(api, "second")
    third = await make_workflow(api, "third", tags=["blue"])
    await make_workflow(api, "fourth")

    made = await subscribe(
        ada,
        preferences=[
            "first",
            {"workflowId": second, "enabled": False},
            {"filter": {"tags": ["blue"]}, "condition": GOLD},
        ],
    )

    assert made["preferences"] == [
        {
            "subscriptionId": DEFAULT,
            "enabled": True,
            "workflow": {
                "id": first,
                "identifier": "first",
                "name": "First",
                "critical": False,
                "tags": ["blue"],
                "severity": "high",
            },
        },
        {
            "subscriptionId": DEFAULT,
            "enabled": False,
            "workflow": {
                "id": second,
                "identifier": "second",
                "name": "Second",
                "critical": False,
                "tags": [],
                "severity": "none",
            },
        },
        {
            "subscriptionId": DEFAULT,
            "enabled": True,
            "condition": GOLD,
            "workflow": {
                "id": third,
                "identifier": "third",
                "name": "Third",
                "critical": False,
                "tags": ["blue"],
                "severity": "none",
            },
        },
    ]
    assert (await ada.get(f"{OWN}/{DEFAULT}")).json()["data"] == made


async def test_the_query_chooses_the_workflows_whose_preferences_are_shown(ada: Person, api: Api) -> None:
    for key, tags in (("first", ["blue"]), ("second", []), ("third", ["red"])):
        await make_workflow(api, key, tags=tags)
    await subscribe(ada, preferences=[{"workflowId": "second", "enabled": False}])

    answer = await ada.get(f"{OWN}/{DEFAULT}?workflowIds=second&workflowIds=unknown&tags=blue")

    shown = answer.json()["data"]["preferences"]
    assert [(one["workflow"]["identifier"], one["enabled"]) for one in shown] == [("first", True), ("second", False)]


async def test_changing_replaces_the_rules_and_null_clears_them(ada: Person, api: Api, clock: ManualClock) -> None:
    await make_workflow(api, "first")
    await make_workflow(api, "second")
    await subscribe(ada, name="Mine", preferences=["first"])
    clock.move(1000)

    changed = (await ada.patch(f"{OWN}/{DEFAULT}", json={"preferences": ["second"]})).json()["data"]

    assert (changed["name"], [one["workflow"]["identifier"] for one in changed["preferences"]]) == ("Mine", ["second"])
    row = (await api.get("/v2/topics/news/subscriptions")).json()["data"][0]
    assert (row["createdAt"], row["updatedAt"]) == ("2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z")
    cleared = (await ada.patch(f"{OWN}/{DEFAULT}", json={"preferences": None, "name": None})).json()["data"]
    assert (cleared.get("name"), cleared["preferences"]) == (None, [])


async def test_one_workflow_is_switched_without_changing_the_others_of_its_rule(ada: Person, api: Api) -> None:
    first = await make_workflow(api, "first", tags=["blue"])
    await make_workflow(api, "second", tags=["blue"])
    await subscribe(ada, preferences=[{"filter": {"tags": ["blue"]}, "condition": GOLD}])
    path = f"/v1/inbox/subscriptions/{DEFAULT}/preferences/{first}"
    everything = dict.fromkeys(("enabled", "email", "sms", "in_app", "chat", "push"), False)

    switched = (await ada.patch(path, json=everything)).json()["data"]

    assert (switched["enabled"], switched["condition"], switched["workflow"]["id"]) == (False, GOLD, first)
    shown = (await ada.get(f"{OWN}/{DEFAULT}")).json()["data"]["preferences"]
    assert [(one["enabled"], one.get("condition")) for one in shown] == [(False, GOLD), (True, GOLD)]
    assert (await ada.patch(path, json={"enabled": True})).json()["data"]["enabled"] is True
    other = {"==": [{"var": "subscriber.firstName"}, "Ada"]}
    assert (await ada.patch(path, json={"condition": other})).json()["data"]["condition"] == other
    assert "condition" not in (await ada.patch(path, json={"condition": None})).json()["data"]


async def test_a_workflow_without_a_rule_can_be_switched_by_its_identifier(ada: Person, api: Api) -> None:
    await make_workflow(api, "first")
    await subscribe(ada, identifier="weekly")

    path = "/v1/inbox/subscriptions/weekly/preferences/first"
    assert (await ada.patch(path, json={"enabled": False})).json()["data"]["enabled"] is False
    assert (await ada.patch(path, json={})).json()["data"]["enabled"] is False
    missing = await ada.patch("/v1/inbox/subscriptions/weekly/preferences/unknown", json={"enabled": False})
    assert missing.status_code == 404


async def test_channels_of_a_subscription_cannot_be_switched_one_by_one(ada: Person, api: Api) -> None:
    await make_workflow(api, "first")
    await subscribe(ada)

    answer = await ada.patch(f"/v1/inbox/subscriptions/{DEFAULT}/preferences/first", json={"email": True, "sms": False})

    assert problems(answer) == ["enabled"]


async def test_an_identifier_in_several_topics_has_to_be_replaced_by_the_id(ada: Person, api: Api) -> None:
    await make_workflow(api, "first")
    await subscribe(ada, identifier="weekly")
    other = await subscribe(ada, "sport", identifier="weekly")

    ambiguous = await ada.patch("/v1/inbox/subscriptions/weekly/preferences/first", json={"enabled": False})

    assert problems(ambiguous) == ["identifier"]
    by_id = await ada.patch(f"/v1/inbox/subscriptions/{other['id']}/preferences/first", json={"enabled": False})
    assert by_id.status_code == 200
    assert (await ada.get(OWN)).json()["data"][0]["preferences"] == []


async def test_critical_workflows_cannot_be_switched_off(ada: Person, api: Api) -> None:
    await make_workflow(api, "vital", tags=["blue"], **critical())
    off = [{"workflowId": "vital", "enabled": False}]
    assert problems(await ada.post(OWN, json={"preferences": off})) == ["preferences.0.workflowId"]
    conditional = [{"filter": {"workflowIds": ["vital"]}, "condition": GOLD}]
    assert problems(await ada.post(OWN, json={"preferences": conditional})) == ["preferences.0.filter.workflowIds"]
    assert (await api.get("/v2/topics/news")).status_code == 404

    made = await subscribe(ada, preferences=["vital", {"filter": {"tags": ["blue"]}, "enabled": False}])

    assert [(one["enabled"], one["workflow"]["critical"]) for one in made["preferences"]] == [(True, True)]
    path = f"/v1/inbox/subscriptions/{DEFAULT}/preferences/vital"
    assert problems(await ada.patch(path, json={"enabled": False})) == ["enabled"]
    assert problems(await ada.patch(path, json={"condition": GOLD})) == ["condition"]


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


async def test_the_size_of_rules_is_limited(ada: Person, api: Api) -> None:
    await make_workflow(api, "first")
    await subscribe(ada)
    large = {"==": [{"var": "payload.x"}, "x" * MAX_RULES_BYTES]}

    assert problems(await ada.post(OWN, json={"preferences": [{"workflowId": "first", "condition": large}]})) == [
        "preferences"
    ]
    path = f"/v1/inbox/subscriptions/{DEFAULT}/preferences/first"
    assert problems(await ada.patch(path, json={"condition": large})) == ["condition"]
    assert problems(await ada.patch(path, json={"condition": {"no-such": []}})) == ["condition"]


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
