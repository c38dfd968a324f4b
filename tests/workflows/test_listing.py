"""Lists of workflows, on both databases."""

from typing import Any

import pytest

from clarion.clock import ManualClock
from tests.support import Api
from tests.workflows.support import make_workflow, step


async def names(api: Api, **query: Any) -> list[str]:
    response = await api.get("/v2/workflows", params=query)
    assert response.status_code == 200, response.text
    return [one["workflowId"] for one in response.json()["workflows"]]


@pytest.fixture
async def three(api: Api, clock: ManualClock) -> None:
    await make_workflow(api, "b-first", name="Welcome Ärzte", tags=["mail", "new"])
    clock.move(1000)
    await make_workflow(api, "c-second", name="digest", tags=["mail"], active=False)
    clock.move(1000)
    await make_workflow(api, "a-third", name="Alarm 100%", steps=[step("sms", controlValues={})])
    clock.move(1000)


async def test_a_listed_workflow_is_returned_in_short(api: Api) -> None:
    made = await make_workflow(api, steps=[step("digest"), step("email", controlValues={})], tags=["x"])

    response = await api.get("/v2/workflows")

    (listed,) = response.json()["workflows"]
    same = ("_id", "workflowId", "slug", "name", "tags", "origin", "status", "createdAt", "updatedAt")
    assert {name: listed[name] for name in same} == {name: made[name] for name in same}
    assert listed["stepTypeOverviews"] == ["digest", "email"]
    assert [one["slug"] for one in listed["steps"]] == [one["slug"] for one in made["steps"]]
    assert listed["steps"][1]["issues"] == made["steps"][1]["issues"]
    assert response.json()["totalCount"] == 1


@pytest.mark.usefixtures("three")
async def test_the_newest_come_first_unless_asked_otherwise(api: Api) -> None:
    assert await names(api) == ["a-third", "c-second", "b-first"]
    assert await names(api, orderDirection="ASC") == ["b-first", "c-second", "a-third"]
    assert await names(api, orderBy="name", orderDirection="ASC") == ["a-third", "c-second", "b-first"]
    await api.patch("/v2/workflows/b-first", json={"description": "changed"})
    assert await names(api, orderBy="updatedAt") == ["b-first", "a-third", "c-second"]


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"query": "FIRST"}, ["b-first"]),
        ({"query": "äRZ"}, ["b-first"]),
        ({"query": "0%"}, ["a-third"]),
        ({"query": "_"}, []),
        ({"tags": "mail"}, ["c-second", "b-first"]),
        ({"tags": ["new", "other"]}, ["b-first"]),
        ({"status": "ACTIVE"}, ["b-first"]),
        ({"status": "INACTIVE"}, ["c-second"]),
        ({"status": ["ERROR", "INACTIVE"]}, ["a-third", "c-second"]),
        ({"status": "ACTIVE", "tags": "nothing"}, []),
    ],
)
async def test_filters_narrow_the_list_and_its_total(api: Api, query: dict[str, Any], found: list[str]) -> None:
    assert await names(api, **query) == found
    assert (await api.get("/v2/workflows", params=query)).json()["totalCount"] == len(found)


@pytest.mark.usefixtures("three")
async def test_pages_are_cut_by_offset(api: Api) -> None:
    assert await names(api, limit="2.0", offset="0") == ["a-third", "c-second"]
    assert await names(api, limit=2, offset=2) == ["b-first"]
    assert await names(api, limit=2, offset=3) == []
    assert (await api.get("/v2/workflows?limit=1&offset=1")).json()["totalCount"] == 3


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=101", "offset=-1", "orderBy=steps", "orderDirection=UP", "status=BROKEN"]
)
async def test_a_bad_parameter_is_named(api: Api, query: str) -> None:
    response = await api.get(f"/v2/workflows?{query}")

    assert (response.status_code, list(response.json()["errors"])) == (422, [query.partition("=")[0]])


@pytest.mark.usefixtures("three")
async def test_another_environments_workflows_are_not_listed(other_api: Api) -> None:
    assert (await other_api.get("/v2/workflows")).json() == {"workflows": [], "totalCount": 0}
