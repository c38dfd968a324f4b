"""Layouts are made, saved, listed, copied and deleted through HTTP, on both databases."""

import json
from typing import Any

import pytest

from clarion.clock import SECOND, ManualClock
from clarion.content.layouts.model import MAX_LAYOUTS, START
from tests.content.layouts.support import HTML, mail, make_layout, save_body
from tests.support import Api

EMPTY_DOCUMENT = json.dumps({"type": "doc", "content": []})


async def get(api: Api, key: str = "newsletter") -> dict[str, Any]:
    response = await api.get(f"/v2/layouts/{key}")
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


async def make_workflow(api: Api, *steps: dict[str, Any], key: str = "news") -> dict[str, Any]:
    response = await api.post("/v2/workflows", json={"name": "News", "workflowId": key, "steps": list(steps)})
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def test_a_new_layout_has_the_content_and_nothing_around_it(api: Api) -> None:
    made = await make_layout(api, body=None)

    assert made["controls"]["values"]["email"] == {"body": START.body, "editorType": "block"}
    assert (made["origin"], made["type"], made["isTranslationEnabled"]) == ("svc-cloud", "BRIDGE", False)
    known = {"subscriber", "content", "context", "env", "locale", "unsubscribe_url", "preferences_url"}
    assert set(made["variables"]["properties"]) == known
    assert made == await get(api)
    assert made == await get(api, made["_id"])
    assert made == await get(api, made["slug"])


async def test_the_identifier_is_made_from_the_name_if_it_is_empty(api: Api) -> None:
    assert (await make_layout(api, "", body=None, name="Summer Sale"))["layoutId"] == "summer-sale"

    response = await api.post("/v2/layouts", json={"layoutId": "", "name": "夏"})

    assert response.status_code == 422
    assert "layoutId" in response.json()["errors"]


async def test_a_taken_identifier_is_refused_at_once_and_named(api: Api) -> None:
    await make_layout(api, body=None)

    response = await api.post("/v2/layouts", json={"layoutId": "newsletter", "name": "Another"})

    assert response.status_code == 422
    assert "another layout" in response.json()["errors"]["layoutId"]["messages"][0]


async def test_the_first_layout_is_the_default_until_another_one_is_made_so(api: Api) -> None:
    await make_layout(api, "first", body=None)
    second = await make_layout(api, "second", body=None)
    assert ((await get(api, "first"))["isDefault"], second["isDefault"]) == (True, False)

    changed = await api.put("/v2/layouts/second/default")

    assert changed.json()["isDefault"] is True
    assert (await get(api, "first"))["isDefault"] is False
    assert (await api.delete("/v2/layouts/first")).status_code == 204


async def test_the_default_layout_cannot_be_deleted(api: Api) -> None:
    await make_layout(api, body=None)

    response = await api.delete("/v2/layouts/newsletter")

    assert response.status_code == 422
    assert "/default" in response.json()["errors"]["layoutId"]["messages"][0]
    assert (await get(api))["isDefault"]


async def test_an_environment_has_so_many_layouts_at_most(api: Api, other_api: Api) -> None:
    for number in range(MAX_LAYOUTS):
        await make_layout(api, f"layout-{number}", body=None)

    response = await api.post("/v2/layouts", json={"layoutId": "more", "name": "More"})

    assert response.status_code == 422
    assert str(MAX_LAYOUTS) in response.json()["errors"]["layoutId"]["messages"][0]
    await make_layout(other_api, body=None)


async def test_a_body_is_replaced_kept_and_deleted(api: Api) -> None:
    made = await make_layout(api)
    assert (made["version"], made["controls"]["values"]["email"]) == (2, {"body": HTML, "editorType": "html"})

    kept = (await api.put("/v2/layouts/newsletter", json={"name": "Renamed"})).json()
    cleared = (await api.put("/v2/layouts/newsletter", json={"name": "Renamed", "controlValues": None})).json()

    assert (kept["name"], kept["version"], kept["controls"]) == ("Renamed", 2, made["controls"])
    assert (cleared["version"], cleared["controls"]["values"]) == (3, {})
    assert cleared["updatedBy"]["_id"] == made["updatedBy"]["_id"]


async def test_saving_the_same_changes_nothing(api: Api, clock: ManualClock) -> None:
    made = await make_layout(api)
    clock.move(SECOND)

    assert await save_body(api, "newsletter", HTML) == made


