"""Simulations of HTTP steps call nothing: answers are given, or made from the schema."""

from typing import Any

import pytest

from tests.engine.support import in_app
from tests.sending.requests.support import fetch
from tests.support import Api

SCHEMA = {"type": "object", "properties": {"plan": {"enum": ["pro", "free"]}}}
SEEN = in_app("{{steps.fetch.ok}} {{steps.fetch.status}} {{steps.fetch.body.plan}}")


async def simulate(api: Api, *steps: dict[str, Any], to: Any = "ada", **fields: Any) -> dict[str, Any]:
    body = {"name": "Welcome", "workflowId": "welcome", "steps": list(steps), "active": True}
    assert (await api.post("/v2/workflows", json=body)).status_code == 201
    answer = await api.post("/v1/simulate", json={"name": "welcome", "to": to, **fields})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def texts(result: dict[str, Any]) -> list[str]:
    return [message["content"] for one in result["recipients"] for message in one["messages"]]


@pytest.mark.parametrize("share", ["person", "trigger"])
async def test_the_answer_is_an_example_of_the_schema(api: Api, share: str) -> None:
    step = fetch("https://example.com/a", responseBodySchema=SCHEMA, share=share)
    result = await simulate(api, step, SEEN, to=["ada", "bob"])

    assert texts(result) == ["true 200 pro"] * 2
    told = [one["summary"] for one in result["recipients"][0]["decisions"]]
    assert any("would be called; here the answer is taken to be 200" in one for one in told)


async def test_answers_can_be_given(api: Api) -> None:
    step = fetch("https://example.com/a", onFailure="continue")
    result = await simulate(api, step, SEEN, answers={"fetch": {"status": 404, "body": {"plan": "none"}}})

    assert texts(result) == ["false 404 none"]


async def test_a_server_that_fails_is_asked_again_until_all_attempts_are_used(api: Api) -> None:
    step = fetch("https://example.com/a")
    result = await simulate(api, step, SEEN, answers={"fetch": {"status": 503}})

    assert texts(result) == []
    assert "in attempt 8: The server answered 503" in str(result)


async def test_an_answer_for_no_step_is_refused(api: Api) -> None:
    await simulate(api, fetch("https://example.com/a"))
    body = {"name": "welcome", "to": "ada", "answers": {"other": {"status": 200}}}
    refused = await api.post("/v1/simulate", json=body)

    assert refused.status_code == 422
    assert "fetch" in str(refused.json()["errors"]["answers"])
