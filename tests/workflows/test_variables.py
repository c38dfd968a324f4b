"""The variables in scope of a step: the schema says what rendering and previews have, and nothing else."""

import jsonschema_rs
import msgspec
import pytest

from clarion.workflows.preview_wire import PreviewPayloadIn
from clarion.workflows.variables import MAX_REPEATED_SCHEMA
from tests.support import Api
from tests.workflows.support import PAYLOAD_SCHEMA, STEPS_WITH_OUTPUTS, find_step, make_workflow, step


async def test_a_step_sees_only_active_steps_before_it(api: Api) -> None:
    made = await make_workflow(api, steps=STEPS_WITH_OUTPUTS)

    seen = {one["stepId"]: list(one["variables"]["properties"]["steps"]["properties"]) for one in made["steps"]}

    assert seen["digest"] == []
    assert seen["inbox"] == ["digest", "throttle", "own"]
    assert seen["later"] == ["digest", "throttle", "own", "inbox", "wait", "last"]


async def test_a_later_step_sees_the_members_of_a_custom_step_and_of_what_is_inside(api: Api) -> None:
    values = {"custom": {"total": "{{payload.n}}", "list": [1]}, "skip": {"==": [1, 2]}, "plain": "x"}
    variant = {"condition": {"==": [1, 1]}, "controlValues": {"custom": {"other": {"deep": 1}}, "plain": {}}}
    made = await make_workflow(
        api,
        steps=[
            step("custom", stepId="own", controlValues=values, variants=[variant]),
            step(
                "sms", stepId="later", controlValues={"body": "{{steps.own.custom.total}} {{steps.own.custom.wrong}}"}
            ),
        ],
    )

    own = find_step(made, "later")["variables"]["properties"]["steps"]["properties"]["own"]

    assert {name: list(one.get("properties", ())) for name, one in own["properties"].items()} == {
        "custom": ["total", "list", "other"],
        "plain": [],
    }
    assert list(own["properties"]["custom"]["properties"]["other"]["properties"]) == ["deep"]
    (issue,) = find_step(made, "later")["issues"]["controls"]["body"]
    assert "steps.own.custom.wrong" in issue["message"]


async def test_a_preview_takes_exactly_the_variables_of_the_schema(api: Api) -> None:
    made = await make_workflow(api, steps=[step("sms", stepId="one")])
    schema = made["steps"][0]["variables"]

    # Texts are those of the workflow.
    wanted = set(schema["properties"]) - {"t"}
    assert {one.encode_name for one in msgspec.structs.fields(PreviewPayloadIn)} == wanted


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("{{payload.order}} {{subscriber.firstName}}", "7 Ada"),
        ("{{actor.firstName}} {{context.tenant.id}}", "Bob acme"),
        ("{{steps.digest.eventCount}} {{step.total_count}} {{step.events[0].order}}", "2 2 8"),
        ("{{workflow.name}} {{workflow.workflowId}} {{workflow.severity}}", "Order shipped order-shipped none"),
    ],
)
async def test_a_preview_renders_all_variables_of_the_schema(api: Api, text: str, rendered: str) -> None:
    made = await make_workflow(api, steps=[step("digest", stepId="digest"), step("sms", stepId="one")])
    given = {
        "payload": {"order": 7},
        "subscriber": {"firstName": "Ada"},
        "actor": {"firstName": "Bob"},
        "context": {"tenant": {"id": "acme"}},
        "steps": {"digest": {"events": [], "eventCount": 2}},
        "step": {"digest": True, "events": [{"order": 8}], "total_count": 2},
    }
    assert jsonschema_rs.is_valid(find_step(made, "one")["variables"], given)

    body = {"controlValues": {"body": text}, "previewPayload": given}
    response = await api.post("/v2/workflows/order-shipped/step/one/preview", json=body)

    assert response.json()["result"]["preview"]["body"] == rendered
    assert response.json()["previewPayloadExample"] == given


@pytest.mark.parametrize(
    ("given", "rendered"),
    [
        ({}, "Development dev en_US"),
        ({"subscriber": {"locale": "de_DE"}}, "Development dev de_DE"),
        ({"env": {"name": "Elsewhere"}, "locale": "fr_FR"}, "Elsewhere  fr_FR"),
    ],
)
async def test_a_preview_has_the_environment_and_the_language_unless_it_is_given_others(
    api: Api, given: dict[str, object], rendered: str
) -> None:
    await make_workflow(api, steps=[step("sms", stepId="one")])
    body = {"controlValues": {"body": "{{env.name}} {{env.type}} {{locale}}"}, "previewPayload": given}

    response = await api.post("/v2/workflows/order-shipped/step/one/preview", json=body)

    assert response.json()["result"]["preview"]["body"] == rendered


async def test_references_in_a_payload_schema_hold_inside_the_schema_of_variables(api: Api) -> None:
    made = await make_workflow(api, steps=STEPS_WITH_OUTPUTS, payloadSchema=PAYLOAD_SCHEMA)
    schema = find_step(made, "last")["variables"]

    assert jsonschema_rs.is_valid(schema, {"payload": {"order": 1}})
    assert not jsonschema_rs.is_valid(schema, {"payload": {"order": "one"}})
    assert not jsonschema_rs.is_valid(schema, {"step": {"events": [{"order": "one"}]}})


async def test_a_large_payload_schema_is_with_a_step_alone_and_not_repeated_in_a_workflow(api: Api) -> None:
    large = {"type": "object", "properties": {f"field{n}": {"type": "string"} for n in range(1000)}}
    made = await make_workflow(api, steps=[step("sms", stepId="one")], payloadSchema=large)

    alone = (await api.get("/v2/workflows/order-shipped/steps/one")).json()

    assert alone["variables"]["properties"]["payload"] == large
    assert len(str(made["steps"][0]["variables"])) < MAX_REPEATED_SCHEMA
    assert "payloadSchema" in made["steps"][0]["variables"]["properties"]["payload"]["description"]