async def test_a_layout_that_was_saved_by_another_is_not_overwritten(api: Api) -> None:
    made = await make_layout(api, body=None)
    changed = await save_body(api, "newsletter", HTML)

    response = await api.put("/v2/layouts/newsletter", json={"name": "Mine"}, headers={"If-Match": made["etag"]})

    assert response.status_code == 412
    assert response.json()["ctx"]["layout"] == changed
    assert (
        await api.put("/v2/layouts/newsletter", json={"name": "Mine"}, headers={"If-Match": changed["etag"]})
    ).is_success


@pytest.mark.parametrize(
    ("editor", "body", "reason"),
    [
        ("html", "<p>{{content}}</p>", "<html, </html>, <body, </body>"),
        ("html", "<html><body>Nothing</body></html>", "{{content}}"),
        ("html", "<html><body>{{content | upcase}}</body></html>", "{{content}}"),
        ("html", "<html><body>{{content}}{{payload.x}}</body></html>", "no variable 'payload'"),
        ("html", "<html><body>{{content}}{{subscriber.frstName}}</body></html>", "did you mean 'firstName'?"),
        ("html", "<html><body>{{content}}{% if %}</body></html>", ""),
        ("html", START.body, "<html"),
        ("block", HTML, "block editor"),
        ("block", "[]", "block editor"),
        ("block", EMPTY_DOCUMENT, "variable 'content'"),
        ("block", '{"type":"doc","content":' + "[" * 5_000, "no block document"),
    ],
)
async def test_a_body_that_cannot_be_a_layout_is_refused(api: Api, editor: str, body: str, reason: str) -> None:
    made = await make_layout(api)

    values = {"email": {"body": body, "editorType": editor}}
    response = await api.put("/v2/layouts/newsletter", json={"name": "Newsletter", "controlValues": values})

    assert response.status_code == 422
    errors = response.json()["errors"]
    assert all(path.startswith("controlValues.email.") for path in errors)
    assert reason in " ".join(message for one in errors.values() for message in one["messages"])
    assert await get(api) == made


@pytest.mark.parametrize("body", ["{{ content }}{{t.footer}}", "{{-content-}}{{env.name}}{{context.tenant.data.x}}"])
async def test_what_a_layout_may_use_is_accepted(api: Api, body: str) -> None:
    await make_layout(api, body=f"<HTML><BODY>{body}</BODY></HTML>")


async def test_lists_are_filtered_sorted_and_have_no_bodies(api: Api) -> None:
    for key, name in (("b", "Beta"), ("a", "Alpha"), ("c", "Gamma")):
        await make_layout(api, key, name=name)

    async def keys(**query: Any) -> list[str]:
        found = (await api.get("/v2/layouts", params=query)).json()
        return [one["layoutId"] for one in found["layouts"]]

    page = (await api.get("/v2/layouts", params={"limit": 1})).json()
    assert (page["totalCount"], len(page["layouts"])) == (3, 1)
    assert (page["layouts"][0]["controls"]["values"], page["layouts"][0]["variables"]) == ({}, {})
    assert await keys() == ["c", "a", "b"]
    assert await keys(orderBy="name", orderDirection="ASC") == ["a", "b", "c"]
    assert await keys(query="ALPH") == ["a"]
    assert await keys(offset=2) == ["b"]


async def test_a_copy_has_the_body_and_is_never_the_default(api: Api) -> None:
    made = await make_layout(api)

    copy = await api.post("/v2/layouts/newsletter/duplicate", json={"name": "Winter letter"})

    assert copy.status_code == 201
    assert (copy.json()["layoutId"], copy.json()["isDefault"]) == ("winter-letter", False)
    assert copy.json()["controls"] == made["controls"]


async def test_translations_are_switched_and_kept(api: Api) -> None:
    made = await make_layout(api, isTranslationEnabled=True)
    off = await api.put("/v2/layouts/newsletter", json={"name": "Newsletter", "isTranslationEnabled": False})

    assert (made["isTranslationEnabled"], off.json()["isTranslationEnabled"]) == (True, False)
    assert (await api.put("/v2/layouts/newsletter", json={"name": "N"})).json()["isTranslationEnabled"] is False


async def test_a_preview_shows_a_box_in_the_place_of_the_content(api: Api) -> None:
    await make_layout(api)

    payload = {"subscriber": {"firstName": "<b>Ada</b>"}}
    response = await api.post("/v2/layouts/newsletter/preview", json={"previewPayload": payload})

    body = response.json()["result"]["preview"]["body"]
    assert response.status_code == 201
    assert "Dynamic placeholder content</div>" in body
    assert "For &lt;b&gt;Ada&lt;/b&gt;" in body
    assert response.json()["previewPayloadExample"]["subscriber"] == payload["subscriber"]


