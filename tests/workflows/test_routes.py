"""Workflows through HTTP, on both databases."""

import asyncio
from typing import Any

import pytest

from clarion.clock import ManualClock
from clarion.db.port import Database
from clarion.ids import find_id
from clarion.vocabulary import Scope
from clarion.workflows.model import WorkflowVersion
from clarion.workflows.store import find_workflow, list_versions_by_id
from tests.support import Api, MakeApi
from tests.workflows.support import CONTROLS, list_steps_before, make_workflow, replace_workflow, step

FIELDS: dict[str, Any] = {
    "description": "Tells that an order is on its way",
    "tags": ["orders", "mail"],
    "active": True,
    "severity": "high",
    "payloadSchema": {"type": "object", "properties": {"order": {"type": "integer"}}},
    "validatePayload": True,
}
ALL_ON = {channel: {"enabled": True} for channel in ("in_app", "email", "sms", "chat", "push", "tool")}


async def current_version(database: Database, api: Api, key: str = "order-shipped") -> WorkflowVersion:
    async def read(db: Any) -> WorkflowVersion:
        workflow = await find_workflow(db, api.environment.id, key)
        assert workflow is not None
        found = await list_versions_by_id(db, api.environment.id, [workflow.version_id])
        return found[workflow.version_id]

    return await database.read(read)


async def test_a_created_workflow_is_retrieved_with_every_field(api: Api) -> None:
    created = await make_workflow(api, **FIELDS)

    for reference in ("order-shipped", created["_id"], created["slug"]):
        assert (await api.get(f"/v2/workflows/{reference}")).json() == created
    assert {name: created[name] for name in FIELDS} == FIELDS
    assert created["workflowId"] == "order-shipped"
    assert created["slug"].startswith("order-shipped_wf_")
    assert (created["status"], created["origin"]) == ("ACTIVE", "svc-cloud")
    assert created["createdAt"] == created["updatedAt"] == "2026-01-01T00:00:00.000Z"


async def test_what_is_not_given_has_its_default(api: Api) -> None:
    created = await make_workflow(api, steps=[])

    assert (created["active"], created["tags"], created["severity"]) == (True, [], "none")
    assert created["validatePayload"] is False
    assert {"description", "payloadSchema"}.isdisjoint(created)
    default = {"all": {"enabled": True, "readOnly": False}, "channels": ALL_ON}
    assert created["preferences"] == {"user": None, "default": default}


@pytest.mark.parametrize("kind", CONTROLS)
async def test_steps_of_every_type_keep_their_controls_as_sent(api: Api, kind: str) -> None:
    sent = CONTROLS[kind] | {"unheardOf": {"kept": [1, 2.5, None]}}

    created = await make_workflow(api, steps=[*list_steps_before(kind), step(kind, controlValues=sent)])

    *_, one = created["steps"]
    assert one["controlValues"] == one["controls"]["values"] == sent
    assert (one["type"], one["active"], one["shouldStopOnFail"]) == (kind, True, False)
    assert (one["workflowId"], one["workflowDatabaseId"]) == ("order-shipped", created["_id"])
    issues = one.get("issues", {"controls": {}, "warnings": {}})
    # The controls of a custom step are for the application.
    assert (issues["controls"], list(issues["warnings"])) == ({}, [] if kind == "custom" else ["unheardOf"])
    assert created["status"] == "ACTIVE"


async def test_a_member_of_a_control_that_nothing_reads_is_named(api: Api) -> None:
    action = {"label": "Open", "redirect": {"url": "https://example.com", "tab": "new"}}
    sent = {"body": "x", "primaryAction": action, "data": {"any": "thing"}}

    created = await make_workflow(api, steps=[step("in_app", controlValues=sent)])

    assert list(created["steps"][0]["issues"]["warnings"]) == ["primaryAction.redirect.tab"]


