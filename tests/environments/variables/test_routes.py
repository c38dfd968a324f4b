"""Variables of environments through HTTP, on both databases."""

import json
from typing import Any

import pytest

from clarion.content.environment import SECRET_MASK
from clarion.environments.variables.model import MAX_VALUE, MAX_VARIABLES
from clarion.ids import id_text
from clarion.vocabulary import Role, Scope
from tests.members.support import SignIn
from tests.support import Api, MakeApi, Site
from tests.workflows.support import make_workflow, step

PATH = "/v1/environment-variables"


def value(api: Api, text: str) -> dict[str, str]:
    return {"_environmentId": id_text(api.environment.id), "value": text}


async def create(api: Api, key: str = "SUPPORT_URL", **fields: Any) -> dict[str, Any]:
    response = await api.post(PATH, json={"key": key, **fields})
    assert response.status_code == 200, response.text
    made: dict[str, Any] = response.json()
    return made


def values_of(shown: dict[str, Any]) -> dict[str, str]:
    return {one["_environmentId"]: one["value"] for one in shown["values"]}


@pytest.fixture
async def reaching(make_api: MakeApi) -> Api:
    """A key of Development that reaches Production."""
    return await make_api(scopes={Scope.ALL, Scope.ORGANIZATION_REACH})


@pytest.fixture
async def key(make_api: MakeApi) -> Api:
    """A key of Development alone."""
    return await make_api(scopes={Scope.ALL})


@pytest.fixture
async def production(make_api: MakeApi, site: Site) -> Api:
    """A key of Production alone."""
    return await make_api(site.production, scopes={Scope.ALL})


async def test_a_new_variable_is_retrieved_and_listed_as_created(key: Api) -> None:
    made = await create(key, values=[value(key, "https://example.com")])

    assert made == {
        "_id": made["_id"],
        "_organizationId": id_text(key.environment.organization_id),
        "key": "SUPPORT_URL",
        "type": "string",
        "isSecret": False,
        "forCredentials": False,
        "values": [value(key, "https://example.com")],
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z",
    }
    assert (await key.get(f"{PATH}/SUPPORT_URL")).json() == made
    assert (await key.get(PATH)).json() == [made]


@pytest.mark.parametrize(("search", "found"), [("", ["B_KEY", "A_KEY"]), ("b_", ["B_KEY"]), ("%", [])])
async def test_variables_are_listed_newest_first_by_a_part_of_their_keys(
    key: Api, search: str, found: list[str]
) -> None:
    for name in ("A_KEY", "B_KEY"):
        await create(key, name)

    listed = (await key.get(PATH, params={"search": search})).json()

    assert [one["key"] for one in listed] == found


async def test_values_are_merged_by_environment(reaching: Api, site: Site) -> None:
    there = id_text(site.production.id)
    await create(reaching, values=[value(reaching, "dev"), {"_environmentId": there, "value": "prod"}])

    changed = await reaching.patch(f"{PATH}/SUPPORT_URL", json={"values": [value(reaching, "new")]})

    assert values_of(changed.json()) == {id_text(reaching.environment.id): "new", there: "prod"}


async def test_a_renamed_variable_has_its_values(key: Api) -> None:
    await create(key, values=[value(key, "text")])

    renamed = (await key.patch(f"{PATH}/SUPPORT_URL", json={"key": "HELP_URL"})).json()

    assert (renamed["key"], values_of(renamed)) == ("HELP_URL", {id_text(key.environment.id): "text"})
    assert (await key.get(f"{PATH}/SUPPORT_URL")).status_code == 404


async def test_a_deleted_variable_is_gone(key: Api) -> None:
    await create(key, values=[value(key, "text")])

    assert (await key.delete(f"{PATH}/SUPPORT_URL")).status_code == 204
    assert (await key.get(PATH)).json() == []
    for method in ("get", "delete"):
        assert (await getattr(key, method)(f"{PATH}/SUPPORT_URL")).status_code == 404


async def test_a_key_exists_once(key: Api) -> None:
    await create(key)
    await create(key, "OTHER")

    assert (await key.post(PATH, json={"key": "SUPPORT_URL"})).status_code == 409
    assert (await key.patch(f"{PATH}/OTHER", json={"key": "SUPPORT_URL"})).status_code == 409


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"key": "1A"}, "key"),
        ({"key": "A-B"}, "key"),
        ({"key": "A" * 257}, "key"),
        ({"key": "name"}, "key"),
        ({"key": "type"}, "key"),
        ({}, "key"),
        ({"key": "A", "type": "number"}, "type"),
        ({"key": "A", "values": [{"_environmentId": "here", "value": "x" * (MAX_VALUE + 1)}]}, "values.0.value"),
        ({"key": "A", "values": [{"_environmentId": "here", "value": SECRET_MASK}]}, "values.0.value"),
        (
            {"key": "A", "values": [{"_environmentId": "here", "value": text} for text in "xy"]},
            "values.1._environmentId",
        ),
    ],
)
async def test_what_is_no_variable_is_refused_with_the_field(key: Api, body: dict[str, Any], field: str) -> None:
    text = json.dumps(body).replace('"here"', json.dumps(id_text(key.environment.id)))

    response = await key.post(PATH, content=text, headers={"Content-Type": "application/json"})

    assert response.status_code == 422, response.text
    assert list(response.json()["errors"]) == [field]
    assert (await key.get(PATH)).json() == []


