"""HTTP steps call a server on loopback, on both databases: answers, failures, retries, signatures, secrets."""

import base64
import json
from typing import Any

import pytest

from clarion.clock import HOUR, MINUTE, SECOND, Millis, iso_text
from clarion.db.port import Connection, Database
from clarion.db.query import sql
from clarion.sending.requests.hosts import MAX_HOST_CALLS, MAX_NEXT_LOOK
from clarion.sending.retry import MAX_ATTEMPTS
from tests.engine.support import World, details, in_app, step
from tests.providers.loopback import answering
from tests.sending.requests.support import fetch, jobs_of, last_raw, make_variable, serving, silent
from tests.webhooks.support import Received

SEEN = in_app(
    "{{steps.fetch.ok}} {{steps.fetch.status}} {{steps.fetch.body.plan}} {{steps.fetch.headers['content-type']}}"
)
COUNT = sql("SELECT count(*) AS n FROM http_requests WHERE environment_id = :environment_id")
STORED = sql("SELECT details, outputs FROM jobs WHERE environment_id = :environment_id")
COUNT_HOSTS = sql("SELECT count(*) AS n FROM http_hosts WHERE environment_id = :environment_id")


async def start(world: World, *steps: dict[str, Any], payload: dict[str, Any] | None = None, **fields: Any) -> None:
    await world.make_workflow(*steps)
    await world.trigger(payload=payload or {}, **fields)
    await world.work()


async def count(world: World, database: Database, query: Any = COUNT) -> int:
    async def read(db: Connection) -> int:
        row = await db.fetch_one(query, environment_id=world.api.environment.id)
        return 0 if row is None else int(row["n"])

    return await database.read(read)


async def test_later_steps_see_the_answer_and_it_is_not_in_the_payload(world: World, database: Database) -> None:
    async with serving() as server:
        await start(world, fetch(server), SEEN, in_app("{{payload.plan}}-"))

        assert await world.feed() == ["true 200 pro application/json", "-"]
        (request,) = server.requests
        assert (request.method, request.path, request.body) == ("GET", "/people/ada", "")
        assert await world.statuses() == [["completed", "completed", "completed"]]
        assert details((await jobs_of(world))[0]) == ["Step queued", "HTTP request prepared", "HTTP request answered"]
        raw = await last_raw(world)
        assert (raw["method"], raw["url"], raw["statusCode"], raw["body"]) == (
            *("GET", server.url(), 200),
            {"plan": "pro"},
        )
    assert await count(world, database) == 0


async def test_everything_is_a_template_and_the_body_is_json(world: World) -> None:
    body = '{"name": {{payload.name | json}}, "id": "{{subscriber.subscriberId}}"}'
    headers = [{"key": "X-Order", "value": "{{payload.order}}"}, {"key": "Content-Type", "value": "application/json"}]
    async with serving() as server:
        url = server.url("/people/{{subscriber.subscriberId}}?order={{payload.order}}")
        payload = {"name": 'The "A"', "order": 7}
        await start(world, fetch(url, method="POST", body=body, headers=headers), payload=payload)

        (request,) = server.requests
        assert (request.method, request.path) == ("POST", "/people/ada?order=7")
        assert request.json == {"name": 'The "A"', "id": "ada"}
        assert request.headers["x-order"] == "7"
        assert (await last_raw(world))["url"] == server.url("/people/ada")


@pytest.mark.parametrize(
    "body",
    [{"name": "{{payload.name}}"}, [{"key": "name", "value": "{{payload.name}}"}]],
    ids=["object", "pairs"],
)
async def test_values_cannot_break_the_json_of_an_object(world: World, body: Any) -> None:
    async with serving() as server:
        await start(world, fetch(server, method="PUT", body=body), payload={"name": '"}, {"'})

        (request,) = server.requests
        assert request.json == {"name": '"}, {"'}
        assert request.headers["content-type"] == "application/json"