async def test_a_preview_of_a_broken_body_says_what_is_wrong(api: Api) -> None:
    await make_layout(api)

    values = {"email": {"body": "<html><body>{{content}}{% if %}</body></html>", "editorType": "html"}}
    response = await api.post("/v2/layouts/newsletter/preview", json={"controlValues": values})

    assert response.status_code == 201
    assert response.json()["result"] == {"type": "email"}
    assert response.json()["schema"] is None
    assert response.json()["issues"]["controls"]["email.body"]


async def test_usage_names_the_workflows_with_a_step_or_a_variant_that_has_the_layout(api: Api) -> None:
    await make_layout(api)
    await make_workflow(api, mail(), key="with-step")
    variant = {"name": "Short", "controlValues": mail()["controlValues"], "filters": []}
    await make_workflow(api, mail(None, variants=[variant]), key="with-variant")
    await make_workflow(api, mail(None), key="without")

    usage = (await api.get("/v2/layouts/newsletter/usage")).json()

    assert [one["workflowId"] for one in usage["workflows"]] == ["with-step", "with-variant"]


async def test_a_step_stores_the_identifier_whatever_names_the_layout(api: Api) -> None:
    made = await make_layout(api)

    for name in (made["layoutId"], made["_id"], made["slug"]):
        step = mail(name)
        workflow = await make_workflow(api, step, key=f"news-{name}"[:60].rstrip("-_"))
        assert workflow["steps"][0]["controlValues"]["layoutId"] == "newsletter"
        assert "issues" not in workflow["steps"][0]


async def test_a_step_with_an_unknown_layout_is_refused_with_its_path(api: Api, other_api: Api) -> None:
    await make_layout(other_api)

    variant = {"name": "Short", "controlValues": mail("ghost")["controlValues"], "filters": []}
    body = {"name": "News", "workflowId": "news", "steps": [mail(), mail(None, stepId="two", variants=[variant])]}
    response = await api.post("/v2/workflows", json=body)

    assert response.status_code == 422
    assert set(response.json()["errors"]) == {
        "steps.0.controlValues.layoutId",
        "steps.1.variants.0.controlValues.layoutId",
    }


async def test_deleting_a_layout_takes_it_out_of_the_steps_that_name_it(api: Api) -> None:
    await make_layout(api, "default", body=None)
    await make_layout(api)
    variant = {"name": "Short", "controlValues": mail()["controlValues"], "filters": []}
    before = await make_workflow(api, mail(variants=[variant]))

    assert (await api.delete("/v2/layouts/newsletter")).status_code == 204

    after = (await api.get("/v2/workflows/news")).json()
    step = after["steps"][0]
    assert after["version"] == before["version"] + 1
    assert (step["controlValues"]["layoutId"], step["variants"][0]["controlValues"]["layoutId"]) == (None, None)
    assert (await api.get("/v2/layouts/newsletter")).status_code == 404
    audit = (await api.get("/v1/audit-log", params={"limit": 2})).json()["data"]
    assert [one["action"] for one in audit] == ["layout.delete", "workflow.update"]
    # Its identifier is free again, and an earlier version can be restored with the new one.
    refused = await api.post("/v1/workflows/news/versions/1/restore")
    assert (refused.status_code, "POST /v2/layouts" in refused.text) == (422, True)
    await make_layout(api)
    assert (await api.post("/v1/workflows/news/versions/1/restore")).status_code == 200


async def test_a_preview_of_a_step_shows_its_layout(api: Api) -> None:
    await make_layout(api)
    await make_workflow(api, mail())

    payload = {"payload": {"name": "<i>x</i>"}, "subscriber": {"firstName": "Ada"}}
    response = await api.post("/v2/workflows/news/step/mail/preview", json={"previewPayload": payload})
    other = mail("ghost")["controlValues"]
    unknown = await api.post("/v1/workflows/steps/preview", json={"type": "email", "controlValues": other})

    body = response.json()["result"]["preview"]["body"]
    assert "<h1>The shop</h1><p>Hi &lt;i&gt;x&lt;/i&gt;</p><p>For Ada</p>" in body
    assert unknown.status_code == 422
    assert "controlValues.layoutId" in unknown.json()["errors"]