async def test_filters_variants_and_switches_of_steps_are_kept(api: Api) -> None:
    child = {"on": "payload", "field": "plan", "operator": "EQUAL", "value": "pro"}
    filters = [{"type": "GROUP", "value": "AND", "isNegated": False, "children": [child]}]
    variants = [{"name": "For pros", "filters": filters, "controlValues": {"body": "Pro {{payload.order}}"}}]

    created = await make_workflow(
        api, steps=[step("sms", active=False, shouldStopOnFail=True, filters=filters, variants=variants)]
    )

    (one,) = created["steps"]
    (variant,) = one["variants"]
    assert (one["active"], one["shouldStopOnFail"], one["filters"]) == (False, True, filters)
    assert find_id(variant["_id"]) is not None
    assert {name: variant[name] for name in variants[0]} == variants[0]
    assert await replace_workflow(api, "order-shipped", steps=created["steps"]) == created


async def test_an_identifier_that_is_taken_is_refused(api: Api) -> None:
    first = await make_workflow(api)

    response = await api.post("/v2/workflows", json={"name": "Other", "workflowId": "order-shipped", "steps": []})

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["workflowId"]
    assert (await api.get("/v2/workflows/order-shipped")).json() == first


async def test_of_many_creations_with_one_identifier_one_succeeds(api: Api) -> None:
    body = {"name": "Order shipped", "workflowId": "order-shipped", "steps": [step()]}

    answers = await asyncio.gather(*(api.post("/v2/workflows", json=body) for _ in range(10)))

    assert sorted(one.status_code for one in answers) == [201] + [422] * 9
    assert (await api.get("/v2/workflows")).json()["totalCount"] == 1


async def test_replacing_steps_makes_a_new_version_and_leaves_the_old_one(
    api: Api, database: Database, clock: ManualClock
) -> None:
    created = await make_workflow(api, steps=[step("in_app"), step("email")])
    first = await current_version(database, api)
    clock.move(1000)

    changed = await replace_workflow(api, "order-shipped", steps=[step("email"), step("sms")])
    second = await current_version(database, api)

    assert [one["type"] for one in changed["steps"]] == ["email", "sms"]
    assert changed["steps"][0]["_id"] == created["steps"][1]["_id"]
    assert (changed["updatedAt"], changed["createdAt"]) == ("2026-01-01T00:00:01.000Z", created["createdAt"])
    assert (first.number, second.number) == (1, 2)
    kept = await database.read(lambda db: list_versions_by_id(db, api.environment.id, [first.id]))
    assert kept[first.id] == first


async def test_replacing_with_the_same_moves_nothing(api: Api, database: Database, clock: ManualClock) -> None:
    created = await make_workflow(api, steps=[step("in_app"), step("digest")], **FIELDS)
    clock.move(1000)

    same = await replace_workflow(api, "order-shipped", steps=[step("in_app"), step("digest")], **FIELDS)
    replaced = await replace_workflow(api, "order-shipped", steps=created["steps"])

    assert same == replaced == created
    assert (await current_version(database, api)).number == 1


async def test_a_replacement_leaves_what_it_does_not_mention(api: Api) -> None:
    created = await make_workflow(api, **FIELDS)

    changed = await replace_workflow(api, "order-shipped", steps=[], name="Renamed")

    new = {name: changed[name] for name in ("slug", "versionId", "etag")}
    assert changed == created | {"name": "Renamed", "steps": [], "version": 2} | new
    assert changed["slug"].startswith("renamed_wf_")


async def test_only_content_makes_a_new_version(api: Api, database: Database, clock: ManualClock) -> None:
    created = await make_workflow(api, **FIELDS)
    for number, body in enumerate(
        (
            {"active": False},
            {"name": "Renamed", "tags": [], "description": None},
            {"severity": "low", "preferences": {"user": {"all": {"enabled": False}, "channels": {}}}},
        )
    ):
        clock.move(1000)
        changed = (await api.patch("/v2/workflows/order-shipped", json=body)).json()
        assert changed["updatedAt"] == f"2026-01-01T00:00:0{number + 1}.000Z"
        assert (await current_version(database, api)).number == 1

    assert changed["steps"] == created["steps"]
    assert (changed["name"], changed["tags"], changed["status"]) == ("Renamed", [], "INACTIVE")
    assert "description" not in changed
    for number, body in enumerate(({"validatePayload": False}, {"payloadSchema": None}), start=2):
        changed = (await api.patch("/v2/workflows/order-shipped", json=body)).json()
        assert (await current_version(database, api)).number == number
    assert "payloadSchema" not in changed


