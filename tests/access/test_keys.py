"""API keys: each scope with each operation, no key at all, and the reach of a key beyond its own environment."""

from typing import Any

import httpx
import pytest

from clarion.http.operation import Call, operation
from clarion.ids import EnvironmentId, id_text
from clarion.operations import OPERATIONS
from clarion.vocabulary import GIVEN_BY_NAME, Role, Scope
from tests.access.walk import IN_ENVIRONMENT_OF_PATH, WITH_SCOPE, answer, name, request
from tests.contract.test_isolation import MISSING, everything, theirs
from tests.members.support import Browser, SignIn
from tests.support import Api, MakeApi, Site
from tests.workflows.support import make_workflow

__all__ = ["theirs"]

KEYS = "/v1/environments/api-keys"
on_sqlite = pytest.mark.parametrize("backend", ["sqlite"], indirect=True, scope="session")
"""Scopes are compared without the database."""


@on_sqlite
async def test_without_a_key_only_public_operations_answer(api: Api) -> None:
    del api.headers["Authorization"]
    for one in OPERATIONS:
        if one.scope is not None or one.is_for_subscribers or one.is_for_members:
            response = await request(api, one)
            assert response.status_code == 401, name(one)


@on_sqlite
@pytest.mark.parametrize("scope", list(Scope))
async def test_a_key_with_one_scope_calls_the_operations_of_that_scope_alone(make_api: MakeApi, scope: Scope) -> None:
    api = await make_api(scopes=frozenset({scope}))

    for one in WITH_SCOPE:
        has_scope = one.scope is scope or (scope is Scope.ALL and one.scope not in GIVEN_BY_NAME)
        response = await request(api, one)
        is_open = has_scope and not one.is_for_owners and (scope is Scope.ALL or not one.also)
        assert (response.status_code != 403) is is_open, f"{name(one)} {response.text}"
    for one in OPERATIONS:
        if one.is_for_subscribers or one.is_for_members:
            assert (await request(api, one)).status_code == 401, name(one)


@on_sqlite
async def test_an_operation_needs_the_scopes_of_all_that_it_shows(make_api: MakeApi) -> None:
    showing = [one for one in WITH_SCOPE if one.also]
    for one in showing:
        needed = frozenset({*([] if one.scope is None else [one.scope]), *one.also})
        assert (await request(await make_api(scopes=needed), one)).status_code != 403, name(one)
        for scope in one.also:
            response = await request(await make_api(scopes=needed - {scope}), one)
            assert (response.status_code, response.json()["ctx"]) == (403, {"missingScopes": [scope]}), name(one)

    assert showing


@on_sqlite
async def test_operations_of_owners_need_the_reach_of_the_organization_besides_their_scope(make_api: MakeApi) -> None:
    of_owners = [one for one in WITH_SCOPE if one.is_for_owners]
    for one in of_owners:
        assert one.scope is not None
        reaching = await make_api(scopes=frozenset({one.scope, Scope.ORGANIZATION_REACH}))
        plain = await make_api(scopes=frozenset({Scope.ALL, Scope.MEMBERS_READ, Scope.MEMBERS_WRITE}))

        assert (await request(reaching, one)).status_code != 403, name(one)
        assert (await request(plain, one)).status_code == 403, name(one)

    assert of_owners


def test_an_operation_without_a_declared_rule_is_refused() -> None:
    async def undeclared(call: Call) -> None:
        """Do nothing."""

    with pytest.raises(TypeError, match="exactly one of scope, session, member and public"):
        operation("GET", "/v1/undeclared")(undeclared)
    with pytest.raises(TypeError, match="exactly one of scope, session, member and public"):
        operation("GET", "/v1/undeclared", scope=Scope.ALL, public=True)(undeclared)


async def make_keys(site: Site, make_api: MakeApi, admin: Browser) -> dict[str, httpx.AsyncClient]:
    """Callers of Development who must not reach Production."""
    everything_here = {"name": "CI", "scopes": sorted(await _grantable(admin))}
    minted = (await admin.post(KEYS, json=everything_here)).json()["key"]
    by_key = await make_api(scopes=frozenset({Scope.ENVIRONMENTS_WRITE, Scope.ENVIRONMENTS_READ, Scope.WORKFLOWS_READ}))
    by_minted = await make_api(scopes=frozenset({Scope.ALL}))
    by_minted.headers["Authorization"] = f"ApiKey {minted}"
    return {
        "the first key": await make_api(scopes=frozenset({Scope.ALL})),
        "a key that writes environments": by_key,
        "an admin of Development": admin,
        "a key that the admin made": by_minted,
    }


