"""The page of a link to an answer: accessible on phones, under its policy, and of use without JavaScript."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import expect

from clarion.answers.model import AnswerTarget, sign_answer
from clarion.clock import Millis
from clarion.content.environment import load_environment_content
from clarion.db.open import open_store
from clarion.ids import EnvironmentId, NotificationId, SubscriberId, find_id
from clarion.settings.model import Settings
from clarion.vault import open_configured_vault
from tests.browser.conftest import OpenPage, list_axe_problems
from tests.browser.service import Service

# The database changes nothing about the looks.
pytestmark = pytest.mark.parametrize("served", ["sqlite"], indirect=True)

LOOKS = [(scheme, width, locale) for scheme, locale in (("light", "en"), ("dark", "ar")) for width in (1280, 390)]
MakeLink = Callable[[str], Awaitable[str]]
QUESTION = {
    "question": "Approve the order of " + "a very long name " * 5 + "x" * 80 + "?",
    "choices": [{"value": "approve", "label": "Approve"}],
    "timeout": {"amount": 1, "unit": "days"},
}


@pytest.fixture
def make_link(served: Service) -> MakeLink:
    """Ask a person with a language; returns the address of the page of an answer."""

    async def make(locale: str) -> str:
        person = served.new_person()
        async with served.api() as api:
            key = f"ask-{person}"
            steps = [{"name": "Approval", "type": "ask", "controlValues": QUESTION}]
            body = {"name": "Approval", "workflowId": key, "active": True, "steps": steps}
            step = (await api.post("/v2/workflows", json=body)).json()["steps"][0]
            to = {"subscriberId": person, "firstName": "Ada", "locale": locale}
            answer = await api.post("/v1/events/trigger", json={"name": key, "to": to})
            run = await _wait_for_run(api, answer.json()["transactionId"])
            environment_id = EnvironmentId(_id_of((await api.get("/v1/environments/me")).json()))
            subscriber_id = SubscriberId(_id_of((await api.get(f"/v2/subscribers/{person}")).json()))
        settings = Settings.load({}, data_dir=served.options[1])
        vault, database = open_configured_vault(settings), await open_store(settings)
        content = await database.read(lambda db: load_environment_content(db, environment_id, vault=vault))
        await database.close()
        assert content.link_secret is not None
        until = Millis(2**42)
        target = AnswerTarget(NotificationId(_id_of(run)), _id_of(step), subscriber_id, "approve", until)
        return f"{served.address}/answer?token={sign_answer(content.link_secret, target)}"

    return make


async def _wait_for_run(api: Any, transaction: str) -> Any:
    for _ in range(200):
        found = (await api.get(f"/v1/notifications?transactionId={transaction}")).json()["data"]
        if found:
            return found[0]
        await asyncio.sleep(0.05)
    raise AssertionError("the run did not start")


def _id_of(resource: Any) -> bytes:
    return find_id(resource["_id"]) or b""


@pytest.mark.parametrize(("scheme", "width", "locale"), LOOKS)
async def test_the_page_is_accessible(
    make_page: OpenPage, make_link: MakeLink, scheme: str, width: int, locale: str
) -> None:
    page = await make_page(width=width, color_scheme=scheme)
    address = await make_link(locale)

    await page.goto(address)
    assert await list_axe_problems(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= width

    await page.get_by_role("button").click()
    await expect(page.get_by_role("status")).to_be_visible()
    assert await list_axe_problems(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= width


async def test_people_answer_without_javascript_and_once(make_page: OpenPage, make_link: MakeLink) -> None:
    page = await make_page(java_script_enabled=False)
    address = await make_link("en")
    await page.goto(address)

    await page.get_by_role("button", name="Give this answer").click()
    await expect(page.get_by_role("heading", name="Your answer was given")).to_be_visible()
    again = await page.context.request.get(address)

    assert again.status == 409
    assert "This question has been answered" in await again.text()
    assert "<button" not in await again.text()
