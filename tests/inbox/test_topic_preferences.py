"""Rules about workflows in subscriptions of one's own."""

from typing import Any

import pytest

from clarion.clock import ManualClock
from tests.inbox.conftest import MakePerson, Person
from tests.inbox.topic_support import DEFAULT, GOLD, OWN, critical, make_workflow, problems, subscribe
from tests.support import Api


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


async def test_the_team_sees_the_rules_of_a_subscription(ada: Person, api: Api) -> None:
    await make_workflow(api, "first")
    await subscribe(ada, preferences=[{"workflowId": "first", "enabled": False}])

    (found,) = (await api.get("/v2/subscribers/ada/subscriptions")).json()["data"]

    (rule,) = found["rules"]
    assert (len(rule["workflowIds"]), rule["tags"], rule["enabled"]) == (1, [], False)
    assert "condition" not in rule


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


async def test_subscriptions_and_workflows_are_switched_together_in_bulk(ada: Person, api: Api) -> None:
    first, second = await make_workflow(api, "first"), await make_workflow(api, "second")
    await subscribe(ada)
    body = [
        {"subscriptionIdentifier": DEFAULT, "workflowId": first, "enabled": False},
        {"workflowId": second, "in_app": False},
        {"subscriptionIdentifier": DEFAULT, "workflowId": second, "condition": GOLD},
    ]

    answer = await ada.patch("/v1/inbox/preferences/bulk", json={"preferences": body})

    assert answer.status_code == 200, answer.text
    off, workflow, conditional = answer.json()["data"]
    assert (off["subscriptionId"], off["enabled"], off["workflow"]["id"]) == (DEFAULT, False, first)
    assert (workflow["level"], workflow["channels"], workflow["workflow"]["id"]) == (
        "template",
        {"in_app": False},
        second,
    )
    assert (conditional["enabled"], conditional["condition"], conditional["workflow"]["id"]) == (True, GOLD, second)
    shown = (await ada.get(f"{OWN}/{DEFAULT}")).json()["data"]["preferences"]
    assert [(one["enabled"], one.get("condition")) for one in shown] == [(False, None), (True, GOLD)]


@pytest.mark.parametrize(
    ("wrong", "status", "fields"),
    [
        ({"subscriptionIdentifier": "unknown", "enabled": False}, 404, []),
        ({"subscriptionIdentifier": "tk_news:si_bob", "enabled": False}, 404, []),
        ({"subscriptionIdentifier": DEFAULT, "condition": {"no-such": 1}}, 422, ["preferences.1.condition"]),
        ({"enabled": False}, 422, ["preferences.1.enabled"]),
        ({"condition": GOLD}, 422, ["preferences.1.condition"]),
    ],
)
async def test_a_bulk_change_is_made_whole_or_not_at_all(
    ada: Person, api: Api, make_person: MakePerson, wrong: dict[str, Any], status: int, fields: list[str]
) -> None:
    await make_workflow(api, "first")
    await subscribe(ada)
    await subscribe(await make_person("bob"))
    good = {"subscriptionIdentifier": DEFAULT, "workflowId": "first", "enabled": False}

    answer = await ada.patch(
        "/v1/inbox/preferences/bulk", json={"preferences": [good, {"workflowId": "first", **wrong}]}
    )

    assert (answer.status_code, list(answer.json().get("errors", {}))) == (status, fields)
    assert (await ada.get(f"{OWN}/{DEFAULT}")).json()["data"]["preferences"] == []


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


async def test_the_size_of_rules_is_limited(ada: Person, api: Api) -> None:
    await make_workflow(api, "first")
    await subscribe(ada)
    large = {"workflowId": "first", "condition": {"==": [{"var": "payload.x"}, "x" * 900]}}

    assert problems(await ada.post(OWN, json={"preferences": [large] * 20})) == ["preferences"]
    kept = [large] * 16
    assert (await ada.post(OWN, json={"preferences": kept})).status_code == 201
    path = f"/v1/inbox/subscriptions/{DEFAULT}/preferences/first"
    assert problems(await ada.patch(path, json={"condition": {"==": [1, "x" * 990]}})) == ["condition"]
    assert problems(await ada.patch(path, json={"condition": {"no-such": []}})) == ["condition"]


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"some": [{"var": "payload.items"}, {"==": [{"var": ""}, 1]}]}, "'some'"),
        ({"==": [{"cat": ["a", {"var": "payload.x"}]}, "ab"]}, "'cat'"),
        ({"==": [{"var": "payload.x"}, "x" * 1000]}, "1000 bytes"),
        ({"in": [1, list(range(40))]}, "40 parts"),
        ({"!": {"!": {"!": {"!": {"!": {"!": {"!": {"!": {"!": True}}}}}}}}}, "8 levels"),
    ],
)
async def test_a_condition_that_is_expensive_is_refused_with_its_reason(
    ada: Person, api: Api, condition: Any, words: str
) -> None:
    await make_workflow(api, "first")
    await subscribe(ada)
    path = f"/v1/inbox/subscriptions/{DEFAULT}/preferences/first"

    created = await ada.post(OWN, json={"preferences": [{"workflowId": "first", "condition": condition}]})
    changed = await ada.patch(path, json={"condition": condition})

    assert (problems(created), problems(changed)) == (["preferences.0.condition"], ["condition"])
    assert words in created.text
    assert words in changed.text
