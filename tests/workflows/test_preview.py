"""Previews of steps, on both databases."""

import json
from typing import Any

import pytest

from tests.support import Api
from tests.workflows.support import CONTROLS, list_steps_before, make_workflow, step

VARIABLES = {"payload": {"order": 42, "room": "a<b"}, "subscriber": {"firstName": "<Ada>"}, "steps": {}}


async def preview(api: Api, kind: str, **body: Any) -> dict[str, Any]:
    await make_workflow(api, steps=[*list_steps_before(kind), step(kind, stepId="one")])
    response = await api.post(
        "/v2/workflows/order-shipped/step/one/preview", json={"previewPayload": VARIABLES, **body}
    )
    assert response.status_code == 201, response.text
    answer: dict[str, Any] = response.json()
    assert answer["previewPayloadExample"] == VARIABLES
    assert answer["result"]["type"] == kind
    rendered: dict[str, Any] = answer["result"]["preview"]
    return rendered


@pytest.mark.parametrize(
    ("kind", "rendered"),
    [
        (
            "email",
            {
                "subject": "Order 42",
                "body": "<p>&lt;Ada&gt;</p>",
                "from": "shop@example.com",
                "senderName": "Shop",
                "replyTo": ["help@example.com"],
                "preheader": "Soon",
            },
        ),
        ("sms", {"body": "Order 42"}),
        ("chat", {"body": "Order 42"}),
        ("push", {"subject": "Order", "body": "42 is there"}),
        ("delay", CONTROLS["delay"]),
        ("digest", CONTROLS["digest"] | {"digestKey": "a<b"}),
    ],
)
async def test_texts_are_rendered_with_the_given_variables(api: Api, kind: str, rendered: dict[str, Any]) -> None:
    assert await preview(api, kind) == rendered


async def test_an_in_app_step_is_rendered_with_its_actions_and_data(api: Api) -> None:
    rendered = await preview(api, "in_app")

    assert rendered["subject"] == "Hello <Ada>"
    assert rendered["primaryAction"]["redirect"] == {"url": "/orders/42", "target": "_self"}
    assert rendered["data"] == {"order": "42", "deep": [1, {"x": True}]}
    assert {"skip", "disableOutputSanitization"}.isdisjoint(rendered)


async def test_sender_copies_and_headers_of_an_email_are_rendered_as_the_send_would_use_them(api: Api) -> None:
    rendered = await preview(
        api,
        "email",
        controlValues={
            "from": {"email": "order-{{payload.order}}@example.com", "name": "Shop of {{subscriber.firstName}}"},
            "replyTo": "{{payload.unknown}}",
            "cc": ["a@example.com, order-{{payload.order}}@example.com"],
            "bcc": ["{{payload.order}}@example.com"],
            "headers": {"X-Order": "{{payload.order}}"},
            "preheader": "Order {{payload.order}}",
        },
    )

    assert rendered == {
        "subject": "",
        "body": "",
        "from": "order-42@example.com",
        "senderName": "Shop of <Ada>",
        "cc": ["a@example.com", "order-42@example.com"],
        "bcc": ["42@example.com"],
        "headers": {"X-Order": "42"},
        "preheader": "Order 42",
    }


async def test_a_preview_leaves_the_sender_to_the_integration_where_the_step_does(api: Api) -> None:
    controls = {"from": "{{payload.order}}@example.com", "useProviderDefaults": True}

    assert await preview(api, "email", controlValues=controls) == {"subject": "", "body": ""}


async def test_a_sender_that_becomes_no_address_is_named(api: Api) -> None:
    await make_workflow(api, steps=[step("email", stepId="one")])
    body = {"controlValues": {"from": "{{payload.unknown}}@example.com"}}

    response = await api.post("/v2/workflows/order-shipped/step/one/preview", json=body)

    assert response.status_code == 422
    (message,) = response.json()["errors"]["controlValues.from"]["messages"]
    assert "'@example.com'" in message


async def test_controls_can_be_tried_without_saving_them(api: Api) -> None:
    rendered = await preview(api, "sms", controlValues={"body": "Room {{payload.room}}{{payload.unknown}}"})

    assert rendered == {"body": "Room a<b"}
    saved = (await api.get("/v2/workflows/order-shipped")).json()
    assert saved["steps"][0]["controlValues"] == CONTROLS["sms"]


async def test_what_a_preview_lacks_is_empty(api: Api) -> None:
    assert await preview(api, "email", controlValues={}) == {"subject": "", "body": ""}


async def test_without_variables_they_are_empty(api: Api) -> None:
    await make_workflow(api, steps=[step("sms", stepId="one")], payloadSchema={"type": "object"})

    response = await api.post("/v2/workflows/order-shipped/step/one/preview", json={})

    assert response.json() == {
        "previewPayloadExample": {"payload": {}, "subscriber": {}, "steps": {}},
        "result": {"type": "sms", "preview": {"body": "Order "}},
        "schema": {"type": "object"},
    }


async def test_broken_controls_are_refused_by_name(api: Api) -> None:
    await make_workflow(api, steps=[step("email", stepId="one")])
    body = {"controlValues": {"subject": "{{ payload", "editorType": "word"}}

    response = await api.post("/v2/workflows/order-shipped/step/one/preview", json=body)

    assert response.status_code == 422
    assert set(response.json()["errors"]) == {"controlValues.subject", "controlValues.editorType"}