async def test_a_body_that_is_no_json_is_not_sent(world: World) -> None:
    async with serving() as server:
        step_of_text = fetch(server, method="POST", body='{"name": "{{payload.name}}"}')
        await start(world, step_of_text, in_app("after"), payload={"name": '"'})

        assert server.requests == []
        assert await world.statuses() == [["failed", "canceled"]]
        assert "body is no JSON when it is rendered" in (await last_raw(world))["error"]


async def test_a_body_of_another_kind_is_sent_as_it_is(world: World) -> None:
    headers = [{"key": "content-type", "value": "text/plain"}]
    async with serving() as server:
        await start(world, fetch(server, method="PATCH", body="Hello {{payload.name}}", headers=headers))

        assert server.requests[0].body == "Hello "


async def test_a_refusal_stops_the_run_with_its_status(world: World) -> None:
    async with serving(answering(404, '{"message": "no such person"}')) as server:
        await start(world, fetch(server), in_app("after"))

        assert len(server.requests) == 1
        assert await world.statuses() == [["failed", "canceled"]]
        raw = await last_raw(world)
        assert (raw["statusCode"], raw["error"]) == (404, "The server answered 404")
        assert raw["answer"] == '{"message": "no such person"}'


@pytest.mark.parametrize("controls", [{"onFailure": "continue"}, {"continueOnFailure": True}], ids=str)
async def test_a_run_that_goes_on_sees_what_came_of_the_request(world: World, controls: dict[str, Any]) -> None:
    async with serving(answering(409, '{"plan": "taken"}', Content_Type="application/json")) as server:
        await start(world, fetch(server, **controls), SEEN)

        assert await world.feed() == ["false 409 taken application/json"]
        assert await world.statuses() == [["failed", "completed"]]


async def test_an_error_of_the_server_is_tried_again_with_the_same_key(world: World) -> None:
    good = answering(200, '{"plan": "pro"}', Content_Type="application/json")
    async with serving(answering(503), answering(502), good) as server:
        await start(world, fetch(server), SEEN)
        assert await world.statuses() == [["queued", "pending"]]
        assert (await last_raw(world))["nextAttemptAt"]
        await world.work(after=20 * SECOND)
        await world.work(after=MINUTE)

        assert await world.feed() == ["true 200 pro application/json"]
        keys = {one.headers["idempotency-key"] for one in server.requests}
        assert (len(server.requests), len(keys)) == (3, 1)
        assert keys == {(await jobs_of(world))[0]["_id"]}


async def test_it_is_given_up_after_the_last_attempt(world: World, database: Database) -> None:
    async with serving(answering(500)) as server:
        await start(world, fetch(server), in_app("after"))
        for _ in range(6 * MAX_ATTEMPTS):
            await world.work(after=10 * MINUTE)

        assert len(server.requests) == MAX_ATTEMPTS
        assert await world.statuses() == [["failed", "canceled"]]
        assert await count(world, database) == 0


async def test_the_server_says_when_to_come_back(world: World) -> None:
    async with serving(answering(429, "later", Retry_After="120"), answering(200, "{}")) as server:
        await start(world, fetch(server))
        await world.work(after=100 * SECOND)
        assert len(server.requests) == 1
        await world.work(after=21 * SECOND)

        assert len(server.requests) == 2
        assert await world.statuses() == [["completed"]]


async def test_a_server_that_says_nothing_is_left_after_the_time_limit(world: World) -> None:
    async with serving(silent) as server:
        await start(world, fetch(server, timeout=0.05))

        raw = await last_raw(world)
        assert raw["error"] == "127.0.0.1 did not answer within 0.05 seconds"
        assert await world.statuses() == [["queued"]]


async def test_redirects_are_not_followed(world: World) -> None:
    async with serving(answering(302, Location="http://169.254.169.254/latest")) as server:
        await start(world, fetch(server))

        assert len(server.requests) == 1
        assert "answered with a redirect (302), which is not followed" in (await last_raw(world))["error"]
        assert await world.statuses() == [["failed"]]


