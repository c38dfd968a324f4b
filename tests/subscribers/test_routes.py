"""Subscribers through HTTP, on both databases."""

import asyncio
from typing import Any

import pytest

from clarion.clock import ManualClock
from tests.support import Api

FIELDS: dict[str, Any] = {
    "firstName": "Ada",
    "lastName": "Lovelace",
    "email": "ada@example.com",
    "phone": "+441632960000",
    "avatar": "https://example.com/ada.png",
    "locale": "en-GB",
    "timezone": "Europe/London",
    "data": {"plan": "pro", "nested": {"list": [1, 2.5, "x", None, True]}},
}


async def make_subscriber(api: Api, key: str = "ada", **fields: Any) -> dict[str, Any]:
    response = await api.post("/v2/subscribers", json={"subscriberId": key, **fields})
    assert response.status_code == 201
    created: dict[str, Any] = response.json()
    return created


async def test_a_created_subscriber_is_retrieved_with_every_field(api: Api) -> None:
    created = await make_subscriber(api, **FIELDS)
    found = await api.get("/v2/subscribers/ada")

    assert found.status_code == 200
    assert found.json() == created
    assert {name: created[name] for name in FIELDS} == FIELDS
    assert created["subscriberId"] == "ada"
    assert created["deleted"] is False
    assert created["createdAt"] == created["updatedAt"] == "2026-01-01T00:00:00.000Z"


async def test_unset_fields_are_null_in_v2_and_absent_in_v1(api: Api) -> None:
    created = await make_subscriber(api)
    online = (await api.patch("/v1/subscribers/ada/online-status", json={"isOnline": True})).json()

    for name in (*FIELDS, "lastOnlineAt"):
        assert created[name] is None
        assert name not in online
    assert (created["isOnline"], created["channels"], created["__v"]) == (False, [], 0)
    assert online["isOnline"] is True


async def test_omitted_is_unchanged_null_clears_and_data_is_replaced_whole(api: Api, clock: ManualClock) -> None:
    await make_subscriber(api, **FIELDS)
    clock.move(1000)

    changed = (await api.patch("/v2/subscribers/ada", json={"phone": None, "data": {"only": 1}})).json()

    assert changed["phone"] is None
    assert changed["data"] == {"only": 1}
    assert changed["email"] == "ada@example.com"
    assert (changed["__v"], changed["updatedAt"]) == (1, "2026-01-01T00:00:01.000Z")
    assert (await api.get("/v2/subscribers/ada")).json() == changed


async def test_an_update_that_changes_nothing_moves_neither_version_nor_date(api: Api, clock: ManualClock) -> None:
    before = await make_subscriber(api, **FIELDS)
    clock.move(1000)

    for body in (FIELDS, {}, {"unknown": 1}, {"subscriberId": "other"}):
        assert (await api.patch("/v2/subscribers/ada", json=body)).json() == before


async def test_creating_again_changes_only_what_is_sent(api: Api) -> None:
    first = await make_subscriber(api, **FIELDS)
    second = await make_subscriber(api, firstName="Augusta", phone=None)

    assert second["_id"] == first["_id"]
    assert second == {**first, "firstName": "Augusta", "phone": None, "__v": 1}


async def test_creating_again_fails_where_the_caller_asks_for_it(api: Api) -> None:
    made = await api.post("/v2/subscribers?failIfExists=true", json={"subscriberId": "ada"})
    again = await api.post("/v2/subscribers?failIfExists=true", json={"subscriberId": "ada", "firstName": "x"})

    assert (made.status_code, again.status_code) == (201, 409)
    assert (await api.get("/v2/subscribers/ada")).json()["firstName"] is None


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"email": "nobody", "timezone": "Mars", "locale": "?", "data": 5}, {"email", "timezone", "locale", "data"}),
        ({"firstName": 5, "lastName": [], "phone": {}, "avatar": True}, {"firstName", "lastName", "phone", "avatar"}),
        ({"email": "", "timezone": "", "locale": ""}, {"email", "timezone", "locale"}),
        ({"data": "text"}, {"data"}),
    ],
)
async def test_every_bad_field_is_named_and_nothing_changes(api: Api, body: dict[str, Any], names: set[str]) -> None:
    before = await make_subscriber(api)

    response = await api.patch("/v2/subscribers/ada", json={"firstName": "Changed", **body})

    assert response.status_code == 422
    assert set(response.json()["errors"]) == names
    assert (await api.get("/v2/subscribers/ada")).json() == before


