"""Previews of steps, on both databases."""

from typing import Any

import pytest

from tests.support import Api
from tests.workflows.support import CONTROLS, make_workflow, step

VARIABLES = {"payload": {"order": 42, "room": "a<b"}, "subscriber": {"firstName": "<Ada>"}, "steps": {}}


async def preview(api: Api, kind: str, **body: Any) -> dict[str, Any]:
    await make_workflow(api, steps=[step(kind, stepId="one")])
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
        ("email", {"subject": "Order 42", "body": "<p>&lt;Ada&gt;</p>"}),
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


async def test_a_document_of_the_block_editor_has_no_preview(api: Api) -> None:
    await make_workflow(api, steps=[step("email", stepId="one")])
    body = {"controlValues": {"subject": "x", "body": '{"type":"doc"}', "editorType": "block"}}

    response = await api.post("/v2/workflows/order-shipped/step/one/preview", json=body)

    (message,) = response.json()["errors"]["controlValues.body"]["messages"]
    assert response.status_code == 422
    assert "editorType 'html'" in message


async def test_a_text_that_cannot_be_rendered_is_named(api: Api) -> None:
    await make_workflow(api, steps=[step("sms", stepId="one")])
    endless = "{% for a in (1..100000) %}{% for b in (1..100000) %}x{% endfor %}{% endfor %}"

    response = await api.post("/v2/workflows/order-shipped/step/one/preview", json={"controlValues": {"body": endless}})

    assert (response.status_code, list(response.json()["errors"])) == (422, ["controlValues.body"])
