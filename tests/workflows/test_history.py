"""Versions of workflows through HTTP: author, changes, comparison and restoring, on both databases."""

from typing import Any

import pytest

from clarion.db.port import Database
from clarion.db.query import sql
from clarion.ids import find_id
from tests.audit.support import list_entries
from tests.support import Api
from tests.workflows.support import make_workflow, replace_workflow, step

PATH = "/v1/workflows/order-shipped/versions"
DELETE_VERSION = sql("DELETE FROM workflow_versions WHERE environment_id = :environment_id AND number = :number")
DELETE_NOTES = sql("DELETE FROM workflow_version_notes WHERE environment_id = :environment_id")


async def make_versions(api: Api) -> list[dict[str, Any]]:
    """Return the workflow as it was with each of three versions."""
    first = await make_workflow(api, steps=[step("in_app", stepId="inbox"), step("sms", stepId="text")])
    steps = [step("sms", stepId="text", controlValues={"body": "New"}), step("email", stepId="mail")]
    second = await replace_workflow(api, "order-shipped", steps=steps)
    schema = {"type": "object", "properties": {"order": {"type": "integer"}}}
    third = (await api.patch("/v2/workflows/order-shipped", json={"payloadSchema": schema})).json()
    return [first, second, third]


async def get(api: Api, path: str, **query: Any) -> dict[str, Any]:
    response = await api.get(path, params=query)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


async def test_versions_are_listed_newest_first_with_author_and_changes(api: Api) -> None:
    made = await make_versions(api)

    page = await get(api, PATH)

    assert page["totalCount"] == 3
    assert [one["number"] for one in page["data"]] == [3, 2, 1]
    assert [one["_id"] for one in page["data"]] == [one["versionId"] for one in reversed(made)]
    assert [one["isCurrent"] for one in page["data"]] == [True, False, False]
    assert {one["kind"] for one in page["data"]} == {"saved"}
    (key,) = (await api.get("/v1/environments/api-keys")).json()
    assert {str(one["author"]) for one in page["data"]} == {
        str({"type": "apiKey", "id": key["_id"], "name": key["name"]})
    }
    third, second, first = (one["changes"] for one in page["data"])
    assert first == [
        {"action": "added", "stepId": "inbox", "stepType": "in_app", "name": "The in_app step", "fields": []},
        {"action": "added", "stepId": "text", "stepType": "sms", "name": "The sms step", "fields": []},
    ]
    assert [(one["action"], one["stepId"], one["fields"]) for one in second] == [
        ("modified", "text", ["controls.body"]),
        ("added", "mail", []),
        ("deleted", "inbox", []),
    ]
    assert third == [{"action": "modified", "fields": SCHEMA_FIELDS}]
    assert page["data"][1]["summary"] == "Changed controls.body of step 'text'; Added step 'mail'; Deleted step 'inbox'"


SCHEMA_FIELDS = ["payloadSchema.properties.order.type", "payloadSchema.type"]


async def test_versions_are_read_in_pages(api: Api) -> None:
    await make_versions(api)

    first = await get(api, PATH, limit=2)
    rest = await get(api, PATH, limit=2, after=first["next"])
    oldest = await get(api, PATH, orderDirection="ASC", orderBy="updatedAt")

    assert [one["number"] for one in first["data"] + rest["data"]] == [3, 2, 1]
    assert rest["next"] is None
    assert [one["number"] for one in oldest["data"]] == [1, 2, 3]


async def test_saving_what_is_no_content_makes_no_version(api: Api) -> None:
    await make_versions(api)

    await api.patch("/v2/workflows/order-shipped", json={"name": "Other", "tags": ["a"]})

    assert (await get(api, PATH))["totalCount"] == 3


async def test_a_version_is_retrieved_whole_by_id_and_by_number(api: Api) -> None:
    first, _, third = await make_versions(api)

    by_id = await get(api, f"{PATH}/{first['versionId']}")
    current = await get(api, f"{PATH}/3")

    assert by_id == await get(api, f"{PATH}/1")
    assert by_id["steps"] == first["steps"]
    assert (by_id["number"], by_id["isCurrent"], "payloadSchema" in by_id) == (1, False, False)
    assert current["payloadSchema"] == third["payloadSchema"]
    listed = (await get(api, PATH))["data"]
    assert listed[-1].items() <= by_id.items()


async def test_versions_are_compared_field_by_field(api: Api) -> None:
    first, second, third = await make_versions(api)

    diff = await get(api, f"{PATH}/1/diff", to=second["versionId"])
    with_current = await get(api, f"{PATH}/{first['versionId']}/diff")
    backwards = await get(api, f"{PATH}/2/diff", to=1)

    assert (diff["from"], diff["to"]) == (
        {"_id": first["versionId"], "number": 1},
        {"_id": second["versionId"], "number": 2},
    )
    changed, added, deleted = diff["changes"]
    assert (changed["stepId"], changed["action"]) == ("text", "modified")
    assert (changed["previousIndex"], changed["newIndex"]) == (1, 0)
    assert changed["fields"] == [{"path": "controls.body", "before": "Order {{payload.order}}", "after": "New"}]
    assert (added["stepId"], added["action"], added["newIndex"]) == ("mail", "added", 1)
    assert {"path": "controls.subject", "after": "Order {{payload.order}}"} in added["fields"]
    assert (deleted["stepId"], deleted["action"], deleted["previousIndex"]) == ("inbox", "deleted", 0)
    assert with_current["to"]["_id"] == third["versionId"]
    assert [one for one in with_current["changes"] if "stepId" not in one] != []
    assert backwards["changes"][-1]["action"] == "deleted"
    assert (await get(api, f"{PATH}/2/diff", to=2))["changes"] == []


