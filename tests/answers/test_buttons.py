"""Buttons of in-app messages that answer, without a page."""

from typing import Any

import httpx
import pytest

from clarion.clock import HOUR
from clarion.db.port import Database
from tests.answers.support import SHOWN, answer_by_api, ask, list_answers, start
from tests.answers.test_links import explain
from tests.engine.support import World, in_app, step

MOMENT = "2026-01-01T00:00:00.000Z"
BUTTONS = in_app(
    "Approve?",
    primaryAction={"label": "Yes", "answer": "approval.approve"},
    secondaryAction={"label": "No", "answer": "approval.reject"},
)


async def use(world: World, button: str = "primary", *, by_feed: bool = False, key: str = "ada") -> httpx.Response:
    message = (await world.messages(channel="in_app"))[0]["_id"]
    if by_feed:
        path = f"/v1/subscribers/{key}/messages/{message}/actions/{button}"
        return await world.api.post(path, json={"status": "done"})
    return await world.api.patch(f"/v2/subscribers/{key}/notifications/{message}/actions/{button}/complete")


@pytest.mark.parametrize("by_feed", [False, True])
async def test_using_a_button_answers_for_the_person(world: World, database: Database, *, by_feed: bool) -> None:
    await start(world, BUTTONS, ask(), SHOWN)

    used = await use(world, by_feed=by_feed)
    await world.work()

    assert used.status_code in (200, 201), used.text
    assert await list_answers(world, database) == [("approve", "Approve 7", "inbox")]
    assert (await world.feed())[1:] == [f"approve/Approve 7/ada/{MOMENT}"]
    assert "ada answered 'Approve 7' in the inbox" in (await explain(world))[-1]


async def test_a_button_that_is_used_again_changes_nothing_and_the_other_one_is_refused(world: World) -> None:
    await start(world, BUTTONS, ask(), SHOWN)

    answers = [await use(world), await use(world), await use(world, "secondary")]
    (shown,) = (await world.api.get("/v2/subscribers/ada/notifications")).json()["data"]

    assert [one.status_code for one in answers] == [200, 200, 409]
    assert (shown["primaryAction"]["isCompleted"], shown["secondaryAction"]["isCompleted"]) == (True, False)


async def test_a_button_that_is_too_late_stays_unused(world: World, database: Database) -> None:
    await start(world, BUTTONS, ask(), SHOWN)
    await world.work(after=2 * HOUR)

    late = await use(world)
    shown = (await world.api.get("/v2/subscribers/ada/notifications")).json()["data"][-1]

    assert late.status_code == 410
    assert shown["primaryAction"]["isCompleted"] is False
    assert await list_answers(world, database) == []


async def test_a_button_of_a_question_that_somebody_else_answered_is_refused(world: World) -> None:
    await world.api.post("/v2/subscribers", json={"subscriberId": "bob"})
    await start(world, BUTTONS, ask(), SHOWN)
    await answer_by_api(world, by="bob")

    assert (await use(world)).status_code == 409


async def test_others_cannot_use_the_button(world: World, database: Database) -> None:
    await world.api.post("/v2/subscribers", json={"subscriberId": "bob"})
    await start(world, BUTTONS, ask(), SHOWN)

    assert (await use(world, key="bob")).status_code == 404
    assert await list_answers(world, database) == []


async def test_buttons_without_answers_are_as_before(world: World, database: Database) -> None:
    plain: dict[str, Any] = {"label": "Open", "redirect": {"url": "https://example.com"}}
    await start(world, in_app("x", primaryAction=plain), ask(), SHOWN)

    assert (await use(world)).status_code == 200
    assert await list_answers(world, database) == []


async def test_unknown_answers_of_buttons_are_issues(world: World) -> None:
    wrong = in_app("x", primaryAction={"label": "Yes", "answer": "approval.maybe"})

    made = await world.make_workflow(wrong, BUTTONS, ask(), step("delay", type="regular", amount=1, unit="hours"))

    assert [list(one.get("issues", {}).get("controls", {})) for one in made["steps"][:2]] == [
        ["primaryAction.answer"],
        [],
    ]