async def _grantable(browser: Browser) -> set[str]:
    """The scopes that a member can give to a key."""
    granted = set()
    for scope in Scope:
        made = await browser.post(KEYS, json={"name": scope, "scopes": [scope]})
        assert made.status_code in (201, 403), made.text
        if made.status_code == 201:
            granted.add(scope.value)
    return granted


@pytest.fixture
async def neighbours(site: Site, make_api: MakeApi, make_browser: SignIn) -> dict[str, httpx.AsyncClient]:
    admin = await make_browser(Role.ADMIN, site.development, {site.production.id: None})
    return await make_keys(site, make_api, admin)


async def test_no_operation_reaches_another_environment_by_its_path(
    site: Site, neighbours: dict[str, httpx.AsyncClient], other_api: Api, theirs: dict[str, str]
) -> None:
    """The answer is the same as for an environment that does not exist."""
    there = dict.fromkeys(("environmentId", "targetEnvironmentId"), id_text(site.production.id))
    missing = {name: MISSING[name] for name in there}
    before = await everything(other_api)

    for one in IN_ENVIRONMENT_OF_PATH:
        for who, client in neighbours.items():
            found, unknown = await answer(client, one, there), await answer(client, one, missing)
            assert found[0] in (403, 404), f"{who}: {name(one)} {found}"
            assert found == unknown, f"{who}: {name(one)}"
    assert await everything(other_api) == before
    assert len(IN_ENVIRONMENT_OF_PATH) >= 6


NAMING = {
    ("PATCH", "/v1/environments/{environmentId}", "parentId"): {},
    ("PUT", "/v1/environments/{environmentId}", "parentId"): {},
    ("POST", "/v2/environments/{targetEnvironmentId}/diff", "sourceEnvironmentId"): {},
    ("POST", "/v2/environments/{targetEnvironmentId}/publish", "sourceEnvironmentId"): {},
    ("POST", "/v1/integrations", "_environmentId"): {"providerId": "fcm", "channel": "push"},
    ("PUT", "/v1/integrations/{integrationId}", "_environmentId"): {"name": "Taken over"},
    ("PUT", "/v2/workflows/{workflowId}/sync", "targetEnvironmentId"): {},
}
"""Members of bodies that name an environment, with the rest of the body."""
BY_OWNERS = {("POST", "/v1/environments", "parentId")}
BY_MANAGERS = {
    ("POST", "/v1/members/invitations", "environmentRoles"),
    ("PATCH", "/v1/members/{memberId}", "environmentRoles"),
}
"""These are in tests/members."""


def test_every_member_of_a_body_that_names_an_environment_is_known() -> None:
    found = {
        (one.method, one.path, field)
        for one in WITH_SCOPE
        if one.body_shape is not None
        for field in one.body_shape.__struct_encode_fields__
        if "environment" in field.lower() or field == "parentId"
    }

    assert found == {*NAMING, *BY_OWNERS, *BY_MANAGERS}


async def test_no_operation_reaches_another_environment_by_its_body(
    site: Site, neighbours: dict[str, httpx.AsyncClient], other_api: Api, api: Api, theirs: dict[str, str]
) -> None:
    own = dict.fromkeys(("environmentId", "targetEnvironmentId"), id_text(site.development.id))
    integration = (await api.post("/v1/integrations", json={"providerId": "fcm", "channel": "push"})).json()["_id"]
    workflow = await make_workflow(api)
    names = {**own, "integrationId": integration, "workflowId": workflow["workflowId"]}
    before = await everything(other_api)

    for (method, path, field), rest in NAMING.items():
        filled = path.format_map(names)
        for who, client in neighbours.items():
            answers = []
            for value in (id_text(site.production.id), MISSING["environmentId"]):
                response = await client.request(method, filled, json={**rest, field: value})
                answers.append((response.status_code, response.text.replace(value, "ID")))
            assert answers[0][0] in (403, 404, 422), f"{who}: {method} {path} {answers[0]}"
            assert answers[0] == answers[1], f"{who}: {method} {path}"
    assert await everything(other_api) == before


async def test_keys_see_their_own_environment_and_with_the_reach_of_the_organization_all(
    make_api: MakeApi, site: Site
) -> None:
    plain = await make_api(scopes=frozenset({Scope.ALL}))
    reaching = await make_api(scopes=frozenset({Scope.ALL, Scope.ORGANIZATION_REACH}))

    assert [one["name"] for one in (await plain.get("/v1/environments")).json()] == ["Development"]
    assert [one["name"] for one in (await reaching.get("/v1/environments")).json()] == ["Development", "Production"]


