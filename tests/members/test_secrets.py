"""Secrets are write-only for members of the team: no answer shows one, whatever their scopes."""

import httpx
import pytest

from clarion.vocabulary import Role
from tests.integrations.support import PATH, SENDGRID, make_integration
from tests.integrations.test_secrets import MASK, SECRET
from tests.members.support import SignIn
from tests.support import Api, Site


@pytest.fixture
async def member(make_browser: SignIn, site: Site) -> httpx.AsyncClient:
    return await make_browser(Role.OWNER, site.development)


async def test_no_answer_shows_a_secret_to_a_member(api: Api, member: httpx.AsyncClient) -> None:
    body = {"providerId": "sendgrid", "channel": "email", "credentials": SENDGRID, "active": True}
    made = await member.post(PATH, json=body)
    path = f"{PATH}/{made.json()['_id']}"

    answers = [
        made,
        await member.get(PATH),
        await member.get(f"{PATH}/active"),
        await member.get(path),
        await member.get(f"{path}/health"),
        await member.put(path, json={"name": "News"}),
        await member.post(f"{path}/set-primary"),
        await member.put(f"{PATH}/order", json={"channel": "email", "integrationIds": [made.json()["_id"]]}),
        await member.get("/v1/audit-log"),
        await member.delete(f"{PATH}/{(await make_integration(api))['_id']}"),
    ]

    assert [one.status_code for one in answers] == [201, *[200] * 9]
    assert [one.text for one in answers if SECRET in one.text] == []
    assert made.json()["credentials"] == SENDGRID | {"apiKey": MASK}


async def test_a_member_who_sends_the_mask_back_keeps_the_secret(api: Api, member: httpx.AsyncClient) -> None:
    made = await make_integration(api)
    shown = (await member.get(f"{PATH}/{made['_id']}")).json()["credentials"]

    changed = shown | {"from": "other@example.com"}
    answer = await member.put(f"{PATH}/{made['_id']}", json={"credentials": changed})

    assert (answer.status_code, answer.json()["credentials"]) == (200, changed)
    stored = (await api.get(f"{PATH}/{made['_id']}")).json()["credentials"]
    assert stored == SENDGRID | {"from": "other@example.com"}


async def test_a_member_replaces_a_secret_without_seeing_it(api: Api, member: httpx.AsyncClient) -> None:
    made = await make_integration(api)

    answer = await member.put(f"{PATH}/{made['_id']}", json={"credentials": SENDGRID | {"apiKey": "SG.new"}})

    assert "SG.new" not in answer.text
    assert (await api.get(f"{PATH}/{made['_id']}")).json()["credentials"]["apiKey"] == "SG.new"
