"""Environments and keys through HTTP, on both databases."""

from typing import Any

import pytest

from clarion.app import Application
from clarion.bus import Bus
from clarion.clock import SECOND, ManualClock
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.environments.authentication import Authenticator
from clarion.errors import Unauthenticated
from clarion.vocabulary import Scope
from tests.support import Api, MakeApi, Site


async def test_the_keys_environment_and_its_siblings_are_returned(api: Api, site: Site) -> None:
    me = (await api.get("/v1/environments/me")).json()
    everyone = (await api.get("/v1/environments")).json()

    assert me["name"] == "Development"
    assert me["identifier"] == site.development.identifier
    assert [one["name"] for one in everyone] == ["Development", "Production"]
    assert everyone[1]["_parentId"] == me["_id"]
    assert "_parentId" not in me


async def test_a_new_key_works_and_its_secret_is_shown_once(api: Api, database: Database) -> None:
    made = await api.post("/v1/environments/api-keys", json={"name": "CI", "scopes": ["subscribers:read"]})
    secret = made.json()["key"]
    listed = (await api.get("/v1/environments/api-keys")).text
    rows = await database.read(
        lambda db: db.fetch(
            sql("SELECT hash, name, hint FROM api_keys WHERE environment_id = :environment_id"),
            environment_id=api.environment.id,
        )
    )

    assert made.status_code == 201
    assert (await api.get("/v2/subscribers", headers={"Authorization": f"ApiKey {secret}"})).status_code == 200
    assert secret not in listed
    assert made.json()["apiKey"]["hint"] == secret[-4:]
    assert secret.encode() not in b"".join(bytes(row["hash"]) + row["name"].encode() for row in rows)


async def test_a_key_hands_on_only_what_it_has(make_api: MakeApi) -> None:
    api = await make_api(scopes=frozenset({Scope.ENVIRONMENTS_WRITE, Scope.TOPICS_READ}))

    less = await api.post("/v1/environments/api-keys", json={"name": "less", "scopes": ["topics:read"]})
    more = await api.post("/v1/environments/api-keys", json={"name": "more", "scopes": ["topics:write"]})
    everything = await api.post("/v1/environments/api-keys", json={"name": "all"})

    assert [one.status_code for one in (less, more, everything)] == [201, 403, 403]


async def test_a_revoked_key_is_refused_at_once_and_within_two_seconds_elsewhere(
    api: Api, application: Application, database: Database, clock: ManualClock
) -> None:
    made = (await api.post("/v1/environments/api-keys", json={"name": "gone"})).json()
    header = f"ApiKey {made['key']}"
    elsewhere = Authenticator(database, clock, Bus())
    await elsewhere(header)
    assert (await api.get("/v1/environments/me", headers={"Authorization": header})).status_code == 200

    revoked = await api.delete(f"/v1/environments/api-keys/{made['apiKey']['_id']}")
    here = await api.get("/v1/environments/me", headers={"Authorization": header})
    clock.move(2 * SECOND)

    assert revoked.status_code == 204
    assert here.status_code == 401
    with pytest.raises(Unauthenticated, match="revoked"):
        await elsewhere(header)


async def test_an_old_key_and_a_new_one_overlap_until_the_old_one_expires(api: Api, clock: ManualClock) -> None:
    old = (await api.post("/v1/environments/api-keys", json={"name": "old"})).json()
    new = (await api.post("/v1/environments/api-keys", json={"name": "new"})).json()
    path = f"/v1/environments/api-keys/{old['apiKey']['_id']}"

    changed = await api.patch(path, json={"expiresAt": "2026-01-01T01:00:00.000Z"})
    statuses = []
    for _ in range(2):
        for made in (old, new):
            headers = {"Authorization": f"ApiKey {made['key']}"}
            statuses.append((await api.get("/v1/environments/me", headers=headers)).status_code)
        clock.move(3600 * SECOND)

    assert changed.json()["expiresAt"] == "2026-01-01T01:00:00.000Z"
    assert statuses == [200, 200, 401, 200]


async def test_keys_of_another_environment_are_not_found(api: Api, other_api: Api) -> None:
    made = (await other_api.post("/v1/environments/api-keys", json={"name": "theirs"})).json()
    path = f"/v1/environments/api-keys/{made['apiKey']['_id']}"

    assert (await api.patch(path, json={"name": "mine"})).status_code == 404
    assert (await api.delete(path)).status_code == 404
    assert (await api.delete("/v1/environments/api-keys/nonsense")).status_code == 404


async def test_last_use_is_written_down_now_and_then(api: Api, application: Application, clock: ManualClock) -> None:
    await api.get("/v1/environments/me")
    clock.move(5 * SECOND)
    await api.get("/v1/environments/me")

    await application.authenticator.record_use()

    (key,) = (await api.get("/v1/environments/api-keys")).json()
    assert key["lastUsedAt"] == "2026-01-01T00:00:05.000Z"


async def test_bad_keys_are_refused_by_field(api: Api) -> None:
    response = await api.post(
        "/v1/environments/api-keys", json={"name": "", "scopes": ["everything"], "expiresAt": "tomorrow"}
    )
    past = await api.post("/v1/environments/api-keys", json={"name": "x", "expiresAt": "2020-01-01"})

    assert set(response.json()["errors"]) == {"name", "scopes.0", "expiresAt"}
    assert list(past.json()["errors"]) == ["expiresAt"]


