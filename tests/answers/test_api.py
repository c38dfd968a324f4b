"""Answers that applications give, who may give them, and what becomes of them with the run and the person."""

from typing import Any

import httpx
import pytest

from clarion.clock import HOUR, MINUTE
from clarion.db.port import Database
from clarion.db.query import sql
from clarion.vocabulary import Scope
from clarion.waits.model import MAX_WAITS
from tests.answers.support import LINKS, SHOWN, answer_by_api, ask, confirm, list_answers, list_links, run_id, start
from tests.engine.support import World, details, in_app, step
from tests.engine.test_erasure import erase
from tests.support import Api

MOMENT = "2026-01-01T00:00:00.000Z"
LIST_STORED = sql("""
    SELECT outputs, details FROM jobs WHERE environment_id = :environment_id AND type = 'ask'
""")


async def test_applications_answer_for_the_person_of_the_run(world: World, database: Database) -> None:
    await start(world)

    answer = await answer_by_api(world)
    await world.work()

    assert answer.status_code == 201
    assert answer.json() == {"answer": "approve", "label": "Approve 7", "by": "ada", "at": MOMENT}
    assert await list_answers(world, database) == [("approve", "Approve 7", "api")]
    assert (await world.feed())[1] == f"approve/Approve 7/ada/{MOMENT}"


async def test_applications_answer_for_others(world: World) -> None:
    await world.api.post("/v2/subscribers", json={"subscriberId": "bob"})
    await start(world)

    assert (await answer_by_api(world, by="bob")).status_code == 201
    await world.work()

    assert (await world.feed())[1] == f"approve/Approve 7/bob/{MOMENT}"


@pytest.mark.parametrize(
    ("fields", "field", "problem"),
    [
        ({"stepId": "inbox"}, "stepId", "must be the stepId of a step of the run that asks"),
        ({"stepId": "missing"}, "stepId", "must be the stepId of a step of the run that asks"),
        ({"choice": "maybe"}, "choice", "must be one of approve, reject"),
        ({"by": "nobody"}, "by", "must be the subscriberId of a subscriber that exists"),
        ({"answer": "yes"}, "answer", "is not known here"),
    ],
)
async def test_what_is_wrong_with_an_answer_is_named(
    world: World, database: Database, fields: dict[str, Any], field: str, problem: str
) -> None:
    await start(world)
    body = {"stepId": "approval", "choice": "approve"} | fields

    response = await world.api.post(f"/v1/runs/{await run_id(world)}/answers", json=body)

    assert response.status_code == 422
    assert problem in str(response.json()["errors"][field])
    assert await list_answers(world, database) == []


async def test_a_question_takes_one_answer(world: World) -> None:
    await start(world)
    answers = [await answer_by_api(world, choice) for choice in ("reject", "approve", "reject")]

    assert [one.status_code for one in answers] == [201, 409, 409]
    assert f"answered at {MOMENT}" in answers[1].text


async def test_unknown_runs_are_not_found(world: World) -> None:
    await start(world)
    body = {"stepId": "approval", "choice": "approve"}

    for name in ("not-an-id", "01a1df28-0000-7000-8000-000000000000"):
        assert (await world.api.post(f"/v1/runs/{name}/answers", json=body)).status_code == 404


async def test_a_neighbour_and_a_lower_scope_answer_nothing(world: World, database: Database, other_api: Api) -> None:
    await start(world)
    path, body = f"/v1/runs/{await run_id(world)}/answers", {"stepId": "approval", "choice": "approve"}
    reader = (
        await world.api.post("/v1/environments/api-keys", json={"name": "r", "scopes": [Scope.EVENTS_READ]})
    ).json()

    foreign = await other_api.post(path, json=body)
    lower = await world.api.post(path, json=body, headers={"Authorization": f"ApiKey {reader['key']}"})

    assert (foreign.status_code, lower.status_code) == (404, 403)
    assert await list_answers(world, database) == []


async def test_without_answers_a_step_fails(world: World) -> None:
    await world.make_workflow(step("ask", question="?"), in_app("on"))
    await world.trigger()

    await world.work()

    assert await world.statuses() == [["failed", "completed"]]


async def test_what_a_question_lacks_is_an_issue(world: World) -> None:
    made = await world.make_workflow(step("ask"))

    assert made["steps"][0]["issues"]["controls"].keys() == {"question", "choices", "timeout"}


@pytest.mark.parametrize(
    ("controls", "field"),
    [
        ({"choices": [{"value": "yes"}, {"value": "yes"}]}, "choices.1.value"),
        ({"choices": [{"value": "yes please"}]}, "choices.0.value"),
        ({"choices": [{"value": f"v{number}"} for number in range(11)]}, "choices"),
        ({"timeout": {"amount": 91, "unit": "days"}}, "timeout.amount"),
        ({"onTimeout": "approve"}, "onTimeout"),
        ({"question": "{{"}, "question"),
    ],
)
async def test_wrong_questions_are_not_saved(world: World, controls: dict[str, Any], field: str) -> None:
    body = {"name": "W", "workflowId": "w", "steps": [ask(**controls)], "active": True}

    response = await world.api.post("/v2/workflows", json=body)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == [f"steps.0.controlValues.{field}"]


async def test_only_so_many_questions_wait_for_a_person(world: World) -> None:
    await world.make_workflow(ask())
    for _ in range(MAX_WAITS + 1):
        await world.trigger()
    await world.work()

    (newest,) = (await world.events())[-1:]
    assert "Too many steps wait for the subscriber" in details(newest["jobs"][0])


async def test_who_answered_is_forgotten_with_them_and_the_answer_stays(world: World, database: Database) -> None:
    await world.api.post("/v2/subscribers", json={"subscriberId": "bob"})
    await start(world)
    await answer_by_api(world, by="bob")
    await world.work()

    await erase(world, "bob")

    rows = await database.read(lambda db: db.fetch(LIST_STORED, environment_id=world.api.environment.id))
    assert "bob" not in str([dict(row) for row in rows])
    assert await list_answers(world, database) == [("approve", "Approve 7", "api")]
    assert (await world.events())[0]["jobs"][1]["status"] == "completed"


async def test_an_answer_that_is_kept_goes_on_without_who_gave_it(world: World) -> None:
    await world.api.post("/v2/subscribers", json={"subscriberId": "bob"})
    await start(world, LINKS, step("delay", type="regular", amount=1, unit="hours"), ask(), SHOWN)
    await answer_by_api(world, by="bob")

    await erase(world, "bob")
    await world.work(after=HOUR)

    assert (await world.feed())[1] == f"approve/Approve 7//{MOMENT}"


async def test_events_of_answers_are_not_emitted_by_applications(world: World) -> None:
    await start(world)
    data = {"notificationId": await run_id(world)}

    response = await world.api.post("/v1/events/emit", json={"name": "answer.given", "to": "ada", "data": data})
    await world.work()

    assert response.status_code == 422
    assert await world.statuses() == [["completed", "delayed", "pending"]]


async def test_conditions_ask_for_the_answer(world: World, browser: httpx.AsyncClient) -> None:
    is_approved = {"==": [{"var": "steps.approval.answer"}, "approve"]}
    paths = [{"name": "yes", "condition": is_approved, "steps": [in_app("Approved")]}]
    await start(world, LINKS, ask(), step("branch", "Check", paths=paths, otherwise={"steps": [in_app("Rejected")]}))
    _, reject = await list_links(world)

    await confirm(browser, reject)
    await world.work(after=MINUTE)

    assert (await world.feed())[1:] == ["Rejected"]
