"""No answer to a member's session shows a secret: not of an integration, an API key, a webhook, or of a member."""

from typing import Any

import pytest

from clarion.db.port import Database
from clarion.http.operation import Operation
from clarion.ids import id_text
from clarion.members.actions import create_reset_link
from clarion.operations import OPERATIONS
from clarion.providers.definition.fields import list_fields
from clarion.providers.registry import PROVIDERS
from clarion.vocabulary import Role
from tests.contract.test_isolation import BODIES, MISSING, QUERIES, fill, theirs
from tests.members.support import PASSWORD, Browser, SignIn
from tests.support import Api, Site

__all__ = ["theirs"]

CANARY = "canary-7f3a"
READS = {("POST", "/v2/environments/{targetEnvironmentId}/diff")}
"""Operations that are no GET and change nothing."""


async def _make_integrations(api: Api) -> None:
    """An integration of each provider, with a canary in each secret."""
    for provider in PROVIDERS.values():
        secrets = {one.name: f"{CANARY}-{provider.id}-{one.name}" for one in list_fields(provider) if one.secret}
        body = {"providerId": provider.id, "channel": provider.channel, "credentials": secrets}
        await api.post("/v1/integrations", json=body)


@pytest.fixture
async def canaries(
    other_api: Api, theirs: dict[str, str], password_hash: str, make_browser: SignIn, database: Database
) -> list[str]:
    """Secrets of everything in Production that has one."""
    await _make_integrations(other_api)
    key = (await other_api.post("/v1/environments/api-keys", json={"name": "Canary"})).json()["key"]
    endpoint = (await other_api.post("/v1/webhooks/endpoints", json={"url": "http://127.0.0.1:9/"})).json()
    rotated = await other_api.post(f"/v1/webhooks/endpoints/{theirs['endpointId']}/rotate-secret")
    member = await make_browser(Role.OWNER)
    link = await database.transaction(lambda db: create_reset_link(db, member.member, member.member.created_at))
    return [
        CANARY,
        key,
        endpoint["secret"],
        rotated.json()["secret"],
        password_hash,
        member.token,
        link.token,
        PASSWORD,
    ]


def _is_read(operation: Operation) -> bool:
    return operation.method == "GET" or (operation.method, operation.path) in READS


async def _read(browser: Browser, operation: Operation, values: dict[str, str]) -> tuple[int, str]:
    route = (operation.method, operation.path)
    response = await browser.request(
        operation.method, fill(operation.path, values), json=BODIES.get(route), params=QUERIES.get(route)
    )
    return response.status_code, response.text


async def test_no_answer_to_a_session_has_a_secret(
    make_browser: SignIn, site: Site, theirs: dict[str, str], canaries: list[str], other_api: Api
) -> None:
    browsers = [await make_browser(role, site.production) for role in Role]
    own = {**theirs, "environmentId": id_text(site.production.id), "targetEnvironmentId": id_text(site.production.id)}
    answered = 0

    for operation in OPERATIONS:
        if not _is_read(operation) or operation.is_for_subscribers:
            continue
        for browser in browsers:
            status, text = await _read(browser, operation, MISSING | own)
            answered += status == 200
            shown = [one for one in canaries if one in text]
            assert shown == [], f"{operation.method} {operation.path}"
    assert answered > 100
    # A key that may see them does.
    assert (await other_api.get("/v1/integrations")).text.count(CANARY) > 50


@pytest.mark.parametrize("role", [Role.ADMIN, Role.OWNER])
async def test_changes_of_integrations_do_not_answer_with_their_secrets(
    make_browser: SignIn, site: Site, api: Api, role: Role
) -> None:
    browser = await make_browser(role, site.development)
    body: dict[str, Any] = {
        "providerId": "sendgrid",
        "channel": "email",
        "credentials": {"apiKey": CANARY, "from": "a@example.com"},
    }

    made = await browser.post("/v1/integrations", json=body)
    path = f"/v1/integrations/{made.json()['_id']}"
    answers = [
        made,
        await browser.put(path, json={"name": "Mail", "active": True, "credentials": made.json()["credentials"]}),
        await browser.post(f"{path}/set-primary"),
        await browser.get("/v1/audit-log"),
    ]
    kept = next(one for one in (await api.get("/v1/integrations")).json() if one["_id"] == made.json()["_id"])
    answers.append(await browser.delete(path))

    assert all(one.is_success for one in answers)
    assert not any(CANARY in one.text for one in answers)
    assert kept["credentials"]["apiKey"] == CANARY