async def test_private_addresses_are_refused_when_saved_and_when_called(world: World) -> None:
    body = {"name": "Welcome", "workflowId": "welcome", "steps": [fetch("http://169.254.169.254/latest")]}
    refused = await world.api.post("/v2/workflows", json=body)
    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == ["steps.0.controlValues.url"]

    await start(world, fetch("{{payload.url}}"), payload={"url": "http://169.254.169.254/latest"})
    assert "is not allowed by CLARION_EGRESS_ALLOW" in (await last_raw(world))["error"]
    assert await world.statuses() == [["failed"]]


async def test_an_answer_that_is_too_large_is_a_failure_that_says_so(world: World) -> None:
    async with serving(answering(200, '"' + "x" * 70_000 + '"')) as server:
        await start(world, fetch(server, onFailure="continue"), SEEN)

        assert (await last_raw(world))["error"] == "The answer has 65536 bytes or more"
        assert await world.feed() == ["false 200  "]
        assert len(server.requests) == 1


async def test_an_answer_that_is_no_json_is_a_text(world: World) -> None:
    async with serving(answering(200, '{"plan": ', Content_Type="application/json")) as server:
        await start(world, fetch(server), in_app("{{steps.fetch.ok}} {{steps.fetch.body}}"))

        assert await world.feed() == ['true {"plan": ']


SCHEMA = {"type": "object", "properties": {"plan": {"type": "string"}}, "required": ["plan"]}


async def test_an_answer_that_does_not_fit_is_named_and_used(world: World) -> None:
    async with serving(answering(200, '{"plan": 7}')) as server:
        await start(world, fetch(server, responseBodySchema=SCHEMA), in_app("{{steps.fetch.body.plan}}"))

        assert await world.feed() == ["7"]
        assert (await last_raw(world))["errors"] == [{"path": "plan", "message": "must be string"}]


async def test_a_binding_schema_makes_the_step_fail(world: World) -> None:
    async with serving(answering(200, "[]")) as server:
        controls = {"responseBodySchema": SCHEMA, "enforceSchemaValidation": True}
        await start(world, fetch(server, **controls), in_app("after"))

        assert await world.statuses() == [["failed", "canceled"]]
        assert details((await jobs_of(world))[0])[-1] == "Response body schema validation failed"
        assert (await last_raw(world))["responseBody"] == []


async def test_requests_are_signed_as_webhooks_are(world: World) -> None:
    async with serving() as server:
        await start(world, fetch(server, method="POST", body={"a": 1}))
        endpoints = (await world.api.get("/v1/webhooks/endpoints")).json()
        (endpoint,) = endpoints["data"] if isinstance(endpoints, dict) else endpoints
        rotated = await world.api.post(f"/v1/webhooks/endpoints/{endpoint['_id']}/rotate-secret")
        await world.trigger(transactionId="second")
        await world.work()

        request = server.requests[1]
        received = Received(request.headers, request.body.encode())
        assert received.is_signed_with(rotated.json()["secret"])
        assert request.headers["webhook-id"] == request.headers["idempotency-key"]


async def test_secrets_are_sent_and_never_shown(world: World, database: Database) -> None:
    await make_variable(world, "TOKEN", "s3cr3t-token")
    await make_variable(world, "PATH_KEY", "key/of path")
    headers = [{"key": "Authorization", "value": "Basic {{env.TOKEN | base64_encode}}"}]
    basic = base64.b64encode(b"s3cr3t-token").decode()
    echo = json.dumps({"token": "s3cr3t-token", "header": f"Basic {basic}", "only": basic})
    async with serving(answering(200, echo, X_Echo="s3cr3t-token")) as server:
        url = server.url("/hooks/{{env.PATH_KEY | url_encode}}?t={{env.TOKEN}}")
        await start(world, fetch(url, method="POST", headers=headers, body={"t": "{{env.TOKEN}}"}), SEEN)

        (request,) = server.requests
        assert request.headers["authorization"] == f"Basic {basic}"
        assert request.json == {"t": "s3cr3t-token"}
    shown = json.dumps([await world.events(), await explain(world)])
    assert "s3cr3t-token" not in shown
    assert basic not in shown
    assert "of+path" not in shown
    stored = await database.read(lambda db: db.fetch(STORED, environment_id=world.api.environment.id))
    assert "s3cr3t-token" not in str([dict(row) for row in stored])


