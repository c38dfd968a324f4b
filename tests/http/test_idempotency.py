"""Idempotency keys: one effect and one response, however often a request is sent."""

import asyncio
from typing import Any, cast

import httpx
import pytest

from clarion.app import Application, build_application
from clarion.clock import DAY, SECOND, ManualClock
from clarion.db.port import Connection, Database, Work
from clarion.db.query import sql
from clarion.vocabulary import Scope
from tests.support import Api, MakeApi

KEY = {"Idempotency-Key": "key-1"}


async def test_a_repeated_request_gets_the_same_response_and_has_no_effect(api: Api, clock: ManualClock) -> None:
    first = await api.post("/v2/subscribers", json={"subscriberId": "ada", "firstName": "Ada"}, headers=KEY)
    await api.patch("/v2/subscribers/ada", json={"firstName": "Changed"})
    clock.move(60_000)

    again = await api.post("/v2/subscribers", json={"subscriberId": "ada", "firstName": "Ada"}, headers=KEY)

    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["idempotency-replay"] == "true"
    assert "idempotency-replay" not in first.headers
    assert (await api.get("/v2/subscribers/ada")).json()["firstName"] == "Changed"


async def test_another_body_under_the_key_is_refused(api: Api) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "ada"}, headers=KEY)

    response = await api.post("/v2/subscribers", json={"subscriberId": "bob"}, headers=KEY)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["idempotency-key"]
    assert (await api.get("/v2/subscribers/bob")).status_code == 404


async def test_environment_method_and_path_are_part_of_the_key(api: Api, other_api: Api) -> None:
    body = {"subscriberId": "ada"}
    first = await api.post("/v2/subscribers", json=body, headers=KEY)
    other = await other_api.post("/v2/subscribers", json=body, headers=KEY)
    path = await api.patch("/v2/subscribers/ada", json=body, headers=KEY)
    method = await api.delete("/v2/subscribers/ada", headers=KEY)

    answers = [first, other, path, method]
    assert [one.status_code for one in answers] == [201, 201, 200, 200]
    assert not any("idempotency-replay" in one.headers for one in answers)
    assert first.json()["_id"] != other.json()["_id"]


async def test_a_refusal_is_stored_too(api: Api) -> None:
    first = await api.patch("/v2/subscribers/ada", json={"firstName": "x"}, headers=KEY)
    await api.post("/v2/subscribers", json={"subscriberId": "ada"})

    again = await api.patch("/v2/subscribers/ada", json={"firstName": "x"}, headers=KEY)

    assert (first.status_code, again.status_code) == (404, 404)
    assert again.content == first.content


async def test_a_request_that_is_not_valid_does_not_use_the_key(api: Api) -> None:
    refused = await api.post("/v2/subscribers", json={"subscriberId": 5}, headers=KEY)
    mended = await api.post("/v2/subscribers", json={"subscriberId": "ada"}, headers=KEY)

    assert (refused.status_code, mended.status_code) == (422, 201)


async def test_reads_ignore_the_key(api: Api) -> None:
    empty = await api.get("/v2/subscribers", headers=KEY)
    await api.post("/v2/subscribers", json={"subscriberId": "ada"}, headers=KEY)
    one = await api.get("/v2/subscribers", headers=KEY)

    assert (empty.json()["totalCount"], one.json()["totalCount"]) == (0, 1)


@pytest.mark.parametrize(("length", "status"), [(255, 201), (256, 422)])
async def test_the_length_of_keys_is_limited(api: Api, length: int, status: int) -> None:
    response = await api.post("/v2/subscribers", json={"subscriberId": "a"}, headers={"idempotency-key": "k" * length})

    assert response.status_code == status


