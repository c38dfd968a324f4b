"""The audit log over HTTP: what entries say, filters, and scopes."""

from typing import Any

import pytest

from clarion.clock import DAY, ManualClock
from clarion.vocabulary import Scope
from tests.audit.making import STEP, WORKFLOW
from tests.audit.support import CREDENTIALS, EMAIL, HOOK, create, list_entries, make_integration
from tests.support import Api, MakeApi


async def test_an_entry_says_who_changed_what_and_how(api: Api) -> None:
    workflow = await create(api, "/v2/workflows", WORKFLOW)
    me = (await api.get("/v1/environments/api-keys")).json()[0]

    changes = {"name": "Hello", "active": False, "tags": []}
    response = await api.patch("/v2/workflows/welcome", json=changes, headers={"X-Request-Id": "r1"})
    entry, created = await list_entries(api, targetId=workflow["_id"])

    assert response.headers["X-Request-Id"] == "r1"
    assert entry | {"_id": ""} == {
        "_id": "",
        "action": "workflow.update",
        "actor": {"type": "apiKey", "id": me["_id"], "name": me["name"]},
        "target": {"type": "workflow", "id": workflow["_id"], "name": "welcome"},
        "before": {"name": "Welcome", "active": True},
        "after": {"name": "Hello", "active": False},
        "requestId": "r1",
        "createdAt": "2026-01-01T00:00:00.000Z",
    }
    assert created["action"] == "workflow.create"
    assert created["after"]["steps"]["inbox"]["controls"] == {"body": "Hi"}
    assert "before" not in created


async def test_a_change_of_one_step_shows_what_differs_in_it(api: Api) -> None:
    mail = {"name": "Mail", "type": "email", "controlValues": {"subject": "A", "body": "same"}}
    await create(api, "/v2/workflows", {**WORKFLOW, "steps": [STEP, mail]})
    changed = {**mail, "stepId": "mail", "controlValues": {"subject": "B", "body": "same"}}

    await api.put("/v2/workflows/welcome", json={"name": "Welcome", "steps": [{**STEP, "stepId": "inbox"}, changed]})
    entry = (await list_entries(api))[0]

    assert entry["before"] == {"steps": {"mail": {"controls": {"subject": "A"}}}}
    assert entry["after"] == {"steps": {"mail": {"controls": {"subject": "B"}}}}


async def test_secrets_are_masked_on_both_sides_even_when_they_change(api: Api) -> None:
    path = await make_integration(api, name="Mail")

    await api.put(path, json={"credentials": {**CREDENTIALS, "apiKey": "SG.canary-two"}})
    response = await api.get("/v1/audit-log")
    changed, created = response.json()["data"]

    assert changed["before"] == changed["after"] == {"credentials": {"apiKey": "********"}}
    assert created["after"]["credentials"] == {"apiKey": "********", "from": "a@example.com"}
    assert "canary" not in response.text


async def test_secrets_of_endpoints_and_keys_are_never_shown(api: Api) -> None:
    endpoint = await create(api, "/v1/webhooks/endpoints", {"url": HOOK})
    rotated = (await api.post(f"/v1/webhooks/endpoints/{endpoint['_id']}/rotate-secret")).json()
    key = await create(api, "/v1/environments/api-keys", {"name": "CI"})

    response = await api.get("/v1/audit-log")

    entry = response.json()["data"][1]
    assert entry["before"] == entry["after"] == {"secret": "********"}
    assert not [one for one in (endpoint["secret"], rotated["secret"], key["key"]) if one in response.text]


async def test_an_integration_that_loses_its_primary_place_has_an_entry_too(api: Api) -> None:
    first = await make_integration(api, identifier="first")
    second = await make_integration(api, identifier="second")

    await api.post(f"{second}/set-primary", headers={"X-Request-Id": "swap"})
    entries = {one["target"]["name"]: one for one in await list_entries(api, requestId="swap")}

    assert entries["second"]["action"] == "integration.setPrimary"
    assert entries["second"]["after"]["primary"] is True
    assert entries["first"]["action"] == "integration.update"
    assert entries["first"]["target"]["id"] in first
    assert entries["first"]["after"]["primary"] is False


