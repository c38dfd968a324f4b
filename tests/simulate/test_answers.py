"""Simulations of workflows that ask: answers are given with their moments."""

from typing import Any

import pytest

from clarion.clock import HOUR, MINUTE
from tests.answers.support import SHOWN, ask
from tests.engine.support import World, in_app, step
from tests.simulate.support import contents, simulate
from tests.simulate.test_events import happens

ORDER = {"order": 7}


def answers(world: World, choice: str = "approve", *, after: int = HOUR, **fields: Any) -> dict[str, Any]:
    return happens(world, "answer.given", after=after, stepId="approval", data={"answer": choice}) | fields


async def test_nobody_answers_unless_it_is_said(world: World) -> None:
    await world.make_workflow(ask(), SHOWN)

    assert await contents(world, payload=ORDER) == ["///"]


async def test_an_answer_lets_the_run_go_on_at_its_moment(world: World) -> None:
    await world.make_workflow(ask(), SHOWN)

    answer = await simulate(world, payload=ORDER, events=[answers(world), answers(world, "reject", after=2 * MINUTE)])

    (message,) = answer["recipients"][0]["messages"]
    assert message["content"] == "reject/reject/ada/2026-01-01T00:02:00.000Z"
    assert message["at"] == "2026-01-01T00:02:00.000Z"


async def test_an_answer_before_the_question_is_kept_and_one_that_is_late_changes_nothing(world: World) -> None:
    await world.make_workflow(step("delay", type="regular", amount=1, unit="hours"), ask(), SHOWN)

    early = await contents(world, payload=ORDER, events=[answers(world, after=MINUTE)])
    late = await contents(world, payload=ORDER, events=[answers(world, after=4 * HOUR)])

    assert early == ["approve/Approve 7/ada/2026-01-01T00:01:00.000Z"]
    assert late == ["///"]


async def test_links_of_simulated_messages_are_samples(world: World) -> None:
    await world.make_workflow(in_app("{{answers.approval.approve}}"), ask())

    (link,) = await contents(world, payload=ORDER)

    assert link in ("", "https://clarion.example/answer?token=sample")


async def test_a_question_is_escalated_and_answered_by_others(world: World) -> None:
    await world.api.post("/v2/subscribers", json={"subscriberId": "bob"})
    await world.make_workflow(in_app("{{payload.question}}"), key="escalation")
    after = {"amount": 1, "unit": "minutes"}
    await world.make_workflow(ask(escalate={"after": after, "to": "bob", "workflowId": "escalation"}), SHOWN)
    answered = answers(world, after=2 * MINUTE, data={"answer": "approve", "by": "bob"})

    answer = await simulate(world, payload=ORDER, events=[answered])

    (recipient,) = answer["recipients"]
    assert [one["content"] for one in recipient["messages"]] == ["approve/Approve 7/bob/2026-01-01T00:02:00.000Z"]
    summaries = " ".join(one["summary"] for one in recipient["decisions"])
    assert "the workflow 'escalation' asks bob too." in summaries


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"stepId": None}, "stepId"),
        ({"stepId": "inbox"}, "stepId"),
        ({"data": {"answer": "maybe"}}, "data.answer"),
        ({"data": {}}, "data"),
        ({"data": {"answer": "approve", "way": "link"}}, "data"),
        ({"data": {"answer": "approve", "by": "nobody"}}, "data.by"),
    ],
)
async def test_answers_that_cannot_be_given_are_refused(world: World, fields: dict[str, Any], field: str) -> None:
    await world.make_workflow(in_app("?"), ask(), SHOWN)
    body = {"name": "welcome", "to": "ada", "payload": ORDER, "events": [answers(world) | fields]}

    response = await world.api.post("/v1/simulate", json=body)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == [f"events.0.{field}"]
