"""Preferences through HTTP, on both databases."""

import asyncio
from typing import Any

import msgspec
import pytest

from clarion.db.port import Database
from clarion.ids import id_text
from clarion.vocabulary import Channel, StepType
from clarion.workflows.model import MainSwitch, PreferenceLayer, Switch, Workflow
from tests.records import make_step, make_workflow
from tests.support import Api

PATH = "/v2/subscribers/ada/preferences"
LAYERS = ("global", "workflow")
CRITICAL = PreferenceLayer(all=MainSwitch(enabled=True, read_only=True))


@pytest.fixture
async def ada(api: Api) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "ada"})


@pytest.fixture
async def welcome(database: Database, api: Api) -> Workflow:
    steps = [StepType.IN_APP, StepType.DELAY, StepType.EMAIL]
    return await make_workflow(database, api.environment, key="welcome", name="Welcome Mail", steps=steps)


@pytest.mark.usefixtures("ada", "welcome")
async def test_nothing_set_is_everything_on_and_no_override(api: Api) -> None:
    response = await api.get(PATH)

    body = response.json()
    (workflow,) = body["workflows"]
    assert response.status_code == 200
    assert body["global"] == {"enabled": True, "channels": {"email": True, "in_app": True}}
    assert workflow["channels"] == {"email": True, "in_app": True}
    assert workflow["overrides"] == []
    assert workflow["workflow"]["identifier"] == "welcome"
    assert workflow["workflow"]["slug"].startswith("welcome-mail_wf_")


@pytest.mark.usefixtures("ada")
async def test_only_active_workflows_and_active_steps_are_shown(database: Database, api: Api) -> None:
    await make_workflow(database, api.environment, key="asleep", active=False)
    steps = [make_step(StepType.SMS), msgspec.structs.replace(make_step(StepType.PUSH), active=False)]
    await make_workflow(database, api.environment, key="awake", steps=steps)

    body = (await api.get(PATH)).json()

    assert [(one["workflow"]["identifier"], one["channels"]) for one in body["workflows"]] == [("awake", {"sms": True})]
    assert body["global"]["channels"] == {"sms": True}


@pytest.mark.usefixtures("ada", "welcome")
async def test_a_global_switch_reaches_every_workflow_until_one_is_switched_itself(api: Api) -> None:
    off = (await api.patch(PATH, json={"channels": {"email": False, "chat": False}})).json()
    back = (await api.patch(PATH, json={"channels": {"email": True}, "workflowId": "welcome"})).json()

    assert off["global"]["channels"] == {"email": False, "in_app": True, "chat": False}
    assert off["workflows"][0]["channels"] == {"email": False, "in_app": True}
    everywhere, own = ({"channel": "email", "source": "subscriber", "layer": f"subscriber {one}"} for one in LAYERS)
    assert off["workflows"][0]["overrides"] == [everywhere]
    assert back["workflows"][0]["overrides"] == [own]
    assert back["global"]["channels"]["email"] is False
    assert back["workflows"][0]["channels"]["email"] is True
    assert (await api.get(PATH)).json() == back


@pytest.mark.usefixtures("ada")
async def test_overrides_name_the_side_that_decided(database: Database, api: Api) -> None:
    await make_workflow(
        database,
        api.environment,
        steps=[StepType.EMAIL, StepType.SMS, StepType.CHAT],
        default_preference=PreferenceLayer(channels={Channel.EMAIL: Switch(False), Channel.SMS: Switch(True)}),
        user_preference=PreferenceLayer(channels={Channel.SMS: Switch(False)}),
    )

    (workflow,) = (await api.get(PATH)).json()["workflows"]

    assert workflow["channels"] == {"email": False, "sms": False, "chat": True}
    assert workflow["overrides"] == [
        {"channel": "email", "source": "template", "layer": "workflow default"},
        {"channel": "sms", "source": "workflowOverride", "layer": "workflow override"},
    ]


@pytest.mark.usefixtures("ada")
async def test_critical_workflows_are_shown_on_request_and_cannot_be_changed(database: Database, api: Api) -> None:
    await make_workflow(database, api.environment, key="usual", steps=[StepType.EMAIL])
    await make_workflow(database, api.environment, key="critical", default_preference=CRITICAL)

    async def list_names(query: str) -> list[str]:
        body = (await api.get(f"{PATH}{query}")).json()
        return [one["workflow"]["identifier"] for one in body["workflows"]]

    refused = await api.patch(PATH, json={"channels": {"email": False}, "workflowId": "critical"})
    assert await list_names("") == await list_names("?criticality=nonCritical") == ["usual"]
    assert await list_names("?criticality=critical") == ["critical"]
    assert await list_names("?criticality=all") == ["usual", "critical"]
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["workflowId"])
    assert (await api.get(f"{PATH}?criticality=some")).status_code == 422


