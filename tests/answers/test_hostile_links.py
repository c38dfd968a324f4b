"""Links that are used again, early, by programs or by others, or that somebody made up."""

import asyncio
from typing import Any

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clarion.answers.model import LINKS_LAST, AnswerTarget, read_answer_target, sign_answer
from clarion.clock import HOUR, Millis
from clarion.content.links import LinkPurpose, LinkSecret, sign_link
from clarion.db.port import Database
from clarion.ids import EnvironmentId, NotificationId, SubscriberId
from tests.answers.conftest import LoadSecret
from tests.answers.support import (
    ANSWER,
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
from tests.engine.support import World, step
from tests.engine.test_erasure import erase
from tests.support import Site

MOMENT = "2026-01-01T00:00:00.000Z"
SECRET = LinkSecret(EnvironmentId(bytes(range(16))), b"k" * 32)
TARGET = AnswerTarget(
    NotificationId(b"r" * 16), b"s" * 16, SubscriberId(b"p" * 16), "approve", Millis(2_000_000_000_000)
)


async def test_pages_are_protected_and_neither_stored_nor_indexed(world: World, browser: httpx.AsyncClient) -> None:
    await start(world)
    (approve, _) = await list_links(world)

    for answer in (await browser.get(approve), await browser.get("/answer?token=x"), await confirm(browser, approve)):
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-robots-tag"] == "noindex, nofollow"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
        assert "<script" not in answer.text
        assert "://" not in answer.text


async def test_scanners_of_links_answer_nothing(world: World, browser: httpx.AsyncClient, database: Database) -> None:
    await start(world)
    links = await list_links(world)

    for number in range(100):
        await browser.request("HEAD" if number % 2 else "GET", links[number % 4 // 2], headers={"Purpose": "prefetch"})
    # As mail programs unsubscribe, and as forms of others are sent.
    for body in ({"List-Unsubscribe": "One-Click"}, {}, {"action": "subscribe"}, {"choice": "approve"}):
        assert (await browser.post(links[0], data=body)).status_code == 400
    assert (await browser.post(links[0], json=ANSWER)).status_code == 400
    await world.work()

    assert await list_answers(world, database) == []
    assert await world.statuses() == [["completed", "delayed", "pending"]]


async def test_a_used_link_and_those_of_other_choices_are_refused(
    world: World, browser: httpx.AsyncClient, database: Database
) -> None:
    await start(world)
    approve, reject = await list_links(world)
    await confirm(browser, approve)

    again = [
        *(await confirm(browser, approve), await confirm(browser, reject)),
        *(await browser.get(approve), await browser.get(reject)),
    ]
    await world.work()
    later = await confirm(browser, reject)

    assert [one.status_code for one in (*again, later)] == [409] * 5
    assert all("This question has been answered" in one.text for one in again)
    assert all("2026-01-01 00:00 (UTC)" in one.text for one in again)
    assert await list_answers(world, database) == [("approve", "Approve 7", "link")]


async def test_others_learn_that_it_was_answered_and_not_what(
    world: World, browser: httpx.AsyncClient, load_secret: LoadSecret
) -> None:
    await start(world)
    approve, _ = await list_links(world)
    secret = await load_secret(world.api.environment)
    target = read_answer_target(secret, token_of(approve))
    assert target is not None
    await world.api.post("/v2/subscribers", json={"subscriberId": "bob", "firstName": "Bob"})
    await answer_by_api(world, "reject", by="bob")

    answer = await browser.get(approve)

    assert answer.status_code == 409
    assert "This question has been answered" in answer.text
    assert "bob" not in answer.text.lower()
    assert "reject" not in answer.text


async def test_of_two_answers_at_the_same_time_one_counts(
    world: World, browser: httpx.AsyncClient, database: Database
) -> None:
    await start(world)
    links = await list_links(world)

    answers = await asyncio.gather(*(confirm(browser, link) for link in links * 4))
    await world.work()

    assert sorted(one.status_code for one in answers) == [200] + [409] * 7
    ((choice, _, _),) = await list_answers(world, database)
    assert (await world.feed())[1].startswith(f"{choice}/")


async def test_an_old_link_is_refused(world: World, browser: httpx.AsyncClient, database: Database) -> None:
    delay = step("delay", type="regular", amount=200, unit="days")
    await start(world, LINKS, delay, ask())
    approve, _ = await list_links(world)
    world.clock.move(LINKS_LAST)

    answers = [await browser.get(approve), await confirm(browser, approve)]

    assert [one.status_code for one in answers] == [410, 410]
    assert all("This link is too old" in one.text for one in answers)
    assert await list_answers(world, database) == []


async def test_links_of_an_erased_person_lead_nowhere(
    world: World, browser: httpx.AsyncClient, database: Database
) -> None:
    await start(world)
    approve, reject = await list_links(world)
    await confirm(browser, approve)

    await erase(world)

    answers = [await browser.get(reject), await confirm(browser, reject)]
    assert [one.status_code for one in answers] == [404, 404]
    assert "ada" not in answers[0].text
    assert await list_answers(world, database) == []


async def test_a_link_that_was_made_with_the_secret_of_another_environment_is_refused(
    world: World, browser: httpx.AsyncClient, database: Database, load_secret: LoadSecret, site: Site
) -> None:
    await start(world)
    approve, _ = await list_links(world)
    own, other = await load_secret(world.api.environment), await load_secret(site.production)
    target = read_answer_target(own, token_of(approve))
    assert target is not None
    forged = [
        sign_answer(other, target),
        sign_answer(LinkSecret(own.environment_id, other.key), target),
        sign_link(own, LinkPurpose.UNSUBSCRIBE, b"x" * 70),
        sign_link(own, LinkPurpose.ANSWER, b"x" * 20),
    ]

    answers = [await confirm(browser, f"/answer?token={token}") for token in forged]

    assert [one.status_code for one in answers] == [404] * 4
    assert await list_answers(world, database) == []


async def test_a_link_for_a_choice_that_there_is_not_is_refused(
    world: World, browser: httpx.AsyncClient, load_secret: LoadSecret
) -> None:
    await start(world)
    approve, _ = await list_links(world)
    secret = await load_secret(world.api.environment)
    target = read_answer_target(secret, token_of(approve))
    assert target is not None
    wrong: list[dict[str, Any]] = [{"choice": "delete"}, {"step_id": b"x" * 16}, {"run_id": NotificationId(b"x" * 16)}]

    for change in wrong:
        changed = AnswerTarget(**{name: getattr(target, name) for name in target.__struct_fields__} | change)
        answer = await confirm(browser, f"/answer?token={sign_answer(secret, changed)}")
        assert answer.status_code == 404


@given(st.data())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_changed_token_is_read(data: st.DataObject) -> None:
    token = sign_answer(SECRET, TARGET)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_="
    kind = data.draw(st.sampled_from(["replace", "cut", "append", "insert"]))
    place = data.draw(st.integers(0, len(token) - 1))
    more = data.draw(st.text(alphabet, min_size=1, max_size=4))
    changed = {
        "replace": token[:place] + more[0] + token[place + 1 :],
        "cut": token[:place] + token[place + len(more) :],
        "append": token + more,
        "insert": token[:place] + more + token[place:],
    }[kind]

    assert read_answer_target(SECRET, token) == TARGET
    assert (read_answer_target(SECRET, changed) is None) is (changed != token)


async def test_questions_and_labels_are_no_markup(world: World, browser: httpx.AsyncClient) -> None:
    await start(world, payload={"order": "<script>1</script>"})
    approve, _ = await list_links(world)

    shown = await browser.get(approve)

    assert "<script" not in shown.text
    assert "Approve &lt;script&gt;" in shown.text


async def test_an_answer_that_is_accepted_is_never_overtaken_by_the_time_out(
    world: World, browser: httpx.AsyncClient
) -> None:
    people = [f"p{number}" for number in range(12)]
    await start(world, LINKS, ask(), SHOWN, to=people)
    links = {key: (await list_links(world, key))[0] for key in people}
    # The last moment at which answers count, and the first at which the time is over for workers.
    world.clock.move(2 * HOUR)

    answers, _ = await asyncio.gather(
        asyncio.gather(*(confirm(browser, link) for link in links.values())), world.engine.drain()
    )
    await world.work()

    shown = [(await world.feed(key))[1].partition("/")[0] for key in people]
    assert {one.status_code for one in answers} <= {200, 410}
    assert shown == ["approve" if one.status_code == 200 else "" for one in answers]
