"""Environments are created and deleted through HTTP, on both databases."""

from typing import Any

import httpx
import pytest

from clarion.app import Application
from clarion.clock import SECOND, ManualClock, Millis
from clarion.db.port import Database
from clarion.environments.actions import KeyRequest, create_api_key
from clarion.vault import Vault
from clarion.vocabulary import Scope
from tests.support import Api, MakeApi, Site


async def create(api: Api, name: str = "Staging", **fields: Any) -> dict[str, Any]:
    response = await api.post("/v1/environments", json={"name": name, **fields})
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def as_key(api: Api, key: str, path: str, **options: Any) -> httpx.Response:
    return await api.get(path, headers={"Authorization": f"ApiKey {key}"}, **options)


async def test_a_new_environment_has_a_key_an_identifier_and_an_inbox(api: Api, site: Site) -> None:
    own = (await api.get("/v1/environments/me")).json()

    made = await create(api, color="#fff", parentId=own["_id"])
    (key,) = made["apiKeys"]
    me = await as_key(api, key["key"], "/v1/environments/me")
    (inbox,) = (await as_key(api, key["key"], "/v1/integrations/active")).json()
    session = {"applicationIdentifier": made["identifier"], "subscriber": {"subscriberId": "ada"}}
    begun = await api.post("/v1/inbox/session", json=session)
    listed = (await api.get("/v1/environments")).json()

    assert (made["type"], made["color"], made["_parentId"]) == ("dev", "#fff", own["_id"])
    assert made["_organizationId"] == own["_organizationId"]
    assert me.json() == {name: value for name, value in made.items() if name != "apiKeys"}
    assert (inbox["channel"], inbox["identifier"]) == ("in_app", "in-app")
    assert begun.status_code == 201
    assert [one["name"] for one in listed] == ["Development", "Production", "Staging"]
    assert key["key"] not in (await api.get("/v1/environments")).text


async def test_the_first_key_has_no_more_rights_than_its_maker(
    make_api: MakeApi, database: Database, vault: Vault, site: Site, clock: ManualClock
) -> None:
    scopes = frozenset({Scope.ENVIRONMENTS_WRITE, Scope.TOPICS_READ, Scope.ORGANIZATION_REACH})
    maker = await make_api(scopes=scopes)
    request = KeyRequest(name="short-lived", scopes=scopes, expires_at=Millis(clock.now() + 600 * SECOND))
    short = await database.transaction(
        lambda db: create_api_key(db, site.development.id, request, vault=vault, now=clock.now())
    )

    (key,) = (await create(maker))["apiKeys"]
    headers = {"Authorization": f"ApiKey {short.text}"}
    temporary = (await maker.post("/v1/environments", json={"name": "Temporary"}, headers=headers)).json()
    before = await as_key(maker, temporary["apiKeys"][0]["key"], "/v2/topics")
    clock.move(600 * SECOND)
    after = await as_key(maker, temporary["apiKeys"][0]["key"], "/v2/topics")

    assert key["scopes"] == ["environments:write", "topics:read"]
    assert (await as_key(maker, key["key"], "/v2/topics")).status_code == 200
    assert (await as_key(maker, key["key"], "/v2/subscribers")).status_code == 403
    assert (before.status_code, after.status_code) == (200, 401)


async def test_only_a_key_that_may_write_environments_creates_and_deletes_them(make_api: MakeApi, api: Api) -> None:
    reader = await make_api(scopes=frozenset(set(Scope) - {Scope.ALL, Scope.ENVIRONMENTS_WRITE}))
    made = await create(api)

    assert (await reader.post("/v1/environments", json={"name": "Mine"})).status_code == 403
    assert (await reader.delete(f"/v1/environments/{made['_id']}")).status_code == 403


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "Production"}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "X", "type": "test"}, "type"),
        ({"name": "X", "color": "blue"}, "color"),
        ({"name": "X", "parentId": "01a1df28-0000-7000-8000-000000000001"}, "parentId"),
    ],
)
async def test_an_environment_that_cannot_be_created_is_refused_by_field(api: Api, body: Any, field: str) -> None:
    response = await api.post("/v1/environments", json=body)

    assert (response.status_code, list(response.json()["errors"])) == (422, [field])


async def test_a_deleted_environment_ends_at_once_and_its_name_is_free(api: Api, application: Application) -> None:
    made = await create(api)
    key = made["apiKeys"][0]["key"]
    session = {"applicationIdentifier": made["identifier"], "subscriber": {"subscriberId": "ada"}}
    token = (await api.post("/v1/inbox/session", json=session)).json()["data"]["token"]
    inbox = {"Authorization": f"Bearer {token}"}
    assert (await api.get("/v1/inbox/notifications", headers=inbox)).status_code == 200
    headers = {"Authorization": f"ApiKey {key}"}
    fields = {"providerId": "sendgrid", "channel": "email"}
    integration = (await api.post("/v1/integrations", json=fields, headers=headers)).json()["_id"]
    address = (await as_key(api, key, f"/v1/integrations/{integration}/receipts-address")).json()["url"]
    assert (await api.post(address, json=[])).status_code != 404

    deleted = await api.delete(f"/v1/environments/{made['_id']}")

    assert (deleted.status_code, deleted.json()) == (200, {"acknowledged": True, "status": "deleted"})
    assert (await as_key(api, key, "/v1/environments/me")).status_code == 401
    assert (await api.get("/v1/inbox/notifications", headers=inbox)).status_code == 401
    assert (await api.post("/v1/inbox/session", json=session)).status_code == 400
    assert (await api.post(address, json=[])).status_code == 404
    assert "Staging" not in (await api.get("/v1/environments")).text
    assert (await api.delete(f"/v1/environments/{made['_id']}")).status_code == 404
    assert (await api.patch(f"/v1/environments/{made['_id']}", json={"name": "Back"})).status_code == 404
    assert (await create(api))["_id"] != made["_id"]


async def test_the_environment_of_the_key_is_not_deleted(api: Api) -> None:
    own = (await api.get("/v1/environments/me")).json()

    response = await api.delete(f"/v1/environments/{own['_id']}")

    assert (response.status_code, list(response.json()["errors"])) == (422, ["environmentId"])
    assert "clarion environments delete" in response.text
    assert (await api.get("/v1/environments/me")).json() == own


async def test_an_environment_of_production_is_deleted_only_with_its_name(api: Api, other_api: Api) -> None:
    path = f"/v1/environments/{(await other_api.get('/v1/environments/me')).json()['_id']}"

    refused = [await api.delete(path), await api.delete(path, params={"confirm": "production"})]
    still = await other_api.get("/v1/environments/me")
    deleted = await api.delete(path, params={"confirm": "Production"})

    assert [(one.status_code, list(one.json()["errors"])) for one in refused] == [(422, ["confirm"])] * 2
    assert (still.status_code, deleted.status_code) == (200, 200)
    assert (await other_api.get("/v1/environments/me")).status_code == 401


async def test_children_lose_a_deleted_parent(api: Api, other_api: Api, site: Site) -> None:
    parent = await create(api)
    child = await create(api, "Preview", parentId=parent["_id"])

    await api.delete(f"/v1/environments/{parent['_id']}")

    listed = {one["_id"]: one for one in (await api.get("/v1/environments")).json()}
    assert "_parentId" not in listed[child["_id"]]