@pytest.mark.usefixtures("ada")
async def test_a_workflow_is_named_by_identifier_id_or_slug(api: Api, welcome: Workflow) -> None:
    for reference, enabled in (("welcome", False), (id_text(welcome.id), True), (welcome.slug, False)):
        body = {"channels": {"email": enabled}, "workflowId": reference}
        changed = (await api.patch(PATH, json=body)).json()
        assert changed["workflows"][0]["channels"]["email"] is enabled


@pytest.mark.usefixtures("ada", "welcome")
@pytest.mark.parametrize(
    ("body", "status", "names"),
    [
        ({"channels": {"email": "no"}}, 422, ["channels.email"]),
        ({"channels": {"email": 1, "sms": None}}, 422, ["channels.email", "channels.sms"]),
        ({"channels": {"email": False}, "workflowId": "unknown"}, 404, []),
        ({"channels": {"email": False}, "workflowId": "x_wf_0123456789012345678901"}, 404, []),
        ({"schedule": {"isEnabled": True, "weeklySchedule": {"monday": {"isEnabled": 1}}}}, 422, None),
        ({"schedule": {"isEnabled": True}, "workflowId": "welcome"}, 422, ["schedule"]),
    ],
)
async def test_bad_changes_are_refused_and_change_nothing(api: Api, body: Any, status: int, names: Any) -> None:
    before = (await api.get(PATH)).json()

    response = await api.patch(PATH, json=body)

    assert response.status_code == status
    if names:
        assert list(response.json()["errors"]) == names
    assert (await api.get(PATH)).json() == before


@pytest.mark.usefixtures("ada")
async def test_a_schedule_is_kept_with_the_global_preference(api: Api) -> None:
    schedule = {
        "isEnabled": True,
        "weeklySchedule": {"monday": {"isEnabled": True, "hours": [{"start": "09:00 AM", "end": "05:30 PM"}]}},
    }
    await api.patch(PATH, json={"schedule": schedule})
    await api.patch(PATH, json={"channels": {"email": False}})

    assert (await api.get(PATH)).json()["global"] == {
        "enabled": True,
        "channels": {"email": False},
        "schedule": schedule,
    }


@pytest.mark.usefixtures("ada", "welcome")
async def test_bulk_changes_all_or_none(database: Database, api: Api) -> None:
    await make_workflow(database, api.environment, key="critical", default_preference=CRITICAL)
    good = [{"workflowId": "welcome", "channels": {"email": False}}]

    changed = await api.patch(f"{PATH}/bulk", json={"preferences": good})
    back_with_unknown = [{"workflowId": "welcome", "channels": {"email": True}}, {"workflowId": "x", "channels": {}}]
    unknown = await api.patch(f"{PATH}/bulk", json={"preferences": back_with_unknown})
    critical = await api.patch(
        f"{PATH}/bulk", json={"preferences": [*good, {"workflowId": "critical", "channels": {}}]}
    )
    many = await api.patch(f"{PATH}/bulk", json={"preferences": good * 101})

    (one,) = changed.json()
    assert (one["level"], one["channels"]["email"], one["workflow"]["critical"]) == ("template", False, False)
    assert unknown.status_code == 404
    assert list(critical.json()["errors"]) == ["preferences.1.workflowId"]
    assert many.status_code == 422
    assert (await api.get(PATH)).json()["workflows"][0]["channels"]["email"] is False


@pytest.mark.usefixtures("ada")
async def test_bulk_changes_of_one_person_in_any_order_do_not_block_each_other(database: Database, api: Api) -> None:
    keys = [f"workflow-{number}" for number in range(8)]
    for key in keys:
        await make_workflow(database, api.environment, key=key)

    async def change(order: list[str], enabled: bool) -> int:
        changes = [{"workflowId": key, "channels": {"email": enabled}} for key in order]
        return (await api.patch(f"{PATH}/bulk", json={"preferences": changes})).status_code

    statuses = await asyncio.gather(*(change(keys[:: 1 if up else -1], up) for up in [True, False] * 6))

    assert statuses == [200] * 12


async def test_an_unknown_subscriber_has_no_preferences(api: Api) -> None:
    assert (await api.get(PATH)).status_code == 404
    assert (await api.patch(PATH, json={})).status_code == 404
    assert (
        await api.patch(f"{PATH}/bulk", json={"preferences": [{"workflowId": "x", "channels": {}}]})
    ).status_code == 404
