"""Preferences of the inbox, on both databases."""

from typing import Any

import pytest

from clarion.db.port import Database
from clarion.ids import id_text
from clarion.vocabulary import Severity, StepType
from clarion.workflows.model import MainSwitch, PreferenceLayer, Workflow
from tests.inbox.conftest import MakePerson, Person
from tests.records import make_workflow
from tests.support import Api, Site

PATH = "/v1/inbox/preferences"
CRITICAL = PreferenceLayer(all=MainSwitch(enabled=True, read_only=True))
HOURS = {"isEnabled": True, "hours": [{"start": "09:00 AM", "end": "05:00 PM"}]}
SCHEDULE = {"isEnabled": True, "weeklySchedule": {"monday": HOURS, "sunday": {"isEnabled": False, "hours": []}}}


@pytest.fixture
async def comments(database: Database, site: Site) -> Workflow:
    steps = [StepType.IN_APP, StepType.EMAIL]
    return await make_workflow(
        database, site.development, key="comments", name="Comments", steps=steps, tags=["social", "team"]
    )


@pytest.fixture
async def billing(database: Database, site: Site) -> Workflow:
    return await make_workflow(
        database, site.development, key="billing", name="Billing", steps=[StepType.EMAIL], severity=Severity.HIGH
    )


@pytest.fixture
async def alarm(database: Database, site: Site) -> Workflow:
    return await make_workflow(
        database, site.development, key="alarm", name="Alarm", steps=[StepType.IN_APP], default_preference=CRITICAL
    )


async def names(person: Person, query: str) -> list[str]:
    data = (await person.get(f"{PATH}?{query}")).json()["data"]
    assert data[0]["level"] == "global"
    return [one["workflow"]["identifier"] for one in data[1:]]


@pytest.mark.usefixtures("alarm")
async def test_the_global_preference_comes_first_then_those_of_workflows(ada: Person, comments: Workflow) -> None:
    response = await ada.get(PATH)

    assert response.status_code == 200
    assert response.json()["data"] == [
        {"level": "global", "enabled": True, "channels": {"in_app": True, "email": True}},
        {
            "level": "template",
            "enabled": True,
            "channels": {"in_app": True, "email": True},
            "overrides": [],
            "workflow": {
                "id": id_text(comments.id),
                "identifier": "comments",
                "name": "Comments",
                "critical": False,
                "tags": ["social", "team"],
                "severity": "none",
            },
        },
    ]


@pytest.mark.usefixtures("comments", "billing", "alarm")
async def test_workflows_are_filtered_by_criticality_tags_and_severity(ada: Person) -> None:
    assert await names(ada, "") == ["comments", "billing"]
    assert await names(ada, "criticality=critical") == ["alarm"]
    assert await names(ada, "criticality=all") == ["comments", "billing", "alarm"]
    assert await names(ada, "tags[]=team&tags[]=other") == ["comments"]
    assert await names(ada, "tags[]=other") == []
    assert await names(ada, "severity=high") == ["billing"]
    assert await names(ada, "severity[]=high&severity[]=none") == ["comments", "billing"]
    assert (await ada.get(f"{PATH}?severity=huge")).status_code == 422


@pytest.mark.usefixtures("comments", "billing")
async def test_a_workflow_is_switched_by_its_id_and_by_its_identifier(ada: Person, comments: Workflow) -> None:
    by_id = await ada.patch(f"{PATH}/{id_text(comments.id)}", json={"email": False})
    by_name = await ada.patch(f"{PATH}/comments", json={"in_app": False})

    assert (by_id.status_code, by_id.json()["data"]["channels"]) == (200, {"in_app": True, "email": False})
    assert by_name.json()["data"]["channels"] == {"in_app": False, "email": False}
    assert by_name.json()["data"]["workflow"]["severity"] == "none"
    listed = (await ada.get(PATH)).json()["data"]
    assert [one["channels"] for one in listed] == [
        {"in_app": True, "email": True},
        {"in_app": False, "email": False},
        {"email": True},
    ]


@pytest.mark.usefixtures("comments", "billing")
async def test_a_global_switch_removes_the_choices_of_workflows_for_that_channel(ada: Person) -> None:
    await ada.patch(f"{PATH}/comments", json={"email": False, "in_app": False})

    response = await ada.patch(PATH, json={"email": True})

    listed = (await ada.get(PATH)).json()["data"]
    assert response.json()["data"] == {"level": "global", "enabled": True, "channels": {"in_app": True, "email": True}}
    assert [one["channels"] for one in listed[1:]] == [{"in_app": False, "email": True}, {"email": True}]