async def test_the_default_time_zone_is_set_kept_and_cleared(api: Api, site: Site, clock: ManualClock) -> None:
    path = f"/v1/environments/{(await api.get('/v1/environments/me')).json()['_id']}"
    clock.move(SECOND)

    changed = await api.patch(path, json={"timezone": "Asia/Tokyo"})
    clock.move(SECOND)
    kept = await api.patch(path, json={})
    same = await api.patch(path, json={"timezone": "Asia/Tokyo"})
    cleared = await api.patch(path, json={"timezone": None})

    assert (changed.status_code, changed.json()["timezone"]) == (200, "Asia/Tokyo")
    assert changed.json() == kept.json() == same.json()
    assert changed.json()["updatedAt"] == "2026-01-01T00:00:01.000Z"
    assert "timezone" not in cleared.json()
    assert cleared.json()["updatedAt"] == "2026-01-01T00:00:02.000Z"


async def test_a_time_zone_that_does_not_exist_is_refused(api: Api) -> None:
    path = f"/v1/environments/{(await api.get('/v1/environments/me')).json()['_id']}"

    for wrong in ("Mars/Olympus", "", 5):
        response = await api.patch(path, json={"timezone": wrong})
        assert (response.status_code, list(response.json()["errors"])) == (422, ["timezone"])


async def test_only_a_key_that_may_write_changes_the_environments_of_its_organization(
    api: Api, make_api: MakeApi, other_api: Api
) -> None:
    mine, theirs = [
        f"/v1/environments/{(await one.get('/v1/environments/me')).json()['_id']}" for one in (api, other_api)
    ]
    reader = await make_api(scopes=frozenset({Scope.ENVIRONMENTS_READ}))

    for path in (mine, theirs):
        assert (await reader.patch(path, json={"timezone": "Asia/Tokyo"})).status_code == 403
        assert (await api.patch(path, json={"timezone": "Asia/Tokyo"})).status_code == 200
    assert (await other_api.get("/v1/environments/me")).json()["timezone"] == "Asia/Tokyo"


async def test_a_name_is_changed_and_is_unique_in_the_organization(api: Api, clock: ManualClock) -> None:
    own = (await api.get("/v1/environments/me")).json()
    path = f"/v1/environments/{own['_id']}"
    clock.move(SECOND)

    renamed = await api.put(path, json={"name": "Sandbox", "color": "#2f6fed", "identifier": own["identifier"]})
    taken = await api.patch(path, json={"name": "Production"})
    same = await api.patch(path, json={"name": "Sandbox"})

    assert renamed.status_code == 200
    assert renamed.json() == own | {"name": "Sandbox", "color": "#2f6fed", "updatedAt": "2026-01-01T00:00:01.000Z"}
    assert (taken.status_code, list(taken.json()["errors"])) == (422, ["name"])
    assert same.json() == (await api.get("/v1/environments/me")).json() == renamed.json()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": " x"}, "name"),
        ({"name": None}, "name"),
        ({"color": "red"}, "color"),
        ({"parentId": "01a1df28-0000-7000-8000-000000000001"}, "parentId"),
        ({"identifier": "another"}, "identifier"),
    ],
)
async def test_changes_that_cannot_be_made_are_refused_by_field(api: Api, body: Any, field: str) -> None:
    own = (await api.get("/v1/environments/me")).json()

    response = await api.patch(f"/v1/environments/{own['_id']}", json=body)

    assert (response.status_code, list(response.json()["errors"])) == (422, [field])


async def test_limits_and_retention_change_by_member_and_null_takes_them_back(api: Api) -> None:
    own = (await api.get("/v1/environments/me")).json()
    path = f"/v1/environments/{own['_id']}"
    assert (own["limits"], own["retentionDays"]) == ({}, {})

    body = {"limits": {"trigger": {"perSecond": 100, "burst": 500}}, "retentionDays": {"runs": 30, "audit": 400}}
    assert (await api.patch(path, json=body)).status_code == 200
    body = {"limits": {"global": {"perSecond": 0.5}}, "retentionDays": {"runs": None}}
    changed = (await api.patch(path, json=body)).json()

    assert changed["limits"] == {"trigger": {"perSecond": 100, "burst": 500}, "global": {"perSecond": 0.5}}
    assert changed["retentionDays"] == {"audit": 400}
    assert (await api.get("/v1/environments/me")).json() == changed


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"limits": {"trigger": {"perSecond": 0}}}, "limits.trigger.perSecond"),
        ({"limits": {"trigger": {}}}, "limits.trigger.perSecond"),
        ({"limits": {"triggers": {"perSecond": 1}}}, "limits"),
        ({"retentionDays": {"runs": 0}}, "retentionDays.runs"),
        ({"retentionDays": {"everything": 1}}, "retentionDays"),
    ],
)
async def test_limits_and_retention_that_cannot_work_are_refused_by_field(api: Api, body: Any, field: str) -> None:
    own = (await api.get("/v1/environments/me")).json()

    response = await api.patch(f"/v1/environments/{own['_id']}", json=body)

    assert response.status_code == 422
    assert any(name.startswith(field) for name in response.json()["errors"]), response.json()
