"""Workflows that could never run are refused when they are saved, with every bad field named."""

from typing import Any

import pytest

from tests.support import Api
from tests.workflows.support import make_workflow, step

GROUP = {"type": "GROUP", "value": "AND", "children": []}
BAD_FILTER = [
    {**GROUP, "children": [{"on": "payload", "field": "x", "operator": "NEARLY", "value": "1"}]},
]


def deep_schema(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


BAD_DEFINITIONS: list[tuple[dict[str, Any], set[str]]] = [
    ({"steps": [step("sms", controlValues={"body": "{{ payload.x"})]}, {"steps.0.controlValues.body"}),
    (
        {"steps": [step(), step("digest", controlValues={"type": "timed", "cron": "often"})]},
        {"steps.1.controlValues.cron"},
    ),
    (
        {"steps": [step("delay", controlValues={"amount": 0, "unit": "eons"})]},
        {"steps.0.controlValues.amount", "steps.0.controlValues.unit"},
    ),
    (
        {
            "steps": [
                step("sms", controlValues={"body": "{% if %}", "skip": 5}),
                step("email", controlValues={"subject": "{{ | }}", "editorType": "word"}),
            ],
            "payloadSchema": {"type": "no-such-type"},
        },
        {
            "steps.0.controlValues.body",
            "steps.0.controlValues.skip",
            "steps.1.controlValues.subject",
            "steps.1.controlValues.editorType",
            "payloadSchema",
        },
    ),
    ({"steps": [step("sms", variants=[{"controlValues": {"body": "{{"}}])]}, {"steps.0.variants.0.controlValues.body"}),
    ({"steps": [step("digest", controlValues={"digestKey": "a..b"})]}, {"steps.0.controlValues.digestKey"}),
    ({"steps": [step(stepId="a"), step(stepId="a")]}, {"steps.1.stepId"}),
    ({"payloadSchema": {"type": "object", "properties": 5}}, {"payloadSchema"}),
    ({"payloadSchema": deep_schema(25)}, {"payloadSchema"}),
    ({"payloadSchema": []}, {"payloadSchema"}),
]
BAD_SHAPES: list[tuple[dict[str, Any], set[str]]] = [
    ({"steps": [step() | {"type": "telepathy"}]}, {"steps.0.type"}),
    ({"steps": [step() | {"type": "http"}]}, {"steps.0.type"}),
    ({"steps": [step() | {"name": ""}, step() | {"stepId": "a b"}]}, {"steps.0.name", "steps.1.stepId"}),
    ({"steps": [{"controlValues": []}]}, {"steps.0.name", "steps.0.type", "steps.0.controlValues"}),
    ({"steps": [step("sms", f"Step {number}") for number in range(21)]}, {"steps"}),
    ({"name": "", "tags": ["x"] * 17, "severity": "dire"}, {"name", "tags", "severity"}),
    ({"active": "yes", "description": 5, "validatePayload": 1}, {"active", "description", "validatePayload"}),
    ({"preferences": {"user": {"all": {"enabled": "no"}}}}, {"preferences.user.all.enabled"}),
    ({"preferences": {"workflow": {"channels": {"fax": {"enabled": True}}}}}, {"preferences.workflow.channels"}),
]


@pytest.mark.parametrize(("body", "names"), BAD_DEFINITIONS + BAD_SHAPES)
async def test_every_bad_field_is_named_and_nothing_is_saved(api: Api, body: dict[str, Any], names: set[str]) -> None:
    fields = {"name": "Order shipped", "steps": [step()], **body}

    created = await api.post("/v2/workflows", json={"workflowId": "order-shipped", **fields})

    assert created.status_code == 422
    assert set(created.json()["errors"]) == names
    assert (await api.get("/v2/workflows")).json()["totalCount"] == 0
    before = await make_workflow(api)
    changed = await api.put("/v2/workflows/order-shipped", json=fields)
    assert (changed.status_code, set(changed.json()["errors"])) == (422, names)
    assert (await api.get("/v2/workflows/order-shipped")).json() == before


async def test_bad_filters_are_refused_on_steps_and_variants(api: Api) -> None:
    steps = [step("sms", filters=BAD_FILTER), step("sms", variants=[{"filters": BAD_FILTER}])]

    response = await api.post("/v2/workflows", json={"name": "x", "workflowId": "x", "steps": steps})

    assert response.status_code == 422
    first, second = response.json()["errors"]
    assert first.startswith("steps.0.filters")
    assert second.startswith("steps.1.variants.0.filters")


@pytest.mark.parametrize("name", ["", "a b", "-a", "a--b", "a/b", "x" * 256, "ünter", 5, None])
async def test_an_identifier_of_other_characters_is_refused(api: Api, name: Any) -> None:
    response = await api.post("/v2/workflows", json={"name": "x", "workflowId": name, "steps": []})

    assert (response.status_code, list(response.json()["errors"])) == (422, ["workflowId"])


async def test_name_identifier_and_steps_are_required(api: Api) -> None:
    created = await api.post("/v2/workflows", json={})
    await make_workflow(api)
    replaced = await api.put("/v2/workflows/order-shipped", json={})

    assert set(created.json()["errors"]) == {"name", "workflowId", "steps"}
    assert set(replaced.json()["errors"]) == {"name", "steps"}


async def test_a_bad_schema_is_refused_in_a_patch(api: Api) -> None:
    before = await make_workflow(api)

    response = await api.patch("/v2/workflows/order-shipped", json={"name": "New", "payloadSchema": {"type": "?"}})

    assert (response.status_code, list(response.json()["errors"])) == (422, ["payloadSchema"])
    assert (await api.get("/v2/workflows/order-shipped")).json() == before


async def test_twenty_steps_are_taken(api: Api) -> None:
    created = await make_workflow(api, steps=[step("sms", "Same name") for _ in range(20)])

    assert len({one["stepId"] for one in created["steps"]}) == 20
