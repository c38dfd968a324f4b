"""Questions that nobody has answered for a while: others are asked, with links of their own, and one answer counts."""

import re
from typing import Any

import httpx
import pytest

from clarion.answers.model import read_answer_target
from clarion.clock import HOUR
from clarion.db.port import Database
from tests.answers.conftest import LoadSecret
from tests.answers.support import ask, confirm, list_answers, list_links, start, token_of
from tests.engine.support import World, in_app
from tests.engine.test_erasure import erase

ESCALATION = {
    "after": {"amount": 1, "unit": "hours"},
    "to": ["bob", "{{payload.lead}}"],
    "workflowId": "escalation",
    "payload": {"order": "{{payload.order}}"},
}
ASKED = in_app("{{answers.approval.approve}} {{answers.approval.reject}}")
SHOWN = in_app("{{steps.approval.answer}} by {{steps.approval.by}}")
OTHERS = in_app(
    "{{payload.question}} {{payload.labels.approve}} {{payload.order}} {{payload.askedSubscriberId}} "
    "{{payload.answers.approve}} {{payload.answers.reject}}"
)


async def escalate(world: World, **controls: Any) -> None:
    """Let a question wait until others are asked."""
    await world.make_workflow(OTHERS, key="escalation")
    for key in ("bob", "cleo"):
        await world.api.post("/v2/subscribers", json={"subscriberId": key})
    payload = {"order": 7, "lead": "cleo"}
    await start(world, ASKED, ask(escalate=ESCALATION | controls), SHOWN, payload=payload)
    await world.work(after=HOUR)


async def links_of(world: World, key: str) -> list[str]:
    (message,) = await world.feed(key)
    return re.findall(r"https://\S+", message)


async def test_others_are_asked_once_and_their_answer_counts(
    world: World, browser: httpx.AsyncClient, database: Database, load_secret: LoadSecret
) -> None:
    await escalate(world)
    (bob,), (cleo,) = await world.feed("bob"), await world.feed("cleo")
    approve, _ = await links_of(world, "bob")
    target = read_answer_target(await load_secret(world.api.environment), token_of(approve))

    answered = await confirm(browser, approve)
    unused = [(await links_of(world, "cleo"))[1], (await list_links(world))[1]]
    others = [await confirm(browser, link) for link in unused]
    await world.work(after=HOUR)

    assert bob.startswith("Order 7? Approve 7 7 ada https://")
    assert bob.partition("https")[0] == cleo.partition("https")[0]
    assert target is not None
    assert answered.status_code == 200
    assert [one.status_code for one in others] == [409, 409]
    assert not any("bob" in one.text or "Approve" in one.text for one in others)
    assert await list_answers(world, database) == [("approve", "Approve 7", "link")]
    assert (await world.feed())[1:] == ["approve by bob"]
    assert [len(await world.feed(key)) for key in ("bob", "cleo")] == [1, 1]


async def test_who_was_asked_first_can_still_answer(world: World, browser: httpx.AsyncClient) -> None:
    await escalate(world)

    await confirm(browser, (await list_links(world))[1])
    await world.work()

    assert (await world.feed())[1:] == ["reject by ada"]


async def test_nobody_else_is_asked_once_there_is_an_answer(world: World, browser: httpx.AsyncClient) -> None:
    await world.make_workflow(OTHERS, key="escalation")
    await world.api.post("/v2/subscribers", json={"subscriberId": "bob"})
    await start(world, ASKED, ask(escalate=ESCALATION), SHOWN)
    await confirm(browser, (await list_links(world))[0])

    await world.work(after=HOUR)

    assert (await world.feed())[1:] == ["approve by ada"]
    assert await world.feed("bob") == []


async def test_the_time_out_is_counted_from_the_question(world: World, browser: httpx.AsyncClient) -> None:
    await escalate(world)
    approve, _ = await links_of(world, "bob")

    await world.work(after=HOUR)

    assert (await world.feed())[1:] == [" by "]
    assert (await confirm(browser, approve)).status_code == 410


async def test_how_it_was_escalated_is_told(world: World) -> None:
    await escalate(world, to=["bob", "nobody"])

    assert "the workflow 'escalation' asks bob too. There is no subscriber nobody." in await explain_first(world)


@pytest.mark.parametrize(
    ("controls", "reason"),
    [
        ({"workflowId": "missing"}, "missing"),
        ({"to": "{{payload.nobody}}"}, "is empty"),
        ({"to": "{% for one in (1..11) %}p{{one}},{% endfor %}"}, "11 people"),
        ({"to": "nobody"}, "There is no subscriber nobody"),
    ],
)
async def test_what_cannot_be_escalated_waits_on(
    world: World, browser: httpx.AsyncClient, controls: dict[str, Any], reason: str
) -> None:
    await escalate(world, **controls)

    told = await explain_first(world)
    await confirm(browser, (await list_links(world))[0])
    await world.work()

    assert reason in told
    assert (await world.feed())[1:] == ["approve by ada"]


async def test_links_of_an_escalation_end_with_the_run(world: World, browser: httpx.AsyncClient) -> None:
    await escalate(world)
    approve, _ = await links_of(world, "bob")
    (run,) = [one for one in await world.events() if one["template"]["triggers"][0]["identifier"] == "welcome"]

    await world.api.delete(f"/v1/events/trigger/{run['transactionId']}")

    assert (await confirm(browser, approve)).status_code == 410


async def test_links_of_others_end_with_them_and_with_the_person_of_the_run(
    world: World, browser: httpx.AsyncClient
) -> None:
    await escalate(world)
    links = {key: (await links_of(world, key))[0] for key in ("bob", "cleo")}

    await erase(world, "bob")
    without_bob = await browser.get(links["bob"])
    await erase(world, "ada")

    assert without_bob.status_code == 404
    assert [(await confirm(browser, link)).status_code for link in links.values()] == [404, 404]


async def test_a_question_that_leads_back_to_its_workflow_is_refused(world: World) -> None:
    body = {"name": "W", "workflowId": "w", "steps": [ask(escalate=ESCALATION | {"workflowId": "w"})], "active": True}

    response = await world.api.post("/v2/workflows", json=body)

    assert list(response.json()["errors"]) == ["steps.0.controlValues.escalate.workflowId"]


async def test_escalations_that_are_too_late_are_refused_and_lacks_are_issues(world: World) -> None:
    late = ask(escalate=ESCALATION | {"after": {"amount": 2, "unit": "hours"}})

    refused = await world.api.post("/v2/workflows", json={"name": "W", "workflowId": "w", "steps": [late]})
    made = await world.make_workflow(ask(escalate={}))

    assert list(refused.json()["errors"]) == ["steps.0.controlValues.escalate.after.amount"]
    assert made["steps"][0]["issues"]["controls"].keys() == {"escalate.after", "escalate.to", "escalate.workflowId"}


async def explain_first(world: World) -> str:
    """What is told of the question of the first run."""
    (event, *_) = await world.events()
    response = await world.api.get(f"/v1/notifications/{event['_id']}/explain")
    return " ".join(one["summary"] for one in response.json()["decisions"] if one["kind"] == "answer")
