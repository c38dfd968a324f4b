"""What members do to environments and API keys: owners create and delete, roles count in the environment concerned."""

import pytest

from clarion.ids import id_text
from clarion.vocabulary import Role
from tests.audit.support import list_entries
from tests.members.support import Browser, SignIn
from tests.support import Api, Site

KEYS = "/v1/environments/api-keys"


@pytest.fixture
async def owner(make_browser: SignIn, site: Site) -> Browser:
    return await make_browser(Role.OWNER, site.development)


async def test_an_owner_creates_an_environment_and_can_enter_it_at_once(owner: Browser) -> None:
    made = await owner.post("/v1/environments", json={"name": "Staging"})
    entered = await owner.get("/v2/topics", headers={"Clarion-Environment": made.json()["_id"]})

    assert (made.status_code, entered.status_code) == (201, 200)
    assert made.json()["apiKeys"][0]["scopes"] == ["all"]


async def test_an_owner_deletes_an_environment_and_nobody_can_enter_it_any_more(owner: Browser, site: Site) -> None:
    path = f"/v1/environments/{id_text(site.production.id)}"
    in_production = {"Clarion-Environment": site.production.identifier}
    assert (await owner.get("/v2/topics", headers=in_production)).status_code == 200

    deleted = await owner.delete(path, params={"confirm": "Production"})

    assert deleted.status_code == 200, deleted.text
    assert (await owner.get("/v2/topics", headers=in_production)).status_code == 403


@pytest.mark.parametrize("role", [Role.ADMIN, Role.AUTHOR])
async def test_an_owner_of_one_environment_is_no_owner_of_the_organization(
    make_browser: SignIn, site: Site, role: Role
) -> None:
    browser = await make_browser(role, site.development, {site.development.id: Role.OWNER})

    created = await browser.post("/v1/environments", json={"name": "Staging"})
    deleted = await browser.delete(f"/v1/environments/{id_text(site.production.id)}", params={"confirm": "Production"})

    assert (created.status_code, deleted.status_code) == (403, 403)
    assert "owner" in created.json()["message"]


async def test_an_environment_is_changed_with_the_role_in_it(make_browser: SignIn, site: Site) -> None:
    browser = await make_browser(Role.ADMIN, site.development, {site.production.id: Role.VIEWER})

    own = await browser.patch(f"/v1/environments/{id_text(site.development.id)}", json={"timezone": "Asia/Tokyo"})
    other = await browser.patch(f"/v1/environments/{id_text(site.production.id)}", json={"timezone": "Asia/Tokyo"})

    assert (own.status_code, other.status_code) == (200, 403)
    assert "Production" in other.json()["message"]


async def test_a_change_of_one_environment_is_not_in_the_log_of_another(
    owner: Browser, site: Site, api: Api, other_api: Api
) -> None:
    await owner.patch(f"/v1/environments/{id_text(site.production.id)}", json={"timezone": "Asia/Tokyo"})

    assert [one["action"] for one in await list_entries(other_api)] == ["environment.update"]
    assert await list_entries(api) == []


@pytest.mark.parametrize(
    ("roles", "status"),
    [
        ({"development": Role.ADMIN, "production": Role.ADMIN}, 200),
        ({"development": Role.VIEWER, "production": Role.ADMIN}, 200),
        ({"development": Role.ADMIN, "production": Role.AUTHOR}, 403),
        ({"development": Role.ADMIN, "production": None}, 404),
        ({"development": None, "production": Role.ADMIN}, 422),
    ],
    ids=str,
)
@pytest.mark.parametrize("verb", ["diff", "publish"])
async def test_promotion_needs_a_role_in_both_environments(
    make_browser: SignIn, site: Site, roles: dict[str, Role | None], status: int, verb: str
) -> None:
    """To read the source, and to change the target."""
    by_id = {getattr(site, name).id: role for name, role in roles.items()}
    entered = site.production if roles["production"] is Role.ADMIN else site.development
    browser = await make_browser(Role.VIEWER, entered, by_id)
    body = {"sourceEnvironmentId": id_text(site.development.id)}

    response = await browser.post(f"/v2/environments/{id_text(site.production.id)}/{verb}", json=body)

    assert response.status_code == status, response.text


async def test_admins_give_keys_what_their_role_allows_and_owners_everything(
    make_browser: SignIn, owner: Browser, site: Site
) -> None:
    admin = await make_browser(Role.ADMIN, site.development)

    answers = {
        (who, scopes): (await browser.post(KEYS, json={"name": "CI", "scopes": [scopes]})).status_code
        for who, browser in (("admin", admin), ("owner", owner))
        for scopes in ("events:write", "integrations:secrets", "all")
    }

    assert answers == {
        ("admin", "events:write"): 201,
        ("admin", "integrations:secrets"): 403,
        ("admin", "all"): 403,
        ("owner", "events:write"): 201,
        ("owner", "integrations:secrets"): 201,
        ("owner", "all"): 201,
    }


async def test_the_secret_of_a_new_key_is_shown_once(owner: Browser) -> None:
    made = (await owner.post(KEYS, json={"name": "CI"})).json()

    assert made["key"] not in (await owner.get(KEYS)).text
    assert made["key"] not in (await owner.get("/v1/audit-log")).text


async def test_an_integration_that_a_member_deletes_names_the_member(
    owner: Browser, make_browser: SignIn, site: Site, api: Api
) -> None:
    body = {"providerId": "sendgrid", "channel": "email"}
    made = (await owner.post("/v1/integrations", json=body)).json()

    assert (await owner.delete(f"/v1/integrations/{made['_id']}")).status_code == 200
    (entry, *_) = await list_entries(api)
    assert (entry["action"], entry["actor"]) == (
        "integration.delete",
        {"type": "member", "id": id_text(owner.member.id), "name": owner.member.name},
    )
