"""Triggers of one moment are accepted in one unit of work; each has its own answer."""

import asyncio
from typing import Any

import httpx

from tests.support import Api

WORKFLOW = {
    "name": "Welcome",
    "workflowId": "welcome",
    "active": True,
    "payloadSchema": {"type": "object", "properties": {"age": {"type": "integer"}}},
    "validatePayload": True,
    "steps": [{"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hello"}}],
}


async def make_workflow(api: Api) -> None:
    assert (await api.post("/v2/workflows", json=WORKFLOW)).status_code == 201


async def trigger(api: Api, key: str | None = None, **fields: Any) -> httpx.Response:
    headers = {"Idempotency-Key": key} if key else {}
    return await api.post("/v1/events/trigger", json={"name": "welcome", "to": "ada", **fields}, headers=headers)


async def test_each_gets_its_own_answer(api: Api, other_api: Api) -> None:
    await make_workflow(api)

    answers = await asyncio.gather(
        trigger(api, transactionId="one"),
        trigger(api, name="unknown"),
        trigger(api, payload={"age": "many"}),
        trigger(api, to=[{"topicKey": "nowhere"}, "ada"], transactionId="two"),
        trigger(api, to=[]),
        trigger(other_api),
        trigger(api, "key-1", transactionId="three"),
    )

    assert [one.status_code for one in answers] == [201, 422, 400, 201, 422, 422, 201]
    assert answers[0].json() == {"acknowledged": True, "status": "processed", "transactionId": "one"}
    assert answers[1].json()["message"] == "workflow_not_found"
    assert answers[3].json()["error"] == ["Topic 'nowhere' does not exist in this environment"]
    assert list(answers[4].json()["errors"]) == ["to"]
    assert answers[6].json()["transactionId"] == "three"


async def test_a_key_that_comes_many_times_at_once_has_one_effect_and_one_answer(api: Api) -> None:
    await make_workflow(api)

    answers = await asyncio.gather(*(trigger(api, "key-1") for _ in range(20)))

    assert {one.status_code for one in answers} == {201}
    assert len({one.json()["transactionId"] for one in answers}) == 1
    assert sum("idempotency-replay" in one.headers for one in answers) == 19


async def test_a_refusal_among_others_is_kept_under_its_key(api: Api) -> None:
    await make_workflow(api)
    first, _ = await asyncio.gather(trigger(api, "key-1", payload={"age": "many"}), trigger(api))

    again = await trigger(api, "key-1", payload={"age": "many"})

    assert (first.status_code, again.status_code) == (400, 400)
    assert again.headers["idempotency-replay"] == "true"
    assert again.content == first.content


async def test_another_body_under_a_key_is_refused_and_harms_nobody(api: Api) -> None:
    await make_workflow(api)
    await trigger(api, "key-1", payload={"age": 1})

    other, fine = await asyncio.gather(trigger(api, "key-1", payload={"age": 2}), trigger(api, "key-2"))

    assert (other.status_code, fine.status_code) == (422, 201)
    assert list(other.json()["errors"]) == ["idempotency-key"]
