"""SMS to numbers without a country code: completed from the subscriber's locale or the integration, else refused."""

import json
from typing import Any

import pytest

from tests.engine.support import World, step
from tests.providers.loopback import answering, web_server
from tests.sending.test_sends import integrate

LOCAL = "020 7946 0000"
COMPLETE = "+442079460000"


async def send(world: World, person: dict[str, Any], **credentials: str) -> tuple[list[str], dict[str, Any]]:
    """Return the numbers that the provider got, and the job."""
    async with web_server(answering(200, '{"id":"1"}')) as server:
        account = {"baseUrl": server.url(""), "apiKeyRequestHeader": "X-Key", "apiKey": "k", "idPath": "id"}
        await integrate(world, "generic-sms", "sms", **account, **{"from": "Acme"}, **credentials)
        await world.make_workflow(step("sms", body="x"))
        await world.trigger({"subscriberId": "ada", **person})
        await world.work()
        bodies = [json.loads(one.partition(b"\r\n\r\n")[2]) for one in server.requests]
    (event,) = await world.events()
    return [one["to"] for one in bodies], event["jobs"][0]


@pytest.mark.parametrize(
    ("person", "credentials"),
    [
        ({"locale": "en-GB"}, {}),
        ({}, {"defaultRegion": "GB"}),
        ({"locale": "en-US"}, {"defaultRegion": "GB"}),
        ({"locale": "en"}, {"defaultRegion": "GB"}),
    ],
)
async def test_a_number_without_a_country_code_is_completed_from_a_known_region(
    world: World, person: dict[str, str], credentials: dict[str, str]
) -> None:
    numbers, job = await send(world, {"phone": LOCAL, **person}, **credentials)

    assert (numbers, job["status"]) == ([COMPLETE], "completed")


async def test_a_number_without_a_country_code_is_refused_where_no_region_is_known(world: World) -> None:
    numbers, job = await send(world, {"phone": "(202) 555-0123"})

    assert (numbers, job["status"]) == ([], "failed")
    raw = json.loads(job["executionDetails"][-1]["raw"])
    assert (raw["kind"], "defaultRegion" in raw["message"]) == ("recipient_invalid", True)


async def test_a_suppressed_number_stays_suppressed_without_its_country_code(world: World) -> None:
    suppressed = {"channel": "sms", "address": COMPLETE}
    assert (await world.api.post("/v1/suppressions", json=suppressed)).status_code == 201

    numbers, job = await send(world, {"phone": LOCAL}, defaultRegion="GB")

    assert (numbers, job["status"]) == ([], "failed")