async def test_a_suppression_is_logged_without_its_address(api: Api) -> None:
    await create(api, "/v1/suppressions", {"channel": "email", "address": "ada@example.com", "detail": "ada asked"})
    await create(api, "/v1/suppressions", {"channel": "sms", "address": "+442079460958"})

    response = await api.get("/v1/audit-log")

    assert [one["target"]["id"] for one in response.json()["data"]] == ["sms:***958", "email:a***@example.com"]
    assert "ada@" not in response.text
    assert "ada asked" not in response.text


async def test_a_refused_change_leaves_no_entry(api: Api) -> None:
    await create(api, "/v2/workflows", WORKFLOW)

    taken = await api.post("/v2/workflows", json=WORKFLOW, headers={"X-Request-Id": "again"})
    wrong = await api.post("/v1/integrations", json={**EMAIL, "credentials": {}}, headers={"X-Request-Id": "again"})

    assert (taken.status_code, wrong.status_code) == (422, 422)
    assert await list_entries(api, requestId="again") == []


async def test_entries_are_filtered(api: Api, make_api: MakeApi, clock: ManualClock) -> None:
    other = await make_api()
    workflow = await create(api, "/v2/workflows", WORKFLOW)
    clock.move(DAY)
    await api.patch("/v2/workflows/welcome", json={"active": False})
    clock.move(DAY)
    await create(other, "/v1/webhooks/endpoints", {"url": HOOK})
    newest, updated, created = await list_entries(api)

    async def found(**filters: Any) -> list[Any]:
        return [one["_id"] for one in await list_entries(api, **filters)]

    assert await found(action="workflow.update") == [updated["_id"]]
    assert await found(action=["workflow.update", "workflow.create"]) == [updated["_id"], created["_id"]]
    assert await found(targetType="workflow", targetId=workflow["_id"]) == [updated["_id"], created["_id"]]
    assert await found(targetType="webhookEndpoint") == [newest["_id"]]
    assert await found(actorType="apiKey", actorId=newest["actor"]["id"]) == [newest["_id"]]
    assert await found(actorType="service") == []
    assert await found(requestId=created["requestId"]) == [created["_id"]]
    assert await found(**{"from": "2026-01-02T00:00:00Z"}) == [newest["_id"], updated["_id"]]
    assert await found(**{"from": "2026-01-02T00:00:00Z", "to": "2026-01-02T00:00:00Z"}) == [updated["_id"]]
    assert await found(to="2025-12-31T00:00:00Z") == []
    assert await found(targetId="unknown") == []


async def test_pages_follow_each_other_in_both_orders(api: Api) -> None:
    for number in range(5):
        await create(api, "/v1/environments/api-keys", {"name": f"key {number}"})
    newest_first = [one["_id"] for one in await list_entries(api)]

    for order_by in ("_id", "updatedAt"):
        seen: list[str] = []
        after = None
        while True:
            params: dict[str, Any] = {"limit": 2, "orderDirection": "ASC", "orderBy": order_by} | (
                {"after": after} if after else {}
            )
            page = (await api.get("/v1/audit-log", params=params)).json()
            seen += [one["_id"] for one in page["data"]]
            after = page["next"]
            if after is None:
                break
        assert seen == newest_first[::-1]
        assert page["totalCount"] == 5


@pytest.mark.parametrize(
    ("filters", "field"),
    [
        ({"action": "workflow.eat"}, "action"),
        ({"targetType": "moon"}, "targetType"),
        ({"actorType": "moon"}, "actorType"),
        ({"from": "yesterday"}, "from"),
        ({"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, "to"),
        ({"limit": 101}, "limit"),
    ],
)
async def test_a_filter_that_is_not_valid_is_named(api: Api, filters: dict[str, Any], field: str) -> None:
    response = await api.get("/v1/audit-log", params=filters)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == [field]


async def test_the_log_needs_its_scope_and_shows_one_environment(api: Api, other_api: Api, make_api: MakeApi) -> None:
    reader = await make_api(scopes=frozenset({Scope.AUDIT_READ}))
    writer = await make_api(scopes=frozenset({Scope.WORKFLOWS_WRITE, Scope.ENVIRONMENTS_READ}))
    await create(writer, "/v2/workflows", WORKFLOW)

    assert (await writer.get("/v1/audit-log")).status_code == 403
    assert len(await list_entries(reader)) == 1
    assert await list_entries(other_api) == []