async def test_a_change_needs_a_field(key: Api) -> None:
    await create(key)

    assert (await key.patch(f"{PATH}/SUPPORT_URL", json={})).status_code == 400


async def test_an_organization_has_a_bounded_number_of_variables(key: Api) -> None:
    for number in range(MAX_VARIABLES):
        await create(key, f"KEY_{number}")

    refused = await key.post(PATH, json={"key": "ONE_MORE"})

    assert refused.status_code == 400
    assert refused.json()["ctx"] == {"currentCount": MAX_VARIABLES, "limit": MAX_VARIABLES}


async def test_an_unknown_environment_is_not_found(key: Api) -> None:
    values = [{"_environmentId": "01a1df28-0000-7000-8000-000000000001", "value": "x"}]

    assert (await key.post(PATH, json={"key": "A", "values": values})).status_code == 404


async def test_a_key_sets_and_sees_the_value_of_its_own_environment(key: Api, reaching: Api, site: Site) -> None:
    there = {"_environmentId": id_text(site.production.id), "value": "prod"}
    await create(reaching, values=[value(reaching, "dev"), there])

    set_there = await key.patch(f"{PATH}/SUPPORT_URL", json={"values": [there | {"value": "mine"}]})
    set_here = await key.patch(f"{PATH}/SUPPORT_URL", json={"values": [value(key, "new")]})

    assert (set_there.status_code, set_here.status_code) == (403, 200)
    assert "single environment" in set_there.json()["message"]
    assert values_of(set_here.json()) == {id_text(key.environment.id): "new"}
    assert "prod" not in (await key.get(PATH)).text
    assert values_of((await reaching.get(f"{PATH}/SUPPORT_URL")).json())[there["_environmentId"]] == "prod"


@pytest.mark.parametrize("change", [{"key": "OTHER"}, {"isSecret": True}, {"forCredentials": True}, None])
async def test_a_key_changes_nothing_in_another_environment(
    key: Api, production: Api, change: dict[str, Any] | None
) -> None:
    before = await create(production, values=[value(production, "prod")])
    path = f"{PATH}/SUPPORT_URL"

    response = await (key.delete(path) if change is None else key.patch(path, json=change))

    assert response.status_code == 403
    assert (await production.get(path)).json() == before


async def test_secret_values_are_shown_nowhere(key: Api) -> None:
    answers = [
        await key.post(PATH, json={"key": "TOKEN", "isSecret": True, "values": [value(key, "canary-1")]}),
        await key.patch(f"{PATH}/TOKEN", json={"values": [value(key, "canary-2")]}),
        await key.get(f"{PATH}/TOKEN"),
        await key.get(PATH),
        await key.get("/v1/audit-log"),
    ]

    assert [one.status_code for one in answers] == [200] * 5
    assert [one.text for one in answers if "canary" in one.text] == []
    assert values_of(answers[2].json()) == {id_text(key.environment.id): SECRET_MASK}


async def test_secret_values_are_not_shown_by_making_them_plain(key: Api, production: Api) -> None:
    await create(key, isSecret=True, values=[value(key, "canary")])
    path = f"{PATH}/SUPPORT_URL"

    refused = await key.patch(path, json={"isSecret": False})
    await production.patch(path, json={"values": [value(production, "canary")]})
    still = await key.patch(path, json={"isSecret": False, "values": [value(key, "plain")]})
    await production.patch(path, json={"values": [value(production, "x")]})

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == ["values"]
    assert still.status_code == 403


async def test_a_secret_variable_is_made_plain_with_new_values(key: Api) -> None:
    await create(key, isSecret=True, values=[value(key, "canary")])

    changed = await key.patch(f"{PATH}/SUPPORT_URL", json={"isSecret": False, "values": [value(key, "plain")]})

    assert values_of(changed.json()) == {id_text(key.environment.id): "plain"}
    assert "shows the new values" in changed.headers["clarion-warnings"]


async def test_a_repeated_request_that_renamed_or_deleted_is_answered_as_before(key: Api) -> None:
    await create(key)
    renaming, deleting = ({"Idempotency-Key": name} for name in ("renaming", "deleting"))

    renamed = [await key.patch(f"{PATH}/SUPPORT_URL", json={"key": "URL"}, headers=renaming) for _ in range(2)]
    deleted = [await key.delete(f"{PATH}/URL", headers=deleting) for _ in range(2)]

    assert renamed[0].json() == renamed[1].json()
    assert [one.status_code for one in (*renamed, *deleted)] == [200, 200, 204, 204]