async def test_a_block_document_is_shown_as_html(api: Api) -> None:
    await make_workflow(api, steps=[step("email", stepId="one")])
    document = {"type": "doc", "content": [{"type": "variable", "attrs": {"id": "payload.name"}}]}
    values = {"subject": "Hi", "body": json.dumps(document), "editorType": "block"}
    body = {"controlValues": values, "previewPayload": {"payload": {"name": "<Ada>"}}}

    response = await api.post("/v2/workflows/order-shipped/step/one/preview", json=body)

    assert response.status_code == 201
    assert ">&lt;Ada&gt;<" in response.json()["result"]["preview"]["body"]
    assert "<title>Hi</title>" in response.json()["result"]["preview"]["body"]


async def test_what_is_wrong_in_a_block_document_is_named_in_a_preview(api: Api) -> None:
    await make_workflow(api, steps=[step("email", stepId="one")])
    document = {"type": "doc", "content": [{"type": "buton"}]}
    body = {"controlValues": {"subject": "x", "body": json.dumps(document), "editorType": "block"}}

    response = await api.post("/v2/workflows/order-shipped/step/one/preview", json=body)

    (message,) = response.json()["errors"]["controlValues.body.content[0].type"]["messages"]
    assert response.status_code == 422
    assert "did you mean 'button'?" in message


async def test_a_text_that_cannot_be_rendered_is_named(api: Api) -> None:
    await make_workflow(api, steps=[step("sms", stepId="one")])
    endless = "{% for a in (1..100000) %}{% for b in (1..100000) %}x{% endfor %}{% endfor %}"

    response = await api.post("/v2/workflows/order-shipped/step/one/preview", json={"controlValues": {"body": endless}})

    assert (response.status_code, list(response.json()["errors"])) == (422, ["controlValues.body"])


UNSAVED = "/v1/workflows/steps/preview"


@pytest.mark.parametrize("kind", CONTROLS)
async def test_a_step_is_previewed_before_there_is_a_workflow(api: Api, kind: str) -> None:
    body = {"type": kind, "controlValues": CONTROLS[kind], "previewPayload": VARIABLES}

    response = await api.post(UNSAVED, json=body)

    assert response.status_code == 200, response.text
    assert response.json()["result"] == {"type": kind, "preview": await preview(api, kind)}
    assert response.json()["previewPayloadExample"] == VARIABLES


async def test_an_unsaved_step_sees_the_workflow_that_is_given(api: Api) -> None:
    body = {"type": "sms", "controlValues": {"body": "{{workflow.name}}{{step.total_count}}"}}

    unknown = await api.post(UNSAVED, json=body)
    known = await api.post(UNSAVED, json=body | {"previewPayload": {"workflow": {"name": "Draft "}}})

    assert unknown.json()["result"]["preview"] == {"body": "0"}
    assert known.json()["result"]["preview"] == {"body": "Draft 0"}


SCHEMA = {"type": "object", "required": ["id"], "properties": {"plan": {"type": "string", "default": "free"}}}


@pytest.mark.parametrize(("validates", "text"), [(True, "free"), (False, "")])
async def test_a_preview_fills_in_defaults_of_the_payload_where_a_trigger_does(
    api: Api, validates: bool, text: str
) -> None:
    steps = [step("sms", stepId="one", controlValues={"body": "{{payload.plan}}"})]
    await make_workflow(api, steps=steps, payloadSchema=SCHEMA, validatePayload=validates)

    response = await api.post("/v2/workflows/order-shipped/step/one/preview", json={})

    assert response.json()["result"]["preview"] == {"body": text}
    assert response.json()["previewPayloadExample"]["payload"] == {}


async def test_an_unsaved_step_is_previewed_with_a_payload_schema_that_is_not_saved(api: Api) -> None:
    body = {"type": "sms", "controlValues": {"body": "{{payload.plan}}"}, "payloadSchema": SCHEMA}

    response = await api.post(UNSAVED, json=body)
    broken = await api.post(UNSAVED, json=body | {"payloadSchema": {"type": "word"}})

    assert response.json()["result"]["preview"] == {"body": "free"}
    assert response.json()["schema"] == SCHEMA
    assert (broken.status_code, list(broken.json()["errors"])) == (422, ["payloadSchema"])


async def test_a_preview_without_a_saved_step_needs_its_type(api: Api) -> None:
    missing = await api.post(UNSAVED, json={"controlValues": {"body": "x"}})
    unknown = await api.post(UNSAVED, json={"type": "fax"})
    empty = await api.post(UNSAVED, json={"type": "email"})
    refused = await api.post(UNSAVED, json={"type": "sms", "controlValues": {"body": "{{ payload"}})

    assert (missing.status_code, list(missing.json()["errors"])) == (422, ["type"])
    assert (unknown.status_code, list(unknown.json()["errors"])) == (422, ["type"])
    assert empty.json()["result"] == {"type": "email", "preview": {"subject": "", "body": ""}}
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["controlValues.body"])