@pytest.mark.parametrize("body", [{}, FIELDS, {"name": "Order shipped"}, {"unknown": 1, "origin": "external"}])
async def test_a_patch_that_changes_nothing_moves_nothing(api: Api, clock: ManualClock, body: dict[str, Any]) -> None:
    before = await make_workflow(api, **FIELDS)
    clock.move(1000)

    assert (await api.patch("/v2/workflows/order-shipped", json=body)).json() == before


async def test_replacements_at_once_make_a_version_each(api: Api, database: Database) -> None:
    await make_workflow(api, steps=[])
    bodies = [[step("sms", f"Step {number}")] for number in range(10)]

    answers = await asyncio.gather(*(replace_workflow(api, "order-shipped", steps=steps) for steps in bodies))

    assert (await current_version(database, api)).number == 11
    assert len({one["steps"][0]["name"] for one in answers}) == 10
    assert (await api.get("/v2/workflows/order-shipped")).json()["steps"] in [one["steps"] for one in answers]


async def test_patches_at_once_lose_nothing(api: Api) -> None:
    await make_workflow(api)
    bodies = [{"active": False}, {"name": "New"}, {"tags": ["x"]}, {"description": "d"}, {"severity": "low"}]

    await asyncio.gather(*(api.patch("/v2/workflows/order-shipped", json=body) for body in bodies))

    found = (await api.get("/v2/workflows/order-shipped")).json()
    assert [found[name] for name in ("active", "name", "tags", "description", "severity")] == [
        False,
        "New",
        ["x"],
        "d",
        "low",
    ]


async def test_preferences_are_shown_with_every_switch_filled_in(api: Api) -> None:
    user = {"all": {"enabled": True}, "channels": {"email": {"enabled": False}}}
    workflow = {"all": {"enabled": False, "readOnly": True}, "channels": {"sms": {"enabled": True}, "push": {}}}

    created = await make_workflow(api, preferences={"user": user, "workflow": workflow})

    preferences = created["preferences"]
    assert preferences["default"]["all"] == {"enabled": False, "readOnly": True}
    assert {name for name, one in preferences["default"]["channels"].items() if one["enabled"]} == {"sms"}
    assert preferences["user"]["all"] == {"enabled": True, "readOnly": False}
    assert {name for name, one in preferences["user"]["channels"].items() if not one["enabled"]} == {"email"}


async def test_null_clears_one_side_of_the_preferences(api: Api) -> None:
    layer = {"all": {"enabled": False, "readOnly": False}, "channels": {}}
    created = await make_workflow(api, preferences={"user": layer, "workflow": layer})

    changed = await replace_workflow(api, "order-shipped", steps=created["steps"], preferences={"user": None})

    assert changed["preferences"] == {"user": None, "default": created["preferences"]["default"]}


async def test_a_workflow_and_a_person_agree_on_its_preferences(api: Api) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "ada"})
    off = {"all": {"enabled": True}, "channels": {"email": {"enabled": False}}}
    await make_workflow(api, steps=[step("in_app"), step("email")], preferences={"workflow": off})

    (preference,) = (await api.get("/v2/subscribers/ada/preferences")).json()["workflows"]

    assert preference["channels"] == {"in_app": True, "email": False}


async def test_a_draft_is_saved_and_tells_what_it_lacks(api: Api) -> None:
    created = await make_workflow(api, steps=[step("email", controlValues={}), {"name": "Inbox", "type": "in_app"}])

    issue = {"issueType": "MISSING_VALUE", "message": "subject is missing"}
    assert created["status"] == "ERROR"
    assert created["steps"][0]["issues"]["controls"]["subject"] == [issue]
    assert list(created["steps"][1]["issues"]["controls"]) == ["body"]
    inactive = (await api.patch("/v2/workflows/order-shipped", json={"active": False})).json()
    assert inactive["status"] == "INACTIVE"