async def test_a_key_with_the_reach_of_the_organization_has_only_its_own_scopes_there(
    make_api: MakeApi, site: Site
) -> None:
    reader = await make_api(scopes=frozenset({Scope.WORKFLOWS_READ, Scope.ORGANIZATION_REACH}))
    writer = await make_api(scopes=frozenset({Scope.ENVIRONMENTS_WRITE, Scope.ORGANIZATION_REACH}))
    production = id_text(site.production.id)

    assert (await reader.get(f"/v2/environments/{production}/tags")).status_code == 200
    assert (await reader.patch(f"/v1/environments/{production}", json={"name": "Mine"})).status_code == 403
    assert (await writer.get(f"/v2/environments/{production}/tags")).status_code == 403
    assert (await writer.patch(f"/v1/environments/{production}", json={"timezone": "Asia/Tokyo"})).status_code == 200


@pytest.mark.parametrize("scope", sorted(GIVEN_BY_NAME))
async def test_only_owners_give_keys_what_reaches_beyond_the_environment(
    make_api: MakeApi, make_browser: SignIn, site: Site, scope: Scope
) -> None:
    key = {"name": "team", "scopes": [scope]}
    every = await make_api()
    admin = await make_browser(Role.ADMIN, site.development)
    owner = await make_browser(Role.OWNER, site.development)

    statuses = [(await client.post(KEYS, json=key)).status_code for client in (every, admin, owner)]

    assert statuses == [403, 403, 201]


async def make_reaching_key(owner: Browser, make_api: MakeApi, **fields: Any) -> tuple[str, Api]:
    body = {"name": "team", "scopes": ["members:read", "organization:reach", "topics:read"], **fields}
    made = (await owner.post(KEYS, json=body)).json()
    api = await make_api()
    api.headers["Authorization"] = f"ApiKey {made['key']}"
    return made["apiKey"]["_id"], api


@pytest.mark.parametrize("end", ["removal", "demotion"])
async def test_a_key_that_reaches_beyond_its_environment_ends_with_the_rights_of_its_maker(
    make_api: MakeApi, make_browser: SignIn, site: Site, end: str
) -> None:
    other_owner = await make_browser(Role.OWNER, site.development)
    owner = await make_browser(Role.OWNER, site.development)
    _, key = await make_reaching_key(owner, make_api)
    plain = (await owner.post(KEYS, json={"name": "application", "scopes": ["topics:read"]})).json()["key"]
    assert (await key.get("/v1/members")).status_code == 200

    path = f"/v1/members/{id_text(owner.member.id)}"
    changed = await (other_owner.delete(path) if end == "removal" else other_owner.patch(path, json={"role": "admin"}))

    assert changed.status_code in (200, 204), changed.text
    assert (await key.get("/v1/members")).status_code == 401
    assert (await key.get("/v2/topics")).status_code == 401
    kept = await key.get("/v2/topics", headers={"Authorization": f"ApiKey {plain}"})
    assert kept.status_code == 200, "keys of one environment belong to the application"


async def test_nobody_but_owners_prolongs_a_key_that_reaches_beyond_its_environment(
    make_api: MakeApi, make_browser: SignIn, site: Site
) -> None:
    owner = await make_browser(Role.OWNER, site.development)
    admin = await make_browser(Role.ADMIN, site.development)
    key_id, _ = await make_reaching_key(owner, make_api, expiresAt="2026-01-01T00:10:00.000Z")
    every = await make_api()

    statuses = [
        (await client.patch(f"{KEYS}/{key_id}", json={"expiresAt": None})).status_code
        for client in (every, admin, owner)
    ]

    assert statuses == [403, 403, 200]


async def test_the_first_key_of_a_new_environment_reaches_it_alone(make_api: MakeApi, site: Site) -> None:
    maker = await make_api()
    made = (await maker.post("/v1/environments", json={"name": "Staging"})).json()
    (first,) = made["apiKeys"]

    listed = await maker.get("/v1/environments", headers={"Authorization": f"ApiKey {first['key']}"})

    assert first["scopes"] == ["all"]
    assert [one["name"] for one in listed.json()] == ["Staging"]


def test_ids_of_environments_in_paths_are_found_by_their_type() -> None:
    kinds = {kind for one in IN_ENVIRONMENT_OF_PATH for _, kind in one.path_kinds}

    assert kinds == {EnvironmentId}
