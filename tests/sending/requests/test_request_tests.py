"""Test requests: who may make them, what they show, and that they store nothing."""

import json
from typing import Any

import httpx

from clarion.vocabulary import Scope
from tests.engine.support import World
from tests.providers.loopback import answering
from tests.sending.requests.support import Server, make_variable, serving
from tests.support import Api, MakeApi
from tests.webhooks.support import Received

URL = "/v1/workflows/steps/test-request"


async def send(api: Api, server: Server | str, **controls: Any) -> httpx.Response:
    url = server if isinstance(server, str) else server.url("/people/{{subscriber.subscriberId}}?t={{env.TOKEN}}")
    body = {
        "controlValues": {"method": "GET", "url": url, **controls},
        "previewPayload": {"subscriber": {"subscriberId": "ada"}},
    }
    return await api.post(URL, json=body)


async def test_it_calls_the_url_and_shows_what_later_steps_would_see(world: World) -> None:
    await make_variable(world, "TOKEN", "s3cr3t-token")
    echo = json.dumps({"plan": "pro", "token": "s3cr3t-token"})
    async with serving(answering(200, echo, Content_Type="application/json")) as server:
        schema = {"type": "object", "properties": {"plan": {"type": "integer"}}}
        response = await send(world.api, server, responseBodySchema=schema)
        answer = response.json()

        assert response.status_code == 200, response.text
        assert server.requests[0].path == "/people/ada?t=s3cr3t-token"
        assert (answer["ok"], answer["status"], answer["body"]) == (True, 200, {"plan": "pro", "token": "***"})
        assert answer["url"] == server.url("/people/ada")
        assert answer["violations"] == ["plan must be integer"]
        assert "s3cr3t-token" not in response.text
    assert (await world.api.get("/v1/notifications")).json()["data"] == []


async def test_it_is_signed_like_the_requests_of_runs(world: World) -> None:
    async with serving() as server:
        await send(world.api, server, method="POST", body={"a": 1})
        me = (await world.api.get("/v1/environments/me")).json()
        rotated = await world.api.post(f"/v1/webhooks/endpoints/{me['_id']}/rotate-secret")
        await send(world.api, server, method="POST", body={"a": 1})

        request = server.requests[1]
        assert Received(request.headers, request.body.encode()).is_signed_with(rotated.json()["secret"])


async def test_failures_are_results(world: World) -> None:
    async with serving(answering(503, "{}")) as server:
        refused = (await send(world.api, server)).json()
        server.answer(answering(200, "[]"))
        unfit = (
            await send(world.api, server, responseBodySchema={"type": "object"}, enforceSchemaValidation=True)
        ).json()
    private = (await send(world.api, "{{payload.url}}http://10.0.0.1/")).json()
    forbidden = (await send(world.api, "http://10.0.0.1/")).json()

    assert (refused["ok"], refused["status"], refused["error"]) == (False, 503, "The server answered 503")
    assert (unfit["ok"], unfit["error"]) == (False, "The body does not fit the schema of the step")
    assert private["errors"]["controlValues.url"]
    assert "is not allowed by CLARION_EGRESS_ALLOW" in forbidden["error"]


async def test_controls_that_cannot_be_called_are_refused(api: Api) -> None:
    empty = await api.post(URL, json={"controlValues": {}})
    broken = await api.post(URL, json={"controlValues": {"url": "https://example.com", "body": '{"a": {{payload.x}}'}})

    assert list(empty.json()["errors"]) == ["controlValues.url"]
    assert (empty.status_code, broken.status_code) == (422, 422)


async def test_it_needs_the_rights_to_run_workflows_and_to_post_elsewhere(make_api: MakeApi, world: World) -> None:
    scopes = {Scope.WORKFLOWS_WRITE, Scope.EVENTS_WRITE, Scope.WEBHOOKS_WRITE}
    async with serving() as server:
        refused = [
            (await send(await make_api(world.api.environment, frozenset(scopes - {lacking})), server)).status_code
            for lacking in sorted(scopes)
        ]
        allowed = await send(await make_api(world.api.environment, frozenset(scopes)), server)

    assert (refused, allowed.status_code) == ([403, 403, 403], 200)


async def test_only_so_many_are_made_at_a_time(world: World) -> None:
    async with serving() as server:
        statuses = [(await send(world.api, server)).status_code for _ in range(11)]

    assert statuses == [200] * 10 + [429]