async def test_a_deleted_workflow_is_gone_and_its_identifier_free(api: Api, database: Database) -> None:
    created = await make_workflow(api)
    version = await current_version(database, api)

    deleted = await api.delete("/v2/workflows/order-shipped")

    assert (deleted.status_code, deleted.content) == (204, b"")
    for reference in ("order-shipped", created["_id"], created["slug"]):
        assert (await api.get(f"/v2/workflows/{reference}")).status_code == 404
        assert (await api.delete(f"/v2/workflows/{reference}")).status_code == 404
    assert (await api.get("/v2/workflows")).json() == {"workflows": [], "totalCount": 0}
    kept = await database.read(lambda db: list_versions_by_id(db, api.environment.id, [version.id]))
    assert kept[version.id] == version
    assert (await make_workflow(api))["_id"] != created["_id"]


async def test_a_copy_is_inactive_and_has_steps_of_its_own(api: Api) -> None:
    original = await make_workflow(api, steps=[step("in_app"), step("email")], **FIELDS)

    copies = [(await api.post("/v2/workflows/order-shipped/duplicate", json={})) for _ in range(3)]
    named = await api.post(
        "/v2/workflows/order-shipped/duplicate",
        json={"name": "Mine", "workflowId": "mine", "tags": ["x"], "description": "d"},
    )

    first = copies[0].json()
    assert {one.status_code for one in (*copies, named)} == {201}
    assert (first["workflowId"], first["name"], first["active"]) == (
        "order-shipped-copy",
        "Order shipped (Copy)",
        False,
    )
    assert len({one.json()["workflowId"] for one in copies}) == 3
    same = ("stepId", "name", "type", "controlValues")
    for before, after in zip(original["steps"], first["steps"], strict=True):
        assert [before[name] for name in same] == [after[name] for name in same]
        assert before["_id"] != after["_id"]
    for name in ("tags", "description", "severity", "payloadSchema", "validatePayload", "preferences"):
        assert first[name] == original[name]
    mine = named.json()
    assert [mine[name] for name in ("workflowId", "name", "tags", "description")] == ["mine", "Mine", ["x"], "d"]


async def test_a_copy_under_a_taken_identifier_is_refused(api: Api) -> None:
    await make_workflow(api)

    response = await api.post("/v2/workflows/order-shipped/duplicate", json={"workflowId": "order-shipped"})

    assert (response.status_code, list(response.json()["errors"])) == (422, ["workflowId"])


async def test_a_step_is_retrieved_by_identifier_id_and_slug(api: Api) -> None:
    created = await make_workflow(api, steps=[step("in_app"), step("email")])
    second = created["steps"][1]

    for reference in (second["stepId"], second["_id"], second["slug"]):
        response = await api.get(f"/v2/workflows/order-shipped/steps/{reference}")
        assert (response.status_code, response.json()) == (200, second)
    missing = await api.get("/v2/workflows/order-shipped/steps/nothing")
    assert missing.status_code == 404
    assert missing.json()["message"] == "Step 'nothing' does not exist in this environment"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("PUT", "", {"name": "x", "steps": []}),
        ("PATCH", "", {"name": "x"}),
        ("DELETE", "", None),
        ("POST", "/duplicate", {}),
        ("GET", "/steps/the-in-app-step", None),
        ("POST", "/step/the-in-app-step/preview", {}),
    ],
)
async def test_an_unknown_workflow_and_one_of_another_environment_are_not_found(
    api: Api, other_api: Api, method: str, path: str, body: Any
) -> None:
    theirs = await make_workflow(other_api)

    for reference in ("order-shipped", theirs["_id"], theirs["slug"], "nothing"):
        response = await api.request(method, f"/v2/workflows/{reference}{path}", json=body)
        assert response.status_code == 404
        assert response.json()["message"] == f"Workflow '{reference}' does not exist in this environment"
    assert (await other_api.get("/v2/workflows/order-shipped")).json() == theirs


async def test_keys_need_the_scope_of_workflows(make_api: MakeApi) -> None:
    reader = await make_api(scopes=frozenset({Scope.WORKFLOWS_READ}))
    writer = await make_api(scopes=frozenset({Scope.WORKFLOWS_WRITE}))
    await make_workflow(writer)

    assert (await reader.get("/v2/workflows/order-shipped")).status_code == 200
    assert (await reader.post("/v2/workflows/order-shipped/step/the-in-app-step/preview", json={})).status_code == 201
    assert (await reader.delete("/v2/workflows/order-shipped")).status_code == 403
    assert (await writer.get("/v2/workflows/order-shipped")).status_code == 403