async def test_a_hundred_concurrent_requests_have_one_effect_and_one_response(api: Api) -> None:
    body = {"name": "one of many"}
    answers = await asyncio.gather(*(api.post("/v1/environments/api-keys", json=body, headers=KEY) for _ in range(100)))
    final = await api.post("/v1/environments/api-keys", json=body, headers=KEY)

    keys = [key for key in (await api.get("/v1/environments/api-keys")).json() if key["name"] == "one of many"]
    done = [one for one in answers if one.status_code == 201]
    busy = [one for one in answers if one.status_code != 201]
    assert len(keys) == 1
    assert {one.content for one in done} == {final.content}
    assert {(one.status_code, one.headers["retry-after"]) for one in busy} <= {(409, "1")}


async def test_a_key_expires_after_a_day(api: Api, clock: ManualClock) -> None:
    await api.post("/v2/subscribers", json={"subscriberId": "ada"}, headers=KEY)
    clock.move(DAY - 1)
    last = await api.post("/v2/subscribers", json={"subscriberId": "ada"}, headers=KEY)
    clock.move(2 * SECOND)
    fresh = await api.post("/v2/subscribers", json={"subscriberId": "bob"}, headers=KEY)

    assert last.headers["idempotency-replay"] == "true"
    assert fresh.status_code == 201
    assert fresh.json()["subscriberId"] == "bob"


async def test_stored_responses_are_encrypted(api: Api, database: Database) -> None:
    made = await api.post("/v1/environments/api-keys", json={"name": "secret"}, headers=KEY)
    reading = sql("SELECT body FROM idempotency_keys WHERE environment_id = :environment_id")
    rows = await database.read(lambda db: db.fetch(reading, environment_id=api.environment.id))
    again = await api.post("/v1/environments/api-keys", json={"name": "secret"}, headers=KEY)

    assert len(rows) == 1
    assert made.json()["key"].encode() not in bytes(rows[0]["body"])
    assert again.content == made.content


async def test_an_api_key_with_other_scopes_does_not_get_the_stored_response(api: Api, make_api: MakeApi) -> None:
    body = {"providerId": "sendgrid", "channel": "email", "credentials": {"apiKey": "canary"}}
    writer = await make_api(scopes=frozenset({Scope.INTEGRATIONS_WRITE}))

    seen = await api.post("/v1/integrations", json=body, headers=KEY)
    hidden = await writer.post("/v1/integrations", json=body, headers=KEY)

    assert "canary" in seen.text
    assert hidden.status_code == 422
    assert "canary" not in hidden.text


class HeldBeforeCommit:
    """A database whose transactions wait before they are committed."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.dialect = database.dialect
        self.is_reached = asyncio.Event()
        self.gate = asyncio.Event()

    async def transaction(self, work: Work[Any]) -> Any:
        async def hold(db: Connection) -> Any:
            result = await work(db)
            self.is_reached.set()
            await self.gate.wait()
            return result

        return await self._database.transaction(hold)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    ("path", "body"),
    [("/v1/environments/api-keys", {"name": "CI"}), ("/v1/events/trigger", {"name": "welcome", "to": "ada"})],
    ids=["alone", "batched"],
)
async def test_a_key_that_another_process_works_on_is_in_progress_and_has_one_effect(
    api: Api, database: Database, application: Application, path: str, body: dict[str, str]
) -> None:
    await api.post("/v2/workflows", json={"name": "Welcome", "workflowId": "welcome", "steps": [], "active": True})
    held = HeldBeforeCommit(database)
    services = application.services
    other = build_application(
        services.settings, cast("Any", held), services.vault, services.gateway, clock=services.clock
    )
    headers = {**api.headers, **KEY}
    async with (
        asyncio.timeout(60),
        httpx.AsyncClient(transport=httpx.ASGITransport(other.asgi), base_url="http://other.test") as elsewhere,
    ):
        first = asyncio.create_task(elsewhere.post(path, json=body, headers=headers))
        await held.is_reached.wait()

        meanwhile = await api.post(path, json=body, headers=KEY)
        held.gate.set()
        done = await first
        again = await api.post(path, json=body, headers=KEY)

    assert (done.status_code, meanwhile.status_code, again.status_code) == (201, 409, 201)
    assert meanwhile.headers["retry-after"] == "1"
    assert again.content == done.content
    assert again.headers["idempotency-replay"] == "true"