@pytest.mark.usefixtures("comments")
async def test_a_global_switch_of_another_person_changes_nothing(ada: Person, make_person: MakePerson) -> None:
    bob = await make_person("bob")
    await bob.patch(f"{PATH}/comments", json={"email": False})
    before = (await bob.get(PATH)).json()

    await ada.patch(PATH, json={"email": True})

    assert (await bob.get(PATH)).json() == before


@pytest.mark.usefixtures("comments")
async def test_the_customers_api_leaves_choices_of_workflows_at_a_global_switch(ada: Person, api: Api) -> None:
    await ada.patch(f"{PATH}/comments", json={"email": False})

    await api.patch("/v2/subscribers/ada/preferences", json={"channels": {"email": True}})

    assert (await ada.get(PATH)).json()["data"][1]["channels"]["email"] is False


@pytest.mark.usefixtures("comments")
async def test_once_stored_the_schedule_is_in_every_global_preference(ada: Person) -> None:
    assert "schedule" not in (await ada.get(f"{PATH}/global")).json()["data"]

    stored = await ada.patch(PATH, json={"schedule": SCHEDULE})
    switched = await ada.patch(PATH, json={"email": False})
    empty = await ada.patch(PATH, headers={"Content-Type": "application/json"})
    one = await ada.get(f"{PATH}/global")
    listed = await ada.get(PATH)

    answers = [*(each.json()["data"] for each in (stored, switched, empty, one)), listed.json()["data"][0]]
    assert [each["schedule"] for each in answers] == [SCHEDULE] * 5
    assert [each["channels"]["email"] for each in answers] == [True, False, False, False, False]


async def test_critical_workflows_cannot_be_switched_off(ada: Person, alarm: Workflow) -> None:
    single = await ada.patch(f"{PATH}/alarm", json={"in_app": False})
    several = await ada.patch(
        f"{PATH}/bulk", json={"preferences": [{"workflowId": id_text(alarm.id), "in_app": False}]}
    )

    assert [single.status_code, several.status_code] == [422, 422]
    assert list(several.json()["errors"]) == ["preferences.0.workflowId"]
    assert "critical" in single.json()["message"]
    (listed,) = (await ada.get(f"{PATH}?criticality=critical")).json()["data"][1:]
    assert (listed["workflow"]["critical"], listed["channels"]) == (True, {"in_app": True})


@pytest.mark.usefixtures("comments")
async def test_several_workflows_are_switched_together_or_not_at_all(ada: Person, billing: Workflow) -> None:
    items: list[dict[str, Any]] = [
        {"workflowId": "comments", "email": False},
        {"workflowId": id_text(billing.id), "email": False},
    ]
    refused = await ada.patch(f"{PATH}/bulk", json={"preferences": [*items, {"workflowId": "missing"}]})
    before = (await ada.get(PATH)).json()["data"]
    done = await ada.patch(f"{PATH}/bulk", json={"preferences": items})

    assert refused.status_code == 404
    assert before[1]["channels"] == {"in_app": True, "email": True}
    assert [one["channels"] for one in done.json()["data"]] == [{"in_app": True, "email": False}, {"email": False}]
    assert [one["workflow"]["identifier"] for one in done.json()["data"]] == ["comments", "billing"]


@pytest.mark.usefixtures("comments")
@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        (PATH, {"email": "no"}, 422, "email"),
        (PATH, {"schedule": {"isEnabled": 1}}, 422, "schedule.isEnabled"),
        (
            PATH,
            {
                "schedule": {
                    "isEnabled": True,
                    "weeklySchedule": {"monday": {"isEnabled": True, "hours": [{"start": "9"}]}},
                }
            },
            422,
            "schedule.weeklySchedule.monday.hours.0.start",
        ),
        (f"{PATH}/missing", {"email": True}, 404, "missing"),
        (f"{PATH}/comments", {"schedule": SCHEDULE}, 422, "schedule"),
        (f"{PATH}/bulk", {"preferences": []}, 422, "preferences"),
        (f"{PATH}/bulk", {"preferences": [{"workflowId": "comments"}] * 101}, 422, "preferences"),
        (f"{PATH}/bulk", {}, 422, "preferences"),
    ],
)
async def test_what_cannot_be_changed_is_named(
    ada: Person, path: str, body: dict[str, Any], status: int, words: str
) -> None:
    response = await ada.patch(path, json=body)

    assert response.status_code == status
    assert words in response.text


async def test_workflows_of_another_environment_do_not_exist(database: Database, site: Site, ada: Person) -> None:
    theirs = await make_workflow(database, site.production, key="theirs", steps=[StepType.EMAIL])

    for reference in ("theirs", id_text(theirs.id)):
        assert (await ada.patch(f"{PATH}/{reference}", json={"email": False})).status_code == 404
    assert len((await ada.get(f"{PATH}?criticality=all")).json()["data"]) == 1
