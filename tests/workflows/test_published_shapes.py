"""Every answer about workflows is what the models of the published client accept."""

from pathlib import Path
from typing import Any

import pytest
from novu_py import Novu, models

from clarion.settings.model import Settings
from clarion.workflows.custom_form import SHOWN_AS_CUSTOM
from tests.support import Api
from tests.workflows.support import CONTROLS, list_steps_before, make_workflow, step

PREFERENCES: dict[str, Any] = {
    "user": {"all": {"enabled": False}, "channels": {"email": {"enabled": False}}},
    "workflow": {"all": {"enabled": True, "readOnly": True}, "channels": {}},
}
DRAFTS: dict[str, dict[str, Any]] = {kind: {} for kind in CONTROLS}
WAITING: list[dict[str, Any]] = [
    step("delay", controlValues={"type": "timed", "cron": "0 9 * * 1"}),
    step("digest", controlValues={"type": "timed", "cron": "0 9 * * 1"}),
    step("throttle", controlValues={"type": "dynamic", "dynamicKey": "payload.window"}),
]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The built-in names that the closed enums of the client know."""
    return Settings(data_dir=tmp_path, builtin_name="novu")


@pytest.mark.parametrize("controls", [CONTROLS, DRAFTS], ids=["complete", "drafts"])
async def test_workflows_with_steps_of_every_type_are_accepted(api: Api, controls: dict[str, dict[str, Any]]) -> None:
    steps = [step(kind, controlValues=values) for kind, values in controls.items()]
    fields: dict[str, Any] = {
        "tags": ["x"],
        "description": "d",
        "preferences": PREFERENCES,
        "payloadSchema": {"type": "object"},
    }

    created = models.WorkflowResponseDto.model_validate(await make_workflow(api, steps=steps, **fields))
    found = models.WorkflowResponseDto.model_validate((await api.get("/v2/workflows/order-shipped")).json())
    listed = models.ListWorkflowResponse.model_validate((await api.get("/v2/workflows")).json())

    assert created == found
    kinds = ["custom" if kind in SHOWN_AS_CUSTOM else kind for kind in controls]
    assert [one.type.value for one in created.steps] == kinds
    assert created.preferences.user is not None
    assert [one.value for one in listed.workflows[0].step_type_overviews] == kinds


async def test_the_client_writes_back_steps_of_kinds_that_it_does_not_know(api: Api) -> None:
    client: Any = Novu(secret_key=api.key, server_url="http://clarion.test", async_client=api, retry_config=None)
    unknown = [step(kind) for kind in sorted(SHOWN_AS_CUSTOM)]
    made = await make_workflow(api, steps=[step("sms", stepId="the-in-app-step"), *unknown])
    read = (await client.workflows.get_async(workflow_id="order-shipped")).result
    steps = [
        {
            "_id": one.id,
            "step_id": one.step_id,
            "name": one.name,
            "type": one.type.value,
            "control_values": one.controls.values.model_dump(mode="json", by_alias=True, exclude_unset=True),
        }
        for one in read.steps
    ]
    await client.workflows.update_async(
        workflow_id=read.id, update_workflow_dto={"name": read.name, "steps": steps, "preferences": {"user": None}}
    )

    after = (await api.get("/v2/workflows/order-shipped")).json()
    assert after["version"] == made["version"]
    assert [one["controlValues"] for one in after["steps"]] == [one["controlValues"] for one in made["steps"]]


async def test_the_client_writes_back_digests_without_taking_away_what_it_does_not_know(api: Api) -> None:
    client: Any = Novu(secret_key=api.key, server_url="http://clarion.test", async_client=api, retry_config=None)
    own = {
        "slideUpTo": {"amount": 3, "unit": "hours"},
        "maxItems": 20,
        "dynamicKey": "payload.every",
        "retain": {"by": "payload.score", "order": "desc", "count": 3},
    }
    made = await make_workflow(api, steps=[step("digest", controlValues={"amount": 1, "unit": "hours", **own})])
    read = (await client.workflows.get_async(workflow_id="order-shipped")).result
    (known,) = read.steps
    values = known.controls.values.model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert not own.keys() & values.keys()
    written = {"_id": known.id, "step_id": known.step_id, "name": known.name, "type": "digest"}
    body = {"name": read.name, "preferences": {"user": None}}

    for length in (1, 2):
        steps = [{**written, "control_values": {**values, "amount": length}}]
        await client.workflows.update_async(workflow_id=read.id, update_workflow_dto={**body, "steps": steps})
        (after,) = (await api.get("/v2/workflows/order-shipped")).json()["steps"]
        assert after["controlValues"] == {"amount": length, "unit": "hours", **own}
    assert made["version"] == 1

    plain = {**made, "steps": [{**made["steps"][0], "controlValues": {**after["controlValues"], "maxItems": None}}]}
    body = {name: plain[name] for name in ("name", "steps")} | {"preferences": {"user": None}}
    body["steps"] = [{name: one[name] for name in ("_id", "name", "type", "controlValues")} for one in body["steps"]]
    changed = await api.put("/v2/workflows/order-shipped", json=body)
    assert changed.json()["steps"][0]["controlValues"]["maxItems"] is None


async def test_controls_that_nothing_reads_are_no_issues_of_a_kind_that_clients_do_not_know(api: Api) -> None:
    made = await make_workflow(api, steps=[step("sms", controlValues={"body": "x", "unheardOf": 1})])

    created = models.WorkflowResponseDto.model_validate(made)

    assert created.status is models.WorkflowStatusEnum.ACTIVE
    assert created.steps[0].issues is not None
    assert created.steps[0].issues.controls == {}
    assert list(made["steps"][0]["issues"]["warnings"]) == ["unheardOf"]


async def test_steps_that_wait_in_other_ways_are_accepted(api: Api) -> None:
    created = models.WorkflowResponseDto.model_validate(await make_workflow(api, steps=WAITING))

    assert created.status is models.WorkflowStatusEnum.ACTIVE


async def test_changed_and_copied_workflows_are_accepted(api: Api) -> None:
    made = await make_workflow(api)
    body = models.UpdateWorkflowDto.model_validate(made | {"steps": made["steps"], "preferences": {"user": None}})

    replaced = await api.put("/v2/workflows/order-shipped", json=body.model_dump(mode="json", by_alias=True))
    patched = await api.patch("/v2/workflows/order-shipped", json={"active": False})
    copied = await api.post("/v2/workflows/order-shipped/duplicate", json={})

    for response in (replaced, patched, copied):
        assert models.WorkflowResponseDto.model_validate(response.json()).steps[0].type.value == "in_app"
    assert replaced.json()["steps"][0]["_id"] == made["steps"][0]["_id"]


@pytest.mark.parametrize("kind", CONTROLS)
async def test_steps_and_previews_of_every_type_are_accepted(api: Api, kind: str) -> None:
    await make_workflow(api, steps=[*list_steps_before(kind), step(kind, stepId="one")])

    found = await api.get("/v2/workflows/order-shipped/steps/one")
    response = await api.post(
        "/v2/workflows/order-shipped/step/one/preview",
        json={"previewPayload": {"payload": {"order": 1}, "subscriber": {"firstName": "Ada"}}},
    )

    assert models.StepResponseDto.model_validate(found.json()).step_id == "one"
    preview = models.GeneratePreviewResponseDto.model_validate(response.json())
    result = preview.result if isinstance(preview.result, dict) else preview.result.model_dump(mode="json")
    assert result["type"] == kind


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_the_client_itself_manages_workflows(api: Api) -> None:
    client: Any = Novu(secret_key=api.key, server_url="http://clarion.test", async_client=api, retry_config=None)
    known = [kind for kind in CONTROLS if kind not in ("email", *SHOWN_AS_CUSTOM)]
    steps = [{"name": f"The {kind} step", "type": kind, "control_values": {}} for kind in known]
    steps.append({"name": "Wait", "type": "delay", "control_values": {"type": "regular", "amount": 3, "unit": "hours"}})
    workflow = {"name": "Order shipped", "workflow_id": "order-shipped", "steps": steps, "active": True}

    created = (await client.workflows.create_async(create_workflow_dto=workflow)).result
    listed = (await client.workflows.list_async(request={"limit": 5, "query": "order", "tags": []})).result
    kept = [one.model_dump(mode="json") for one in created.steps[-1:]]
    updated = await client.workflows.update_async(
        workflow_id=created.id, update_workflow_dto={"name": "Renamed", "steps": kept, "preferences": {"user": None}}
    )
    patched = await client.workflows.patch_async(
        workflow_id=created.slug, patch_workflow_dto={"active": False, "tags": ["x"]}
    )
    response = await client.workflows.steps.generate_preview_async(
        workflow_id="order-shipped",
        step_id="wait",
        generate_preview_request_dto={"control_values": kept[0]["controlValues"]},
    )
    await client.workflows.delete_async(workflow_id="order-shipped")

    assert listed.total_count == 1
    assert updated.result.steps[0].id == created.steps[-1].id
    assert (patched.result.status.value, patched.result.tags) == ("INACTIVE", ["x"])
    assert response.result.result["preview"]["amount"] == 3
    assert (await api.get("/v2/workflows")).json()["totalCount"] == 0
