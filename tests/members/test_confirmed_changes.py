"""Members who change an active workflow of Production show that they have looked at what it means."""

from typing import Any

import pytest

from clarion.clock import MINUTE, ManualClock
from clarion.vocabulary import Role
from tests.engine.support import in_app, step
from tests.members.support import Browser, SignIn
from tests.support import Api, Site

PATH = "/v2/workflows/welcome"
IMPACT = "/v1/workflows/welcome/impact"
OLD, NEW = [in_app("old")], [in_app("new"), step("delay", "Wait", amount=1, unit="hours")]


class Office:
    """A member, and an active workflow of each environment."""

    def __init__(self, browser: Browser, site: Site, apis: dict[str, Api]) -> None:
        self._browser, self._apis = browser, apis
        self._site = site

    async def call(self, method: str, path: str, *, environment: str = "production", **body: Any) -> Any:
        name = getattr(self._site, environment).identifier
        return await self._browser.request(method, path, json=body, headers={"Clarion-Environment": name})

    async def save(self, steps: list[dict[str, Any]], *, environment: str = "production", **fields: Any) -> Any:
        return await self.call("PUT", PATH, environment=environment, name="Welcome", steps=steps, **fields)

    async def look(self, steps: list[dict[str, Any]]) -> str:
        response = await self.call("POST", IMPACT, steps=steps)
        assert response.status_code == 200, response.text
        return str(response.json()["confirmToken"])


@pytest.fixture
async def office(make_browser: SignIn, site: Site, api: Api, other_api: Api) -> Office:
    for one in (api, other_api):
        body = {"name": "Welcome", "workflowId": "welcome", "steps": OLD, "active": True}
        assert (await one.post("/v2/workflows", json=body)).status_code == 201
    return Office(await make_browser(Role.AUTHOR), site, {"development": api, "production": other_api})


async def test_a_member_saves_an_active_workflow_of_production_with_the_token_of_its_impact(office: Office) -> None:
    refused = await office.save(NEW)
    saved = await office.save(NEW, confirmToken=await office.look(NEW))

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == ["confirmToken"]
    assert "/impact" in str(refused.json())
    assert (saved.status_code, saved.json()["version"]) == (200, 2)


async def test_a_token_is_for_exactly_the_steps_that_were_looked_at(office: Office) -> None:
    token = await office.look(NEW)

    for steps in ([in_app("newer"), NEW[1]], NEW[:1], list(reversed(NEW)), OLD):
        response = await office.save(steps, confirmToken=token)
        assert response.status_code == 422
        assert "is for other steps" in str(response.json()["errors"]["confirmToken"])


async def test_a_token_ends_when_somebody_else_saves_and_after_fifteen_minutes(
    office: Office, other_api: Api, clock: ManualClock
) -> None:
    first = await office.look(NEW)
    other = {"name": "Welcome", "steps": [in_app("other")]}
    assert (await other_api.put(PATH, json=other)).status_code == 200
    second = await office.look(NEW)
    changed = await office.save(NEW, confirmToken=first)
    clock.move(15 * MINUTE)
    late = await office.save(NEW, confirmToken=second)

    assert "has changed since" in str(changed.json()["errors"]["confirmToken"])
    assert "15 minutes" in str(late.json()["errors"]["confirmToken"])
    assert (await office.save(NEW, confirmToken=await office.look(NEW))).status_code == 200


@pytest.mark.parametrize("token", ["", "x", "9" * 15 + ".x", "9" * 400, "-1.x", "9999999999999.é", "9999999999999."])
async def test_a_made_up_token_is_refused_whoever_sends_it(office: Office, other_api: Api, token: str) -> None:
    body = {"name": "Welcome", "steps": NEW, "confirmToken": token}

    assert (await office.save(NEW, confirmToken=token)).status_code == 422
    assert (await other_api.put(PATH, json=body)).status_code == 422


async def test_keys_development_inactive_workflows_and_other_fields_need_no_token(
    office: Office, other_api: Api
) -> None:
    assert (await office.save(NEW, environment="development")).status_code == 200
    assert (await office.save(OLD, tags=["x"])).status_code == 200, "the steps are the same"
    assert (await other_api.put(PATH, json={"name": "Welcome", "steps": NEW})).status_code == 200
    assert (await other_api.patch(PATH, json={"active": False})).status_code == 200
    assert (await office.save(OLD)).status_code == 200


async def test_a_token_of_another_environment_is_not_for_this_one(office: Office) -> None:
    response = await office.call("POST", IMPACT, environment="development", steps=NEW)

    refused = await office.save(NEW, confirmToken=response.json()["confirmToken"])

    assert refused.status_code == 422