async def explain(world: World) -> list[dict[str, Any]]:
    answer = await world.api.get("/v1/explain", params={"subscriberId": "ada", "workflowId": "welcome"})
    assert answer.status_code == 200, answer.text
    decisions: list[dict[str, Any]] = answer.json()["decisions"]
    return decisions


async def test_it_is_explained_what_was_called_and_why_it_failed(world: World) -> None:
    async with serving(answering(503), answering(403)) as server:
        await start(world, fetch(server))
        await world.work(after=MINUTE)
        told = [one["summary"] for one in await explain(world) if one["kind"] == "request"]
        again = told[1].partition(" It is tried again at ")

        assert told[0] == f"A request was prepared: GET {server.url()}."
        assert again[0] == f"GET {server.url()} failed: The server answered 503."
        assert again[2]
        assert told[2] == f"GET {server.url()} failed in attempt 2: The server answered 403."


async def test_a_request_that_waits_for_its_attempt_is_canceled(world: World, database: Database) -> None:
    async with serving(answering(500)) as server:
        await start(world, fetch(server), in_app("after"), transactionId="t-1")
        answer = await world.api.delete("/v1/events/trigger/t-1")
        await world.work(after=HOUR)

        assert answer.json() is True
        assert len(server.requests) == 1
        assert await world.statuses() == [["canceled", "canceled"]]


async def test_a_trigger_that_has_expired_calls_nothing_more(world: World) -> None:
    async with serving(answering(500)) as server:
        expires = Millis(world.clock.now() + 5 * SECOND)
        await world.make_workflow(fetch(server), in_app("after"))
        await world.trigger(expiresAt=iso_text(expires))
        await world.work()
        await world.work(after=MINUTE)

        assert len(server.requests) == 1
        assert await world.statuses() == [["canceled", "canceled"]]


async def test_a_host_that_fails_again_and_again_is_left_alone(world: World, database: Database) -> None:
    async with serving(answering(500)) as server:
        await world.make_workflow(fetch(server))
        for number in range(6):
            await world.trigger(f"person-{number}")
            await world.work()
        assert len(server.requests) == 5
        assert details((await world.events(subscriberIds=["person-5"]))[0]["jobs"][0])[-1] == (
            "Waits for the host of the HTTP request"
        )
        server.answer(answering(200, "{}"))
        for _ in range(40):
            await world.work(after=MAX_NEXT_LOOK)

        assert {status for run in await world.statuses() for status in run} == {"completed"}
    assert await count(world, database, COUNT_HOSTS) == 0


async def test_one_host_takes_so_many_calls_at_a_time_and_no_more(world: World) -> None:
    async with serving() as server:
        await world.make_workflow(fetch(server))
        people = [f"person-{number}" for number in range(3 * MAX_HOST_CALLS)]
        await world.trigger(people)
        for _ in range(6):
            await world.work(after=SECOND)

        assert len(server.requests) == len(people)
        assert server.web.connections <= MAX_HOST_CALLS


async def test_others_are_not_held_up_by_a_silent_server(world: World) -> None:
    async with serving(silent) as server:
        await world.make_workflow(fetch(server, timeout=0.2), key="slow")
        await world.make_workflow(in_app("at once"), key="quick")
        await world.trigger(name="slow")
        await world.trigger(name="quick")
        await world.engine.work_lanes()

        assert await world.feed() == ["at once"]


async def test_a_step_within_a_branch_decides_by_the_answer(world: World) -> None:
    path = {
        "name": "pro",
        "condition": {"==": [{"var": "steps.fetch.body.plan"}, "pro"]},
        "steps": [in_app("for pros")],
    }
    async with serving() as server:
        await start(world, fetch(server), step("branch", paths=[path]))

        assert await world.feed() == ["for pros"]