async def test_empty_texts_are_fine_where_they_are_no_address(api: Api) -> None:
    created = await make_subscriber(api, firstName="", phone="", avatar="")

    assert (created["firstName"], created["phone"], created["avatar"]) == ("", "", "")


async def test_many_creations_of_one_key_make_one_subscriber(api: Api) -> None:
    answers = await asyncio.gather(
        *(api.post("/v2/subscribers", json={"subscriberId": "ada", "firstName": str(n)}) for n in range(30))
    )

    assert {one.status_code for one in answers} == {201}
    assert len({one.json()["_id"] for one in answers}) == 1
    assert (await api.get("/v2/subscribers")).json()["totalCount"] == 1


async def test_bulk_creates_and_updates_in_one_go(api: Api) -> None:
    await make_subscriber(api, "b", firstName="Old")
    items = [{"subscriberId": key, "firstName": "New"} for key in ("c", "b", "a", "c")]

    response = await api.post("/v1/subscribers/bulk", json={"subscribers": items})

    assert response.status_code == 201
    assert response.json() == {
        "created": [{"subscriberId": "c"}, {"subscriberId": "a"}],
        "updated": [{"subscriberId": "b"}],
        "failed": [],
    }
    assert (await api.get("/v2/subscribers/b")).json()["firstName"] == "New"


async def test_bulk_with_a_bad_entry_does_nothing(api: Api) -> None:
    items = [{"subscriberId": "a"}, {"subscriberId": "b", "email": "?"}, {"firstName": "x"}]

    response = await api.post("/v1/subscribers/bulk", json={"subscribers": items})
    too_many = await api.post("/v1/subscribers/bulk", json={"subscribers": [{"subscriberId": "a"}] * 501})

    assert set(response.json()["errors"]) == {"subscribers.1.email", "subscribers.2.subscriberId"}
    assert list(too_many.json()["errors"]) == ["subscribers"]
    assert (await api.get("/v2/subscribers")).json()["totalCount"] == 0


async def test_going_away_sets_when_one_was_last_online(api: Api, clock: ManualClock) -> None:
    await make_subscriber(api)
    await api.patch("/v1/subscribers/ada/online-status", json={"isOnline": True})
    clock.move(1000)

    away = (await api.patch("/v1/subscribers/ada/online-status", json={"isOnline": False})).json()

    assert (away["isOnline"], away["lastOnlineAt"]) == (False, "2026-01-01T00:00:01.000Z")
    assert (await api.patch("/v1/subscribers/ada/online-status", json={"isOnline": "no"})).status_code == 422


async def test_a_deleted_subscriber_is_gone_with_everything_of_theirs(api: Api) -> None:
    first = await make_subscriber(api)
    await api.post("/v2/topics/news/subscriptions", json={"subscriberIds": ["ada"]})
    await api.patch("/v2/subscribers/ada/preferences", json={"channels": {"email": False}})

    deleted = await api.delete("/v2/subscribers/ada")

    assert deleted.json() == {"acknowledged": True, "status": "deleted"}
    assert (await api.delete("/v2/subscribers/ada")).status_code == 404
    assert (await api.get("/v2/topics/news/subscriptions")).json()["data"] == []
    again = await make_subscriber(api)
    assert again["_id"] != first["_id"]
    assert (await api.get("/v2/subscribers/ada/preferences")).json()["global"]["channels"] == {}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v2/subscribers/nobody", None),
        ("PATCH", "/v2/subscribers/nobody", {"firstName": "x"}),
        ("DELETE", "/v2/subscribers/nobody", None),
        ("PATCH", "/v1/subscribers/nobody/online-status", {"isOnline": True}),
        ("PATCH", "/v1/subscribers/nobody/credentials", {"providerId": "fcm", "credentials": {}}),
        ("PUT", "/v1/subscribers/nobody/credentials", {"providerId": "fcm", "credentials": {}}),
        ("DELETE", "/v1/subscribers/nobody/credentials/fcm", None),
    ],
)
async def test_an_unknown_subscriber_is_not_found(api: Api, method: str, path: str, body: Any) -> None:
    response = await api.request(method, path, json=body)

    assert response.status_code == 404
    assert response.json()["message"] == "Subscriber 'nobody' does not exist in this environment"
