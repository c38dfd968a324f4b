"""Subscribers through HTTP, on both databases."""

from clarion.clock import ManualClock
from tests.support import Api


async def test_a_created_subscriber_is_retrieved_with_every_field(api: Api) -> None:
    created = await api.post(
        "/v2/subscribers", json={"subscriberId": "ada", "email": "ada@example.com", "data": {"n": 1}}
    )
    found = await api.get("/v2/subscribers/ada")

    assert created.status_code == 201
    assert found.status_code == 200
    assert found.json() == created.json()
    assert found.json()["data"] == {"n": 1}
    assert found.json()["firstName"] is None


async def test_an_update_that_changes_nothing_moves_neither_version_nor_date(api: Api, clock: ManualClock) -> None:
    before = (await api.post("/v2/subscribers", json={"subscriberId": "ada", "firstName": "Ada"})).json()
    clock.move(1000)

    after = await api.patch("/v2/subscribers/ada", json={"firstName": "Ada"})

    assert after.json() == before
