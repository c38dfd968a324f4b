"""The pages of links in messages: accessible, under their policy, and of use without JavaScript."""

from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import expect

from clarion.content.environment import load_environment_content
from clarion.db.open import open_store
from clarion.ids import EnvironmentId, SubscriberId, WorkflowId, find_id
from clarion.preferences.unsubscribe.targets import LinkTarget, sign_target
from clarion.settings.model import Settings
from clarion.vault import open_configured_vault
from clarion.vocabulary import Channel
from tests.browser.conftest import OpenPage, list_axe_problems
from tests.browser.service import Service

# The database changes nothing about the looks.
pytestmark = pytest.mark.parametrize("served", ["sqlite"], indirect=True)

LOOKS = [(scheme, width, locale) for scheme, locale in (("light", "en"), ("dark", "ar")) for width in (1280, 390)]
MakeLink = Callable[..., Awaitable[str]]


@pytest.fixture
def make_link(served: Service) -> MakeLink:
    """Make a person with a language; returns the address of the page about the e-mails of a workflow."""

    async def make(locale: str) -> str:
        person = served.new_person()
        async with served.api() as api:
            made = await api.post("/v2/subscribers", json={"subscriberId": person, "locale": locale})
            assert made.status_code < 300, made.text
            environment_id = EnvironmentId(find_id((await api.get("/v1/environments/me")).json()["_id"]) or b"")
            workflow_id = WorkflowId(find_id((await api.get("/v2/workflows/note")).json()["_id"]) or b"")
            subscriber_id = SubscriberId(find_id((await api.get(f"/v2/subscribers/{person}")).json()["_id"]) or b"")
        settings = Settings.load({}, data_dir=served.options[1])
        vault, database = open_configured_vault(settings), await open_store(settings)
        content = await database.read(lambda db: load_environment_content(db, environment_id, vault=vault))
        await database.close()
        assert content.link_secret is not None
        token = sign_target(content.link_secret, LinkTarget(subscriber_id, workflow_id, Channel.EMAIL))
        return f"{served.address}/unsubscribe?token={token}"

    return make


@pytest.mark.parametrize(("scheme", "width", "locale"), LOOKS)
async def test_the_pages_are_accessible(
    make_page: OpenPage, make_link: MakeLink, scheme: str, width: int, locale: str
) -> None:
    page = await make_page(width=width, color_scheme=scheme)
    await page.goto(await make_link(locale))
    assert await list_axe_problems(page) == []

    await page.get_by_role("button").click()
    await expect(page.get_by_role("status")).to_be_visible()
    assert await list_axe_problems(page) == []

    await page.get_by_role("link").click()
    await expect(page.get_by_role("checkbox").first).to_be_visible()
    assert await list_axe_problems(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= width


async def test_people_unsubscribe_choose_and_come_back_without_javascript(
    make_page: OpenPage, make_link: MakeLink
) -> None:
    page = await make_page(java_script_enabled=False)
    await page.goto(await make_link("en"))

    await page.get_by_role("button", name="Unsubscribe").click()
    await expect(page.get_by_role("heading", name="You are unsubscribed")).to_be_visible()
    await page.get_by_role("link", name="Choose which messages you get").click()
    email = page.get_by_role("group", name="Note").get_by_role("checkbox", name="E-mail")
    await expect(email).not_to_be_checked()
    await email.check()
    await page.get_by_role("button", name="Save").click()

    await expect(page.get_by_role("status")).to_have_text("Your choices are saved.")
    await expect(email).to_be_checked()
    await expect(page.get_by_text("Security alert")).to_be_visible()
