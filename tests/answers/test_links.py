"""Links to answers and their page: who answers what, when, and what the run makes of it."""

import httpx
import pytest

from clarion.answers.model import AnswerTarget
from clarion.clock import HOUR, MINUTE, SECOND, Millis
from clarion.content.links import LinkSecret
from clarion.db.port import Database
from clarion.ids import EnvironmentId, NotificationId, SubscriberId
from tests.answers.support import (
    CHOICES,
    LINKS,
    SHOWN,
    answer_by_api,
    ask,
    confirm,
    list_answers,
    list_links,
    start,
    token_of,
)
from tests.engine.support import World, details, in_app, step

MOMENT = "2026-01-01T00:00:00.000Z"
SECRET = LinkSecret(EnvironmentId(bytes(range(16))), b"k" * 32)
TARGET = AnswerTarget(
    NotificationId(b"r" * 16), b"s" * 16, SubscriberId(b"p" * 16), "approve", Millis(2_000_000_000_000)
)


async def test_a_link_leads_to_a_page_whose_form_answers(
    world: World, browser: httpx.AsyncClient, database: Database
) -> None:
    await start(world)
    approve, _ = await list_links(world)

    shown = await browser.get(approve)
    answered = await confirm(browser, approve)
    await world.work()

    assert (shown.status_code, answered.status_code) == (200, 200)
    assert "Order 7?" in shown.text
    assert "Approve 7" in shown.text
    assert f'action="answer?token={token_of(approve)}"' in shown.text
    assert "Your answer was given" in answered.text
    assert await list_answers(world, database) == [("approve", "Approve 7", "link")]
    assert (await world.feed())[1:] == [f"approve/Approve 7/ada/{MOMENT}"]


async def test_an_answer_before_the_step_is_reached_is_kept(world: World, browser: httpx.AsyncClient) -> None:
    delay = step("delay", type="regular", amount=30, unit="days")
    await start(world, LINKS, delay, ask(), SHOWN)
    approve, reject = await list_links(world)

    first = await confirm(browser, approve)
    second = await confirm(browser, reject)
    await world.work(after=30 * 24 * HOUR)

    assert (first.status_code, second.status_code) == (200, 409)
    assert (await world.feed())[1:] == [f"approve/Approve 7/ada/{MOMENT}"]
    assert "The question was answered" in details((await world.events())[0]["jobs"][2])


async def test_an_answer_is_kept_for_a_question_on_a_path_that_is_not_taken_yet(
    world: World, browser: httpx.AsyncClient
) -> None:
    delay = step("delay", type="regular", amount=1, unit="hours")
    paths = [{"name": "big", "condition": {"==": [{"var": "payload.order"}, 7]}, "steps": [ask(), SHOWN]}]
    await start(world, LINKS, delay, step("branch", "Check", paths=paths))
    approve, _ = await list_links(world)

    answer = await confirm(browser, approve)
    await world.work(after=HOUR)

    assert answer.status_code == 200
    assert (await world.feed())[1:] == [f"approve/Approve 7/ada/{MOMENT}"]


async def test_a_question_on_a_path_that_was_not_taken_is_closed(world: World, browser: httpx.AsyncClient) -> None:
    paths = [{"name": "big", "condition": {"==": [{"var": "payload.order"}, 8]}, "steps": [ask()]}]
    await start(world, LINKS, step("branch", "Check", paths=paths))
    approve, _ = await list_links(world)

    assert (await confirm(browser, approve)).status_code == 410


@pytest.mark.parametrize(("on_timeout", "shown"), [("continue", ["///"]), ("exit", [])])
async def test_after_the_time_out_nobody_can_answer(
    world: World, browser: httpx.AsyncClient, database: Database, on_timeout: str, shown: list[str]
) -> None:
    await start(world, LINKS, ask(onTimeout=on_timeout), SHOWN)
    approve, _ = await list_links(world)
    await world.work(after=2 * HOUR - SECOND)
    before = await browser.get(approve)

    # The time is over, and no worker has seen it yet.
    world.clock.move(Millis(2 * SECOND))
    late = await confirm(browser, approve)
    await world.work()
    later = [await confirm(browser, approve), await browser.get(approve), await answer_by_api(world)]

    assert (before.status_code, late.status_code) == (200, 410)
    assert [one.status_code for one in later] == [410] * 3
    assert "This question is closed" in late.text
    assert (await world.feed())[1:] == shown
    assert await list_answers(world, database) == []
    assert "Nobody answered the question in time" in details((await world.events())[0]["jobs"][1])


async def test_an_answer_just_before_the_time_out_counts(world: World, browser: httpx.AsyncClient) -> None:
    await start(world)
    approve, _ = await list_links(world)
    world.clock.move(2 * HOUR)

    answer = await confirm(browser, approve)
    await world.work(after=SECOND)

    assert answer.status_code == 200
    assert (await world.feed())[1:] == ["approve/Approve 7/ada/2026-01-01T02:00:00.000Z"]


