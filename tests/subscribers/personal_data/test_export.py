"""The export of a person's data: pages, and who may read it."""

from typing import Any

import pytest

from clarion.clock import HOUR
from clarion.db.port import Database
from clarion.vocabulary import Scope
from tests.engine.support import World
from tests.subscribers.personal_data.support import KEY, export_all, make_history, post
from tests.support import Api, MakeApi


@pytest.mark.parametrize("limit", [1, 7])
async def test_pages_of_any_size_have_every_item_once_and_in_order(
    world: World, database: Database, limit: int
) -> None:
    await make_history(world, database)
    await world.work(after=HOUR)

    whole = await export_all(world.api, KEY)

    assert await export_all(world.api, KEY, limit) == whole
    kinds = [one["kind"] for one in whole]
    assert kinds == sorted(kinds, key=kinds.index)
    assert len({str(one) for one in whole}) == len(whole)


async def test_a_page_of_large_items_is_short(api: Api, world: World) -> None:
    await world.make_workflow({"name": "Inbox", "type": "in_app", "controlValues": {"body": "x"}})
    for number in range(24):
        await world.trigger("ada", payload={"text": f"{number}" + "x" * 200_000})
    await world.work()

    response = await api.get("/v2/subscribers/ada/export", params={"limit": 1000})
    runs = [one for one in await export_all(api, "ada") if one["kind"] == "run"]

    assert response.json()["next"] is not None
    assert len(response.content) < 5 * 1024 * 1024
    assert len(runs) == 24


async def test_items_are_named_as_in_the_api(api: Api) -> None:
    await post(api, "/v2/subscribers", {"subscriberId": "ada", "firstName": "Ada", "data": {"plan": "pro"}})

    (item,) = await export_all(api, "ada")

    assert item["kind"] == "subscriber"
    assert item["data"] | {"_id": ""} == {
        "_id": "",
        "subscriberId": "ada",
        "firstName": "Ada",
        "data": {"plan": "pro"},
        "isOnline": False,
        "version": 0,
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z",
    }


async def test_an_export_needs_the_scopes_of_all_that_it_has(api: Api, make_api: MakeApi) -> None:
    await post(api, "/v2/subscribers", {"subscriberId": "ada"})
    reader = await make_api(scopes=frozenset({Scope.SUBSCRIBERS_READ, Scope.MESSAGES_READ}))

    response = await reader.get("/v2/subscribers/ada/export")

    assert response.status_code == 403
    assert response.json()["ctx"]["missingScopes"] == ["topics:read", "preferences:read", "events:read"]


@pytest.mark.parametrize("after", ["nonsense", "kgGRAQ", "k", "8J", "kmRhYmM"])
async def test_a_cursor_that_is_not_of_an_export_is_refused(api: Api, after: str) -> None:
    await post(api, "/v2/subscribers", {"subscriberId": "ada"})

    response = await api.get("/v2/subscribers/ada/export", params={"after": after})

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["after"]


async def test_an_unknown_person_is_not_found(api: Api, other_api: Api) -> None:
    await post(other_api, "/v2/subscribers", {"subscriberId": "ada"})
    missing: list[Any] = [await api.get("/v2/subscribers/ada/export"), await api.get("/v2/subscribers/x/export")]

    assert [one.status_code for one in missing] == [404, 404]
