"""Contexts through HTTP, on both databases."""

from typing import Any

import pytest

from clarion.clock import ManualClock
from clarion.contexts.model import MAX_DATA_BYTES
from clarion.vocabulary import Scope
from tests.support import Api, MakeApi


async def create(api: Api, kind: str = "tenant", key: str = "acme", **fields: Any) -> dict[str, Any]:
    response = await api.post("/v2/contexts", json={"type": kind, "id": key, **fields})
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def test_a_new_context_is_retrieved_as_created(api: Api) -> None:
    made = await create(api, data={"name": "Acme"})

    assert (await api.get("/v2/contexts/tenant/acme")).json() == made
    assert made == {
        "type": "tenant",
        "id": "acme",
        "data": {"name": "Acme"},
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z",
    }


async def test_a_context_without_data_has_an_empty_object(api: Api) -> None:
    assert (await create(api))["data"] == {}


async def test_a_context_exists_once(api: Api) -> None:
    await create(api, data={"name": "Acme"})

    again = await api.post("/v2/contexts", json={"type": "tenant", "id": "acme", "data": {"name": "Other"}})

    assert again.status_code == 409
    assert (await api.get("/v2/contexts/tenant/acme")).json()["data"] == {"name": "Acme"}


async def test_data_is_replaced_as_a_whole(api: Api, clock: ManualClock) -> None:
    made = await create(api, data={"name": "Acme", "plan": "pro"})
    clock.move(1000)

    changed = await api.patch("/v2/contexts/tenant/acme", json={"data": {"name": "Acme Ltd"}})

    assert changed.json() == made | {"data": {"name": "Acme Ltd"}, "updatedAt": "2026-01-01T00:00:01.000Z"}
    assert (await api.get("/v2/contexts/tenant/acme")).json() == changed.json()


async def test_a_deleted_context_is_gone(api: Api) -> None:
    await create(api)

    assert (await api.delete("/v2/contexts/tenant/acme")).status_code == 204
    for method in ("get", "delete"):
        assert (await getattr(api, method)("/v2/contexts/tenant/acme")).status_code == 404
    assert (await api.patch("/v2/contexts/tenant/acme", json={"data": {}})).status_code == 404


@pytest.mark.parametrize("key", ["a.b", "a:b@c+d=e", "A_b-1", "9", "..."])
async def test_ids_are_those_that_triggers_take(api: Api, key: str) -> None:
    await create(api, key=key)

    assert (await api.get(f"/v2/contexts/tenant/{key}")).json()["id"] == key


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"type": "a/b", "id": "x"}, "type"),
        ({"type": "a.b", "id": "x"}, "type"),
        ({"type": "", "id": "x"}, "type"),
        ({"type": "tenant", "id": "a/b"}, "id"),
        ({"type": "tenant", "id": ".."}, "id"),
        ({"type": "tenant", "id": "x" * 101}, "id"),
        ({"type": "tenant", "id": "x", "data": []}, "data"),
        ({"type": "tenant", "id": "x", "data": {"text": "x" * MAX_DATA_BYTES}}, "data"),
        ({"type": "tenant"}, "id"),
    ],
)
async def test_what_is_no_context_is_refused_with_the_field(api: Api, body: dict[str, Any], field: str) -> None:
    response = await api.post("/v2/contexts", json=body)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == [field]


async def test_data_may_have_64_kilobytes(api: Api) -> None:
    data = {"text": "x" * (MAX_DATA_BYTES - len('{"text":""}'))}

    await create(api, data=data)
    too_much = await api.patch("/v2/contexts/tenant/acme", json={"data": {"text": data["text"] + "x"}})

    assert too_much.status_code == 422


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["app:shop", "tenant:beta", "tenant:acme"]),
        ("?type=tenant", ["tenant:beta", "tenant:acme"]),
        ("?id=acme", ["tenant:acme"]),
        ("?type=app&id=acme", []),
        ("?search=ANT%3Aac", ["tenant:acme"]),
        ("?search=%25", []),
        ("?orderBy=createdAt&orderDirection=ASC", ["tenant:acme", "tenant:beta", "app:shop"]),
        ("?orderBy=updatedAt", ["tenant:acme", "app:shop", "tenant:beta"]),
    ],
)
async def test_contexts_are_listed_by_filters(api: Api, clock: ManualClock, query: str, found: list[str]) -> None:
    for kind, key in (("tenant", "acme"), ("tenant", "beta"), ("app", "shop")):
        clock.move(1000)
        await create(api, kind, key)
    clock.move(1000)
    await api.patch("/v2/contexts/tenant/acme", json={"data": {"changed": True}})

    page = (await api.get(f"/v2/contexts{query}")).json()

    assert [f"{one['type']}:{one['id']}" for one in page["data"]] == found
    assert page["totalCount"] == len(found)


async def test_a_list_has_pages(api: Api) -> None:
    for number in range(3):
        await create(api, key=f"t{number}")

    first = (await api.get("/v2/contexts?limit=2")).json()
    second = (await api.get(f"/v2/contexts?limit=2&after={first['next']}")).json()

    assert [one["id"] for one in first["data"] + second["data"]] == ["t2", "t1", "t0"]


async def test_the_neighbour_has_contexts_of_its_own(api: Api, other_api: Api) -> None:
    await create(api, data={"name": "Acme"})

    await create(other_api, data={"name": "Another Acme"})

    assert (await api.get("/v2/contexts/tenant/acme")).json()["data"] == {"name": "Acme"}


async def test_a_key_needs_the_scopes(make_api: MakeApi) -> None:
    reader = await make_api(scopes={Scope.CONTEXTS_READ})
    other = await make_api(scopes={Scope.TOPICS_WRITE})

    assert (await reader.get("/v2/contexts")).status_code == 200
    assert (await reader.post("/v2/contexts", json={"type": "tenant", "id": "acme"})).status_code == 403
    assert (await other.get("/v2/contexts")).status_code == 403
