"""How much people may store by themselves, with and without proof of who they are."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from clarion.inbox.sessions.quota import PROVEN, UNPROVEN
from clarion.settings.model import Settings
from tests.inbox.conftest import MakePerson, Person
from tests.inbox.test_sessions import Page, page, set_hmac, sign
from tests.inbox.topic_support import OWN, make_workflow, problems, subscribe
from tests.support import Api

__all__ = ["page"]

MAX_UNPROVEN = 3
RULE = {"workflowId": "first", "condition": {"==": [{"var": "payload.x"}, "x" * 900]}}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, unproven_subscribers=MAX_UNPROVEN)


def person(key: str, **fields: Any) -> dict[str, Any]:
    return {"subscriber": {"subscriberId": key, **fields}}


def large_schedule(ranges: int) -> dict[str, Any]:
    hours = [{"start": "09:00 AM", "end": "05:00 PM"}] * ranges
    days = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    return {"isEnabled": True, "weeklySchedule": {day: {"isEnabled": True, "hours": hours} for day in days}}


async def test_without_proof_few_people_are_created(page: Page, api: Api) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "known"})
    begun = [await page.begin(**person(f"p{number}")) for number in range(MAX_UNPROVEN + 1)]

    assert [one.status_code for one in begun] == [201] * MAX_UNPROVEN + [422]
    assert problems(begun[-1]) == ["subscriber.subscriberId"]
    assert "hmac" in begun[-1].text
    assert [(await page.begin(**person(key))).status_code for key in ("p0", "known")] == [201, 201]
    assert (await api.get(f"/v2/subscribers/p{MAX_UNPROVEN}")).status_code == 404


async def test_people_whom_the_application_takes_over_or_deletes_make_room(page: Page, api: Api) -> None:
    async def status(key: str) -> int:
        return (await page.begin(**person(key), defaultSchedule=large_schedule(1))).status_code

    assert [await status(f"p{number}") for number in range(MAX_UNPROVEN)] == [201] * MAX_UNPROVEN
    assert await status("new-1") == 422
    await api.patch("/v2/subscribers/p0", json={"firstName": "Ada"})
    assert [await status(key) for key in ("new-1", "new-2")] == [201, 422]
    await api.delete("/v2/subscribers/p1")
    assert [await status(key) for key in ("new-2", "new-3")] == [201, 422]


async def test_with_proof_as_many_people_are_created_as_there_are(page: Page, api: Api) -> None:
    await set_hmac(api)

    begun = [
        await page.begin(**person(f"p{number}"), subscriberHash=sign(api.key, f"p{number}"))
        for number in range(MAX_UNPROVEN + 2)
    ]

    assert {one.status_code for one in begun} == {201}


async def test_the_fields_that_a_session_stores_are_small(page: Page, api: Api) -> None:
    large = {"data": {"x": "x" * UNPROVEN.field_bytes}}
    too_large = {"data": {"x": "x" * PROVEN.field_bytes}}

    refused = await page.begin(**person("ada", **large))
    assert problems(refused) == ["subscriber"]
    assert (await api.get("/v2/subscribers/ada")).status_code == 404
    assert (await page.begin(**person("ada", firstName="Ada", data={"plan": "gold"}))).status_code == 201
    assert (await page.begin(**person("ada", **large))).status_code == 201, "nothing of somebody known is stored"
    await set_hmac(api)
    proof = {"subscriberHash": sign(api.key, "ada")}
    assert (await page.begin(**person("ada", **large), **proof)).status_code == 201
    assert (await api.get("/v2/subscribers/ada")).json()["data"] == large["data"]
    assert problems(await page.begin(**person("ada", **too_large), **proof)) == ["subscriber"]


async def test_schedules_are_small(page: Page, make_person: MakePerson) -> None:
    stranger, ada = await make_person("ben", is_proven=False), await make_person("ada")
    path = "/v1/inbox/preferences"

    async def set_schedule(client: httpx.AsyncClient, ranges: int) -> httpx.Response:
        return await client.patch(path, json={"schedule": large_schedule(ranges)})

    assert problems(await page.begin(**person("new"), defaultSchedule=large_schedule(12))) == ["defaultSchedule"]
    assert problems(await set_schedule(stranger, 12)) == ["schedule"]
    assert (await set_schedule(stranger, 3)).status_code == 200
    assert (await set_schedule(ada, 12)).status_code == 200


async def test_without_proof_the_rules_of_all_subscriptions_are_small(make_person: MakePerson, api: Api) -> None:
    await make_workflow(api, "first")
    stranger, ada = await make_person("ben", is_proven=False), await make_person("ada")
    for number in range(4):
        for one in (stranger, ada):
            await subscribe(one, identifier=f"s{number}", preferences=[RULE] * 2)

    more = {"identifier": "more", "preferences": [RULE]}
    assert problems(await stranger.post(OWN, json=more)) == ["preferences"]
    assert problems(await stranger.patch(f"{OWN}/s0", json={"preferences": [RULE] * 3})) == ["preferences"]
    bulk = [{"subscriptionIdentifier": "s0", "workflowId": "first", "condition": {"==": ["y" * 950, 1]}}]
    assert (await stranger.patch("/v1/inbox/preferences/bulk", json={"preferences": bulk})).status_code == 200
    assert (await ada.post(OWN, json=more)).status_code == 201
    assert (await stranger.patch(f"{OWN}/s0", json={"preferences": []})).status_code == 200
    assert (await stranger.post(OWN, json=more)).status_code == 201


async def test_without_proof_subscriptions_are_few(make_person: MakePerson, api: Api) -> None:
    stranger = await make_person("ben", is_proven=False)
    for topic in range(UNPROVEN.subscriptions // 10 + 1):
        await api.post("/v2/topics", json={"key": f"t{topic}", "isOpen": True})
    places = [(topic, number) for topic in range(UNPROVEN.subscriptions // 10) for number in range(10)]
    for topic, number in places:
        await subscribe(stranger, topic=f"t{topic}", identifier=f"s{number}")

    refused = await stranger.post(f"/v1/inbox/topics/t{UNPROVEN.subscriptions // 10}/subscriptions", json={})

    assert problems(refused) == ["preferences"]
    assert "100 subscriptions" in refused.text


async def test_who_has_more_than_is_allowed_may_still_have_less(make_person: MakePerson, api: Api) -> None:
    await make_workflow(api, "first")
    ada = await make_person("ada")
    await subscribe(ada, identifier="large", preferences=[RULE] * 12)
    stranger: Person = await make_person("ada", is_proven=False)

    assert (await stranger.patch(f"{OWN}/large", json={"preferences": [RULE] * 11})).status_code == 200
    assert problems(await stranger.patch(f"{OWN}/large", json={"preferences": [RULE] * 12})) == ["preferences"]