@pytest.mark.parametrize("is_reached", [True, False])
async def test_a_canceled_run_takes_no_answer(
    world: World, browser: httpx.AsyncClient, database: Database, *, is_reached: bool
) -> None:
    delay = step("delay", type="regular", amount=1, unit="hours")
    await start(world, LINKS, *([] if is_reached else [delay]), ask(), transactionId="order-7")
    approve, _ = await list_links(world)

    await world.api.delete("/v1/events/trigger/order-7")

    assert (await confirm(browser, approve)).status_code == 410
    assert (await browser.get(approve)).status_code == 410
    assert await list_answers(world, database) == []


async def test_a_run_that_expires_takes_no_answer(world: World, browser: httpx.AsyncClient) -> None:
    await start(world, LINKS, ask(), expiresAt="2026-01-01T01:00:00.000Z")
    approve, _ = await list_links(world)
    world.clock.move(HOUR)

    early = await confirm(browser, approve)
    await world.work()

    assert early.status_code == 410
    assert (await confirm(browser, approve)).status_code == 410


async def test_a_skipped_question_takes_no_answer(world: World, browser: httpx.AsyncClient) -> None:
    await start(world, LINKS, ask(skip={"==": [1, 2]}))
    approve, _ = await list_links(world)

    assert (await confirm(browser, approve)).status_code == 410


async def test_the_page_speaks_the_language_of_the_person(world: World, browser: httpx.AsyncClient) -> None:
    person = {"subscriberId": "ada", "firstName": "Ada", "lastName": "<b>", "locale": "ar_EG"}
    await start(world, to=person)
    approve, _ = await list_links(world)

    shown = await browser.get(approve, headers={"Accept-Language": "de"})

    assert '<html lang="ar" dir="rtl">' in shown.text
    assert "Ada &lt;b&gt;" in shown.text


async def test_each_person_has_links_of_their_own(world: World, browser: httpx.AsyncClient) -> None:
    await start(world, to=["ada", "bob"])
    approve, _ = await list_links(world, "bob")

    await confirm(browser, approve)
    await world.work()

    assert [len(await world.feed(key)) for key in ("ada", "bob")] == [1, 2]
    assert (await world.feed("bob"))[1] == f"approve/Approve 7/bob/{MOMENT}"


async def test_without_a_label_a_choice_is_called_by_its_value(world: World, browser: httpx.AsyncClient) -> None:
    await start(world)
    _, reject = await list_links(world)

    await confirm(browser, reject)
    await world.work()

    assert (await world.feed())[1] == f"reject/reject/ada/{MOMENT}"


async def test_the_sample_page_says_so(browser: httpx.AsyncClient) -> None:
    for answer in (await browser.get("/answer?token=sample"), await confirm(browser, "/answer?token=sample")):
        assert answer.status_code == 200
        assert "This is a sample" in answer.text


async def test_links_are_shown_in_previews(world: World) -> None:
    made = await world.make_workflow(LINKS, ask(), SHOWN)
    path = f"/v2/workflows/welcome/step/{made['steps'][0]['stepId']}/preview"

    preview = (await world.api.post(path, json={})).json()

    assert preview["result"]["preview"]["body"].split() == ["https://clarion.example/answer?token=sample"] * 2


async def test_an_e_mail_has_links_that_are_not_tracked(world: World) -> None:
    await world.api.post("/v1/integrations", json={"providerId": "svc-email", "channel": "email", "active": True})
    mail = step("email", "Mail", subject="Approve?", body='<a href="{{answers.approval.approve}}">Yes</a>')
    await start(world, mail, ask(), to={"subscriberId": "ada", "email": "ada@example.com"})

    (message,) = await world.messages()

    assert 'href="https://clarion.example/answer?token=' in message["content"]


async def test_unknown_answers_are_issues_when_saved(world: World) -> None:
    wrong = in_app("{{answers.approval.yes}} {{answers.other.approve}}")
    late = in_app("{{answers.approval.approve}}")

    made = await world.make_workflow(wrong, LINKS, ask(choices=CHOICES), late)

    issues = [bool(one.get("issues", {}).get("controls")) for one in made["steps"]]
    assert issues == [True, False, False, True]


async def test_how_a_question_was_answered_is_explained(world: World, browser: httpx.AsyncClient) -> None:
    await start(world)
    approve, _ = await list_links(world)
    before = await explain(world)

    await confirm(browser, approve)
    await world.work(after=MINUTE)

    assert "asks “Order 7?” and waits for 'approve' or 'reject'" in before[0]
    assert "ada answered 'Approve 7' by a link" in (await explain(world))[-1]


async def explain(world: World) -> list[str]:
    (event,) = await world.events()
    response = await world.api.get(f"/v1/notifications/{event['_id']}/explain")
    assert response.status_code == 200, response.text
    return [one["summary"] for one in response.json()["decisions"] if one["kind"] == "answer"]
