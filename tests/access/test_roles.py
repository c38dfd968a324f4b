"""Each role with each operation in each environment, generated from the list of all operations."""

import pytest

from clarion.http.operation import Operation
from clarion.ids import id_text
from clarion.members.model import SCOPES
from clarion.operations import OPERATIONS
from clarion.vocabulary import Role, Scope
from tests.contract.test_isolation import (
    BODIES,
    CANCELS,
    MISSING,
    QUERIES,
    addressed,
    anonymous,
    everything,
    fill,
    theirs,
)
from tests.members.support import Browser, SignIn
from tests.support import Api, Site

__all__ = ["theirs"]

WITH_SCOPE = [one for one in OPERATIONS if one.scope is not None]


async def call(browser: Browser, operation: Operation, values: dict[str, str] = MISSING) -> tuple[int, str]:
    """Call an operation; with ids that do not exist it gets as far as it can without changing anything."""
    route = (operation.method, operation.path)
    response = await browser.request(
        operation.method, fill(operation.path, values), json=BODIES.get(route), params=QUERIES.get(route)
    )
    return response.status_code, response.text


@pytest.mark.parametrize("role", list(Role))
async def test_each_operation_is_open_to_the_roles_with_its_scope(make_browser: SignIn, site: Site, role: Role) -> None:
    """The role in the environment of the request counts, whatever the role is elsewhere."""
    other = Role.VIEWER if role is Role.OWNER else Role.OWNER
    plain = await make_browser(role, site.development)
    mixed = await make_browser(other, site.development, {site.development.id: role})

    for operation in WITH_SCOPE:
        for browser, general in ((plain, role), (mixed, other)):
            status, text = await call(browser, operation)
            is_allowed = _is_allowed(operation, role, general)
            assert (status != 403) is is_allowed, (
                f"{role}, {general} elsewhere: {operation.method} {operation.path} {text}"
            )


def _is_allowed(operation: Operation, role: Role, general: Role) -> bool:
    assert operation.scope is not None
    # Members belong to the organization, not to an environment.
    counted = general if operation.scope.startswith("members:") else role
    scopes = {operation.scope, *operation.also}
    return scopes <= SCOPES[counted] and (not operation.is_for_owners or general is Role.OWNER)


async def test_no_operation_is_open_in_an_environment_without_access(make_browser: SignIn, site: Site) -> None:
    browser = await make_browser(Role.OWNER, site.production, {site.production.id: None})

    for operation in WITH_SCOPE:
        status, _ = await call(browser, operation)
        assert status == 403, f"{operation.method} {operation.path}"


async def test_operations_of_subscribers_are_not_open_to_members(make_browser: SignIn, site: Site) -> None:
    browser = await make_browser(Role.OWNER, site.development)

    for operation in OPERATIONS:
        if operation.is_for_subscribers:
            response = await browser.request(operation.method, operation.path)
            assert response.status_code == 401, f"{operation.method} {operation.path}"


async def test_operations_of_members_need_a_session(api: Api) -> None:
    for operation in OPERATIONS:
        if operation.is_for_members:
            path = fill(operation.path, MISSING | {"sessionId": "missing"})
            response = await api.request(operation.method, path)
            assert response.status_code == 401, f"{operation.method} {operation.path}"


async def test_a_member_of_one_environment_finds_nothing_of_another(
    make_browser: SignIn, site: Site, other_api: Api, theirs: dict[str, str]
) -> None:
    """The environments themselves included, which a key with the scope may change."""
    browser = await make_browser(Role.OWNER, site.development, {site.production.id: None})
    there = {**theirs, **dict.fromkeys(("environmentId", "targetEnvironmentId"), id_text(site.production.id))}
    before = await everything(other_api)

    for operation in addressed():
        if operation.scope is None:
            continue
        expected = 200 if (operation.method, operation.path) == CANCELS else 404
        found, missing = await call(browser, operation, there), await call(browser, operation)
        assert found[0] == missing[0] == expected, f"{operation.method} {operation.path}: {found} {missing}"
        names = [name for name, _ in operation.path_kinds if name not in ("providerId", "actionType", "channel")]
        texts = [
            anonymous(text, {name: values[name] for name in names}, fill(operation.path, values))
            for (_, text), values in ((found, there), (missing, MISSING))
        ]
        assert texts[0] == texts[1]
    assert await everything(other_api) == before


async def test_lists_of_one_environment_name_nothing_of_another(
    make_browser: SignIn, site: Site, theirs: dict[str, str]
) -> None:
    browser = await make_browser(Role.OWNER, site.development, {site.production.id: None})

    for operation in OPERATIONS:
        if operation.method != "GET" or operation.path_kinds or not (operation.scope or operation.is_for_members):
            continue
        _, text = await call(browser, operation)
        for secret in (site.production.identifier, id_text(site.production.id), theirs["messageId"], "tx-theirs"):
            assert secret not in text, f"GET {operation.path}"


def test_the_roles_build_on_each_other_and_none_sees_secrets() -> None:
    viewer, author, admin, owner = (SCOPES[one] for one in (Role.VIEWER, Role.AUTHOR, Role.ADMIN, Role.OWNER))

    assert viewer < author < admin <= owner
    assert all(one.endswith(":read") for one in viewer)
    assert not author & {Scope.INTEGRATIONS_WRITE, Scope.ENVIRONMENTS_WRITE, Scope.WEBHOOKS_WRITE, Scope.MEMBERS_WRITE}
    assert set(Scope) - owner == {Scope.ALL, Scope.INTEGRATIONS_SECRETS, Scope.ORGANIZATION_REACH}
