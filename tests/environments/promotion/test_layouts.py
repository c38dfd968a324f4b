"""Layouts are promoted with the workflows that use them, and single workflows are synced, on both databases."""

import pytest

from clarion.ids import id_text
from clarion.vocabulary import Scope
from tests.content.layouts.support import make_layout, save_body
from tests.environments.promotion.test_routes import diff, get_workflow, make_workflow, publish
from tests.support import Api, MakeApi, Site


@pytest.fixture
def path(site: Site) -> str:
    return f"/v2/environments/{id_text(site.production.id)}"


MAIL_IN_LAYOUT = {
    "name": "Mail",
    "type": "email",
    "stepId": "mail",
    "controlValues": {"subject": "News", "body": "<p>x</p>", "editorType": "html", "layoutId": "letter"},
}


async def test_a_workflow_takes_the_layouts_of_its_steps_along(api: Api, other_api: Api, path: str) -> None:
    made = await make_layout(api, "letter")
    await make_layout(api, "unused")
    await make_workflow(api, steps=[MAIL_IN_LAYOUT])
    selected = [{"resourceType": "workflow", "resourceId": "news"}]

    assert set(await diff(api, path, resources=selected)) == {("layout", "letter"), ("workflow", "news")}
    done = await publish(api, path, resources=selected)

    assert done["done"] == [("letter", "created"), ("news", "created")]
    copy = (await other_api.get("/v2/layouts/letter")).json()
    assert (copy["controls"], copy["isDefault"]) == (made["controls"], True)
    assert (await other_api.get("/v2/layouts/unused")).status_code == 404
    usage = (await other_api.get("/v2/layouts/letter/usage")).json()
    assert [one["workflowId"] for one in usage["workflows"]] == ["news"]

    await save_body(api, "letter", "<html><body>{{content}} Yours</body></html>")
    assert (await publish(api, path))["done"] == [("letter", "updated"), ("unused", "created")]
    assert "Yours" in (await other_api.get("/v2/layouts/letter")).text


async def test_a_workflow_is_synced_with_its_layouts(api: Api, other_api: Api, site: Site) -> None:
    await make_layout(api, "letter")
    made = await make_workflow(api, steps=[MAIL_IN_LAYOUT])
    body = {"targetEnvironmentId": id_text(site.production.id)}

    synced = await api.put("/v2/workflows/news/sync", json=body)
    again = await api.put("/v2/workflows/news/sync", json=body)

    assert synced.status_code == 200, synced.text
    assert synced.json() == await get_workflow(other_api) == again.json()
    assert synced.json()["_id"] != made["_id"]
    assert synced.json()["steps"][0]["controlValues"] == made["steps"][0]["controlValues"]
    assert (await other_api.get("/v2/layouts/letter")).status_code == 200
    entries = (await other_api.get("/v1/audit-log")).json()["data"]
    assert [one["action"] for one in entries].count("environment.promote") == 1


async def test_a_workflow_is_not_synced_to_its_own_environment_or_an_unknown_one(
    api: Api, site: Site, make_api: MakeApi
) -> None:
    await make_workflow(api)
    own = {"targetEnvironmentId": id_text(site.development.id)}
    production = {"targetEnvironmentId": id_text(site.production.id)}
    bound = await make_api(scopes=frozenset({Scope.ALL}))

    refused = await api.put("/v2/workflows/news/sync", json=own)
    unknown = await api.put("/v2/workflows/news/sync", json={"targetEnvironmentId": id_text(bytes(16))})
    unreachable = await bound.put("/v2/workflows/news/sync", json=production)

    assert (refused.status_code, set(refused.json()["errors"])) == (422, {"targetEnvironmentId"})
    assert (unknown.status_code, unreachable.status_code) == (404, 404)
