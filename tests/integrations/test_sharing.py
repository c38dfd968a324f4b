"""Weights and rate limits of integrations over the API."""

from typing import Any

import pytest

from tests.support import Api

SMS = {"providerId": "svc-sms", "channel": "sms", "active": True}


async def create(api: Api, **fields: Any) -> dict[str, Any]:
    response = await api.post("/v1/integrations", json=SMS | fields)
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def test_weight_and_rate_limit_are_kept_and_shown(api: Api) -> None:
    made = await create(api, weight=70, rateLimit=2.5)

    assert (made["weight"], made["rateLimit"]) == (70, 2.5)
    assert (await api.get("/v1/integrations")).json()[-1] == made


async def test_without_them_the_weight_is_the_usual_one_and_there_is_no_limit(api: Api) -> None:
    made = await create(api)

    assert made["weight"] == 100
    assert "rateLimit" not in made


async def test_each_is_changed_alone_and_null_lifts_the_limit(api: Api) -> None:
    made = await create(api, rateLimit=5)
    path = f"/v1/integrations/{made['_id']}"

    heavier = (await api.put(path, json={"weight": 300})).json()
    unlimited = (await api.put(path, json={"rateLimit": None})).json()

    assert (heavier["weight"], heavier["rateLimit"]) == (300, 5)
    assert (unlimited["weight"], "rateLimit" in unlimited) == (300, False)


@pytest.mark.parametrize(
    "fields", [{"weight": 0}, {"weight": 1001}, {"weight": 1.5}, {"weight": None}, {"rateLimit": 0}, {"rateLimit": "1"}]
)
async def test_values_that_make_no_sense_are_refused_by_name(api: Api, fields: dict[str, Any]) -> None:
    response = await api.post("/v1/integrations", json=SMS | fields)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == list(fields)
