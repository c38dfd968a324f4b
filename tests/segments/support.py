"""Segments of tests."""

from typing import Any

from tests.support import Api

GOLD = {"==": [{"var": "subscriber.data.plan"}, "gold"]}


async def make_segment(api: Api, condition: Any = GOLD, *, key: str = "gold", **fields: Any) -> dict[str, Any]:
    response = await api.post("/v1/segments", json={"key": key, "name": key, "condition": condition, **fields})
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def make_people(api: Api, **people: dict[str, Any]) -> None:
    for key, fields in people.items():
        response = await api.post("/v2/subscribers", json={"subscriberId": key, **fields})
        assert response.status_code == 201, response.text


async def list_members(api: Api, condition: Any) -> list[str]:
    """The sample of a preview that looks at everybody."""
    response = await api.post("/v1/segments/preview", json={"condition": condition})
    assert response.status_code == 200, response.text
    body = response.json()
    assert body["next"] is None
    assert body["count"] == len(body["sample"])
    return [one["subscriberId"] for one in body["sample"]]
