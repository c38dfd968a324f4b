"""The team by HTTP: invite, change roles, remove; for members and for API keys."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from clarion.clock import DAY, ManualClock
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.ids import id_text
from clarion.vocabulary import Role, Scope
from tests.audit.support import list_entries
from tests.members.support import Browser, SignIn
from tests.support import Api, MakeApi, Site

INVITATIONS = "/v1/members/invitations"
MAIL = {
    "providerId": "sendgrid",
    "channel": "email",
    "active": True,
    "credentials": {"apiKey": "SG.x", "from": "team@example.com"},
}


@pytest.fixture(autouse=True)
async def _forget_members(database: Database) -> AsyncIterator[None]:
    """Addresses are unique in the store, which tests share."""
    yield
    for table in ("members", "member_links"):
        await database.transaction(lambda db, name=table: db.execute(sql(f"DELETE FROM {name}")))  # type: ignore[misc]


async def invite(client: Browser | Api, email: str = "new@example.com", **body: Any) -> dict[str, Any]:
    answer = await client.post(INVITATIONS, json={"email": email, "role": "viewer", **body})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def test_an_invitation_is_shown_once_and_listed_without_its_link(
    make_browser: SignIn, site: Site, clock: ManualClock
) -> None:
    admin = await make_browser(Role.ADMIN, site.development)
    production = id_text(site.production.id)

    made = await invite(admin, "New@Example.com", role="author", environmentRoles={production: None})
    (listed,) = (await admin.get(INVITATIONS)).json()
    clock.move(7 * DAY)

    assert made["link"].startswith("http://127.0.0.1:3000/dashboard/invitation#")
    assert made["mailed"] is False
    assert listed == made["invitation"]
    assert (listed["email"], listed["role"]) == ("new@example.com", "author")
    assert listed["environmentRoles"] == {production: None}
    assert listed["invitedBy"] == {"name": "The admin", "email": admin.member.email}


async def test_an_invitation_is_withdrawn(make_browser: SignIn, site: Site) -> None:
    admin = await make_browser(Role.ADMIN, site.development)
    made = await invite(admin)
    path = f"{INVITATIONS}/{made['invitation']['_id']}"

    withdrawn, again = await admin.delete(path), await admin.delete(path)
    token = made["link"].partition("#")[2]
    shown = await admin.post("/v1/auth/invitation", json={"token": token})

    assert (withdrawn.status_code, again.status_code, shown.status_code) == (204, 404, 422)
    assert (await admin.get(INVITATIONS)).json() == []


async def test_an_email_integration_is_no_way_to_members(api: Api) -> None:
    assert (await api.post("/v1/integrations", json=MAIL)).status_code == 201

    assert (await invite(api))["mailed"] is False


async def test_a_member_gets_another_role_at_once(make_browser: SignIn, site: Site) -> None:
    owner, member = await make_browser(Role.OWNER, site.development), await make_browser(Role.VIEWER, site.development)
    path, topic = f"/v1/members/{id_text(member.member.id)}", {"key": "news"}
    before = await member.post("/v2/topics", json=topic)

    changed = await owner.patch(path, json={"role": "author"})
    after = await member.post("/v2/topics", json=topic)
    await owner.patch(path, json={"environmentRoles": {id_text(site.development.id): None}})
    closed = await member.post("/v2/topics", json=topic)

    assert (before.status_code, changed.status_code, after.status_code) == (403, 200, 201)
    assert (changed.json()["role"], changed.json()["sessions"]) == ("author", 1)
    assert closed.status_code == 403


async def test_roles_in_environments_that_the_caller_cannot_enter_are_hidden_and_stay(
    make_browser: SignIn, site: Site, api: Api
) -> None:
    production = id_text(site.production.id)
    owner = await make_browser(Role.OWNER, site.development, {site.production.id: None})
    member = await make_browser(Role.VIEWER, roles={site.production.id: Role.AUTHOR})
    path = f"/v1/members/{id_text(member.member.id)}"

    named = await owner.patch(path, json={"environmentRoles": {production: "admin"}})
    changed = await owner.patch(path, json={"environmentRoles": {}, "role": "author"})

    assert named.status_code == 422
    assert (changed.json()["role"], changed.json()["environmentRoles"]) == ("author", {})
    assert (await api.get(path)).json()["environmentRoles"] == {production: "author"}


async def test_a_removed_member_is_signed_out_at_once(make_browser: SignIn, site: Site) -> None:
    owner, member = await make_browser(Role.OWNER, site.development), await make_browser(Role.ADMIN, site.development)
    path = f"/v1/members/{id_text(member.member.id)}"
    listed = (await member.get("/v1/members")).json()

    removed = await owner.delete(path)
    refused = await member.get("/v1/members")

    assert {one["email"] for one in listed} == {owner.member.email, member.member.email}
    assert (removed.status_code, refused.status_code) == (204, 401)
    assert (await owner.get(path)).status_code == 404


async def test_a_member_is_signed_out_everywhere(make_browser: SignIn, site: Site) -> None:
    admin, member = await make_browser(Role.ADMIN, site.development), await make_browser(Role.VIEWER, site.development)

    ended = await admin.delete(f"/v1/members/{id_text(member.member.id)}/sessions")

    assert ended.status_code == 204
    assert (await member.get("/v1/members")).status_code == 401


async def test_ranks_hold_for_members_and_api_keys(make_browser: SignIn, site: Site, api: Api) -> None:
    owner, admin = await make_browser(Role.OWNER, site.development), await make_browser(Role.ADMIN, site.development)
    path = f"/v1/members/{id_text(owner.member.id)}"
    for client in (admin, api):
        answers = [
            await client.post(INVITATIONS, json={"email": "x@example.com", "role": "owner"}),
            await client.patch(path, json={"role": "viewer"}),
            await client.post(f"{path}/reset-link"),
            await client.delete(f"{path}/sessions"),
            await client.delete(path),
        ]
        assert [one.status_code for one in answers] == [403] * len(answers)
    last = await owner.patch(path, json={"role": "admin"})
    assert (last.status_code, list(last.json()["errors"])) == (422, ["role"])


async def test_a_role_in_one_environment_does_not_manage_the_team(make_browser: SignIn, site: Site) -> None:
    member = await make_browser(Role.VIEWER, site.development, {site.development.id: Role.ADMIN})

    refused = await member.post(INVITATIONS, json={"email": "x@example.com", "role": "viewer"})

    assert refused.status_code == 403


async def test_an_admin_who_may_do_less_in_some_environment_manages_no_members(
    make_browser: SignIn, site: Site
) -> None:
    """With an API key for members of Development they could let somebody into Production."""
    admin = await make_browser(Role.ADMIN, site.development, {site.production.id: Role.VIEWER})

    invited = await admin.post(INVITATIONS, json={"email": "x@example.com", "role": "viewer"})
    key = await admin.post("/v1/environments/api-keys", json={"name": "CI", "scopes": ["members:write"]})

    assert (invited.status_code, key.status_code) == (403, 403)
    assert (await admin.get("/v1/members")).status_code == 200


async def test_keys_need_the_scopes(make_api: MakeApi) -> None:
    reader = await make_api(scopes=frozenset({Scope.MEMBERS_READ}))

    assert (await reader.get("/v1/members")).status_code == 200
    assert (await reader.post(INVITATIONS, json={"email": "x@example.com", "role": "viewer"})).status_code == 403


async def test_a_key_for_everything_in_its_environment_does_not_reach_others_through_the_team(
    make_api: MakeApi, make_browser: SignIn, site: Site
) -> None:
    everything, owner = await make_api(scopes=frozenset({Scope.ALL})), await make_browser(Role.OWNER, site.development)
    invitation, key = {"email": "x@example.com", "role": "viewer"}, {"name": "team", "scopes": ["members:write"]}

    invited = await everything.post(INVITATIONS, json=invitation)
    granted = await everything.post("/v1/environments/api-keys", json=key)

    assert (invited.status_code, granted.status_code) == (403, 403)
    assert (await owner.post("/v1/environments/api-keys", json=key)).status_code == 201


async def test_a_member_of_another_organization_is_not_found(
    make_browser: SignIn, api: Api, site: Site, database: Database
) -> None:
    member = await make_browser(Role.VIEWER)
    elsewhere = sql("UPDATE members SET organization_id = :other WHERE id = :id")
    await database.transaction(lambda db: db.execute(elsewhere, other=bytes(range(16)), id=member.member.id))
    path = f"/v1/members/{id_text(member.member.id)}"

    assert (await api.get("/v1/members")).json() == []
    assert [(await api.request(one, path)).status_code for one in ("GET", "DELETE")] == [404, 404]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"email": "nobody", "role": "viewer"}, "email"),
        ({"email": "x@example.com", "role": "king"}, "role"),
        ({"email": "x@example.com", "role": "viewer", "environmentRoles": {"x": None}}, "environmentRoles"),
        (
            {"email": "x@example.com", "role": "viewer", "environmentRoles": {id_text(bytes(16)): "viewer"}},
            "environmentRoles",
        ),
        ({"email": "x@example.com", "role": "viewer", "name": "X"}, "name"),
    ],
)
async def test_what_cannot_be_is_refused_with_its_field(api: Api, body: dict[str, Any], field: str) -> None:
    answer = await api.post(INVITATIONS, json=body)

    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [field]


async def test_the_log_of_an_environment_names_no_role_in_another(
    make_browser: SignIn, site: Site, api: Api, other_api: Api
) -> None:
    owner, member = await make_browser(Role.OWNER, site.development), await make_browser(Role.VIEWER)
    production = id_text(site.production.id)
    await owner.patch(f"/v1/members/{id_text(member.member.id)}", json={"environmentRoles": {production: "author"}})
    await invite(owner, environmentRoles={production: None})

    here, there = await list_entries(api), await list_entries(other_api)

    assert production not in str(here)
    assert [one["after"].get("environmentRoles") for one in there] == [{production: None}, {production: "author"}]


async def test_the_log_has_every_change_and_no_token(
    make_browser: SignIn, site: Site, api: Api, other_api: Api
) -> None:
    owner, member = await make_browser(Role.OWNER, site.development), await make_browser(Role.VIEWER)
    path = f"/v1/members/{id_text(member.member.id)}"
    made = await invite(owner)
    await owner.delete(f"{INVITATIONS}/{made['invitation']['_id']}")
    await owner.patch(path, json={"role": "author"})
    link = (await owner.post(f"{path}/reset-link")).json()["link"]
    await owner.delete(f"{path}/sessions")
    await owner.delete(path)

    entries = await list_entries(api)

    assert [one["action"] for one in entries][::-1] == [
        *("invitation.create", "invitation.delete", "member.update", "member.createResetLink"),
        *("member.revokeSessions", "member.delete"),
    ]
    assert {one["actor"]["id"] for one in entries} == {id_text(owner.member.id)}
    assert (entries[3]["before"], entries[3]["after"]) == ({"role": "viewer"}, {"role": "author"})
    assert [one["action"] for one in await list_entries(other_api)] == [one["action"] for one in entries]
    for url in (link, made["link"]):
        assert url.partition("#")[2] not in str(entries)
    assert "argon2" not in str(entries)


async def test_the_last_owner_cannot_close_environments_to_themselves(make_browser: SignIn, site: Site) -> None:
    owner = await make_browser(Role.OWNER, site.development)
    path, production = f"/v1/members/{id_text(owner.member.id)}", id_text(site.production.id)

    alone = [
        await owner.patch(path, json={"environmentRoles": {production: role}}) for role in (None, "viewer", "author")
    ]
    admin = await owner.patch(path, json={"environmentRoles": {production: "admin"}})
    other = await make_browser(Role.OWNER, site.development)
    closed = await owner.patch(path, json={"environmentRoles": {production: None}})
    removed = await owner.delete(f"/v1/members/{id_text(other.member.id)}")

    assert [(one.status_code, list(one.json()["errors"])) for one in alone] == [(422, ["environmentRoles"])] * 3
    assert "Production" in alone[0].json()["errors"]["environmentRoles"]["messages"][0]
    assert (admin.status_code, closed.status_code) == (200, 200)
    assert (removed.status_code, list(removed.json()["errors"])) == (422, ["memberId"])