async def test_a_restored_version_is_a_new_one_with_the_old_content(api: Api) -> None:
    first, _, third = await make_versions(api)

    response = await api.post(f"{PATH}/1/restore", headers={"If-Match": third["etag"]})

    assert response.status_code == 200
    restored = response.json()
    assert restored["steps"] == first["steps"]
    assert "payloadSchema" not in restored
    assert restored["version"] == 4
    assert response.headers["etag"] == f'"{restored["etag"]}"'
    assert restored == (await api.get("/v2/workflows/order-shipped")).json()
    newest = (await get(api, PATH))["data"][0]
    assert (newest["number"], newest["kind"], newest["sourceId"]) == (4, "restored", first["versionId"])
    (entry,) = await list_entries(api, action="workflow.restore")
    assert entry["target"]["id"] == first["_id"]
    assert entry["after"]["steps"]["inbox"]["controls"] == first["steps"][0]["controlValues"]


async def test_restoring_the_current_content_changes_nothing(api: Api) -> None:
    *_, third = await make_versions(api)

    response = await api.post(f"{PATH}/3/restore")

    assert (response.status_code, response.json()) == (200, third)
    assert await list_entries(api, action="workflow.restore") == []


async def test_a_version_is_not_restored_over_a_newer_state(api: Api) -> None:
    first, _, third = await make_versions(api)

    response = await api.post(f"{PATH}/1/restore", headers={"If-Match": first["etag"]})

    assert response.status_code == 412
    assert response.json()["ctx"]["workflow"] == third


async def test_a_deleted_version_is_gone_by_number_and_not_found_by_id(api: Api, database: Database) -> None:
    first, *_ = await make_versions(api)
    scope = {"environment_id": api.environment.id, "number": 1}
    await database.transaction(lambda db: db.execute(DELETE_VERSION, **scope))

    for method, path in (("GET", ""), ("GET", "/diff"), ("POST", "/restore")):
        by_number = await api.request(method, f"{PATH}/1{path}")
        by_id = await api.request(method, f"{PATH}/{first['versionId']}{path}")
        assert (by_number.status_code, by_id.status_code) == (410, 404)
        assert "was deleted" in by_number.json()["message"]
    assert (await api.get(f"{PATH}/2/diff", params={"to": 1})).status_code == 410


@pytest.mark.parametrize("version", ["0", "4", "-1", "one", "9" * 30, "01a1df28-0000-7000-8000-000000000000"])
async def test_a_version_that_never_was_is_not_found(api: Api, version: str) -> None:
    await make_versions(api)

    for path in (f"{PATH}/{version}", f"{PATH}/{version}/diff", f"{PATH}/1/diff?to={version}"):
        assert (await api.get(path)).status_code == 404


async def test_a_version_of_another_workflow_is_not_found(api: Api) -> None:
    await make_versions(api)
    other = await make_workflow(api, "other")

    for path in (f"{PATH}/{other['versionId']}", f"{PATH}/1/diff?to={other['versionId']}"):
        assert (await api.get(path)).status_code == 404


async def test_a_version_from_before_notes_were_taken_is_listed_without_them(api: Api, database: Database) -> None:
    await make_versions(api)
    await database.transaction(lambda db: db.execute(DELETE_NOTES, environment_id=api.environment.id))

    newest, *_ = (await get(api, PATH))["data"]

    assert sorted(newest) == ["_id", "createdAt", "isCurrent", "number"]


async def test_a_copy_names_the_workflow_that_it_was_made_from(api: Api) -> None:
    made = await make_workflow(api)
    await api.post("/v2/workflows/order-shipped/duplicate", json={"workflowId": "copy"})

    (version,) = (await get(api, "/v1/workflows/copy/versions"))["data"]

    assert (version["kind"], version["sourceId"], version["number"]) == ("duplicated", made["_id"], 1)


async def test_a_promoted_version_names_its_environment_and_who_promoted_it(api: Api, other_api: Api) -> None:
    await make_workflow(api)
    target, source = (find["_id"] for find in [await me(other_api), await me(api)])
    body = {"sourceEnvironmentId": source}
    assert (await api.post(f"/v2/environments/{target}/publish", json=body)).status_code == 200

    (version,) = (await get(other_api, PATH))["data"]

    assert (version["kind"], version["sourceId"]) == ("promoted", source)
    assert version["author"]["type"] == "apiKey"
    assert find_id(version["author"]["id"]) is not None


async def me(api: Api) -> dict[str, Any]:
    return await get(api, "/v1/environments/me")


async def test_the_history_names_only_the_first_of_very_many_fields(api: Api) -> None:
    await make_workflow(api, steps=[step("push", stepId="push")])
    data = {f"field{number:03}": "x" for number in range(100)}
    controls = {"subject": "a", "body": "b", "data": data}
    await replace_workflow(api, "order-shipped", steps=[step("push", stepId="push", controlValues=controls)])

    (change,) = (await get(api, PATH))["data"][0]["changes"]

    assert len(change["fields"]) == 20
    assert change["moreFields"] == 82
