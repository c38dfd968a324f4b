"""The overview: first steps while there are any, then what happens."""

import asyncio
import re
from typing import Any

from playwright.async_api import Page, expect

from tests.browser.conftest import OpenPage, list_axe_problems, on_both_databases
from tests.browser.dashboard.conftest import overflow_of
from tests.browser.dashboard.desk import Desk

MAIL = {"name": "Mail", "type": "email", "controlValues": {"subject": "Hi", "body": "Hello"}}
INBOX = {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hi"}}


def workflow(name: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"name": name.title(), "workflowId": name, "active": True, "steps": list(steps)}


async def fill(desk: Desk) -> None:
    """Everything that the first steps ask for, and things that need attention."""
    credentials = {"serviceAccount": "{}"}
    account = {"providerId": "fcm", "channel": "push", "active": True, "credentials": credentials}
    await desk.call("POST", "/v1/integrations", account)
    await desk.call("POST", "/v2/subscribers", {"subscriberId": "ada", "email": "ada@example.com"})
    await desk.call("POST", "/v2/workflows", workflow("welcome", INBOX))
    # There is no integration for e-mails: these cannot be sent.
    await desk.call("POST", "/v2/workflows", workflow("invoice", MAIL))
    await desk.call("POST", "/v2/workflows", workflow("unfinished", {**INBOX, "controlValues": {}}))
    for name in ("welcome", "welcome", "invoice"):
        await desk.call("POST", "/v1/events/trigger", {"name": name, "to": "ada"})
    async with asyncio.timeout(30):
        while (await desk.call("GET", "/v1/dead-letters"))["totalCount"] == 0:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)


@on_both_databases
async def test_a_newcomer_gets_from_nothing_to_a_first_run_with_a_few_clicks(desk: Desk, page: Page) -> None:
    await desk.open(page)
    steps = page.get_by_role("region", name="Getting started")
    await expect(steps).to_contain_text("0 of 5 done")
    await expect(steps.get_by_text(f"curl '{desk.service.address}/v1/environments/me'")).to_be_visible()
    await steps.get_by_role("button", name="Add a person").click()
    await steps.get_by_role("button", name="Create Ada").click()
    await expect(steps).to_contain_text("1 of 5 done")
    await steps.get_by_role("button", name="Create a workflow").click()
    await steps.get_by_role("button", name="Create an example").click()
    await expect(steps).to_contain_text("2 of 5 done")
    await steps.get_by_role("button", name="Trigger it").click()
    await steps.get_by_role("button", name="Trigger it now").click()
    await expect(steps).to_contain_text("3 of 5 done")

    await expect(page.get_by_role("region", name="Runs of the last 24 hours")).to_contain_text("1")
    (run,) = (await desk.call("GET", "/v1/runs"))["data"]
    assert (run["workflow"]["workflowId"], run["subscriber"]["subscriberId"]) == ("welcome", "ada")


async def test_commands_name_this_address_in_each_language(desk: Desk, page: Page) -> None:
    await desk.open(page)
    steps = page.get_by_role("region", name="Getting started")
    await steps.get_by_role("button", name="Trigger it").click()
    await steps.get_by_text("Or with a command").click()
    for language, line in {"Python": "from novu_py import Novu", "JavaScript": "@novu/api", "curl": "curl"}.items():
        await steps.get_by_role("button", name=language).click()
        await expect(steps.locator("pre")).to_contain_text(line)
        await expect(steps.locator("pre")).to_contain_text(desk.service.address)


async def test_what_is_done_is_seen_from_what_exists_and_the_steps_can_be_hidden(desk: Desk, page: Page) -> None:
    await desk.call("POST", "/v2/subscribers", {"subscriberId": "ada"})
    await desk.call("POST", "/v2/workflows", workflow("welcome", INBOX))
    await desk.open(page)
    steps = page.get_by_role("region", name="Getting started")
    await expect(steps.get_by_role("button", name="Add a person Done")).to_be_visible()
    await expect(steps.get_by_role("button", name="Create a workflow Done")).to_be_visible()
    await steps.get_by_role("button", name="Hide these steps").click()
    await page.reload()

    await expect(page.get_by_role("region", name="What needs attention")).to_contain_text("Nothing")
    await expect(steps).to_be_hidden()
    await page.get_by_role("button", name="Show the first steps").click()
    await expect(steps).to_be_visible()


async def test_a_viewer_sees_no_way_to_do_the_steps(desk: Desk, page: Page) -> None:
    await desk.open(page, role="viewer")
    steps = page.get_by_role("region", name="Getting started")
    await steps.get_by_role("button", name="Add a person").click()

    await expect(steps.get_by_role("link", name="Subscribers")).to_be_visible()
    await expect(steps.get_by_role("button", name="Create Ada")).to_have_count(0)


async def test_the_overview_shows_outcomes_and_what_needs_attention(desk: Desk, make_page: OpenPage) -> None:
    await fill(desk)
    for width, scheme in [(1280, "light"), (390, "dark"), (390, "light"), (1280, "dark")]:
        page = await make_page(width=width, color_scheme=scheme)
        await desk.open(page)
        runs, attention = (
            page.get_by_role("region", name=name) for name in ("Runs of the last 24 hours", "What needs attention")
        )
        await expect(runs.get_by_role("link", name=re.compile("Completed"))).to_be_visible()
        await expect(attention.get_by_role("link", name="Unfinished has problems")).to_be_visible()
        await expect(attention.get_by_role("link", name="1 dead letter")).to_be_visible()
        assert (await list_axe_problems(page), await overflow_of(page)) == ([], 0), (width, scheme)
    await runs.get_by_role("link", name=re.compile("Completed")).click()
    await page.wait_for_url(desk.address_of("/activity?status=completed&status=merged"))