async def test_the_audit_log_has_changes_without_values(key: Api, production: Api) -> None:
    await create(key, values=[value(key, "canary-1")])
    await key.patch(f"{PATH}/SUPPORT_URL", json={"values": [value(key, "canary-2")]})
    await key.patch(f"{PATH}/SUPPORT_URL", json={"values": [value(key, "canary-2")]})

    here, there = [(await one.get("/v1/audit-log")).json()["data"] for one in (key, production)]

    updates = [one for one in here if one["action"] == "environmentVariable.update"]
    assert [(one["before"], one["after"]) for one in updates] == [({"value": "********"}, {"value": "********"})]
    assert [one["action"] for one in there if "Variable" in one["action"]] == ["environmentVariable.create"]
    assert "canary" not in json.dumps([here, there])


@pytest.mark.parametrize(
    ("text", "is_used"),
    [
        ("{{env.SUPPORT_URL}}", True),
        ("{{ env['SUPPORT_URL'] }}", True),
        ("{{env.SUPPORT_URLS}}", False),
        ("{{payload.env.SUPPORT_URL}}", False),
        ("SUPPORT_URL", False),
    ],
)
async def test_usage_lists_workflows_of_the_environments_of_the_caller(key: Api, text: str, is_used: bool) -> None:
    await create(key)
    await make_workflow(key, steps=[step("sms", stepId="one", controlValues={"body": text})])

    used = (await key.get(f"{PATH}/SUPPORT_URL/usage")).json()

    expected = [{"name": "Order shipped", "workflowId": "order-shipped"}] if is_used else []
    assert used == {"workflows": expected, "layouts": [], "translations": [], "integrations": []}


async def test_usage_of_other_environments_is_for_those_who_reach_them(
    key: Api, reaching: Api, production: Api
) -> None:
    await create(key)
    await make_workflow(production, steps=[step("sms", controlValues={"body": "{{env.SUPPORT_URL}}"})])

    seen = [(await one.get(f"{PATH}/SUPPORT_URL/usage")).json()["workflows"] for one in (key, reaching)]

    assert [len(one) for one in seen] == [0, 1]


async def test_an_unknown_variable_is_an_issue_of_the_step(key: Api) -> None:
    await create(key, "SUPPORT_URL")

    made = await make_workflow(
        key, steps=[step("sms", controlValues={"body": "{{env.SUPPORT_URI}} {{env.SUPPORT_URL}} {{env.name}}"})]
    )
    await create(key, "SUPPORT_URI")
    later = (await key.get("/v2/workflows/order-shipped")).json()

    (issue,) = made["steps"][0]["issues"]["controls"]["body"]
    assert "'env.SUPPORT_URI' can never have a value" in issue["message"]
    assert "SUPPORT_URL" in issue["message"]
    assert "issues" not in later["steps"][0]


@pytest.mark.parametrize("role", list(Role))
async def test_members_see_and_change_values_where_their_role_allows_it(
    make_browser: SignIn, reaching: Api, site: Site, role: Role
) -> None:
    here, there = id_text(site.development.id), id_text(site.production.id)
    values = [{"_environmentId": here, "value": "dev"}, {"_environmentId": there, "value": "prod"}]
    await create(reaching, values=values)
    browser = await make_browser(role, site.development, {site.production.id: None})

    seen = await browser.get(f"{PATH}/SUPPORT_URL")
    own = await browser.patch(f"{PATH}/SUPPORT_URL", json={"values": [{"_environmentId": here, "value": "new"}]})
    other = await browser.patch(f"{PATH}/SUPPORT_URL", json={"values": [{"_environmentId": there, "value": "new"}]})
    deleted = await browser.delete(f"{PATH}/SUPPORT_URL")

    writes = role in (Role.ADMIN, Role.OWNER)
    assert values_of(seen.json()) == {here: "dev"}
    assert (own.status_code, other.status_code) == ((200, 404) if writes else (403, 403))
    assert deleted.status_code == 403


async def test_variables_for_credentials_are_secret_until_all_values_are_new(key: Api) -> None:
    path = f"{PATH}/SUPPORT_URL"
    refused = await key.post(
        PATH, json={"key": "SUPPORT_URL", "forCredentials": True, "isSecret": False, "values": [value(key, "canary")]}
    )
    made = await create(key, forCredentials=True, values=[value(key, "canary")])
    shown = [await key.patch(path, json=body) for body in ({"isSecret": False}, {"forCredentials": False})]
    changed = await key.patch(path, json={"forCredentials": False, "values": [value(key, "canary-2")]})

    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["isSecret"])
    assert (made["isSecret"], made["forCredentials"]) == (True, True)
    assert [list(one.json()["errors"]) for one in shown] == [["isSecret"], ["values"]]
    assert (changed.json()["isSecret"], changed.json()["forCredentials"]) == (True, False)
