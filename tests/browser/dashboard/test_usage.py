"""Usage: what providers were given over a time, by channel and provider."""

import csv
import io
import re
from pathlib import Path

from playwright.async_api import Page, Route, expect

from tests.browser.dashboard.desk import Desk
from tests.browser.dashboard.looks import list_problems
from tests.browser.dashboard.vendor import (
    add_integration,
    add_mail_workflow,
    mail_vendor,
    trigger,
    wait_for_letters,
    wait_for_sent,
)
from tests.providers.loopback import answering


async def _use(desk: Desk) -> None:
    """Two messages that fail, then three that are sent."""
    async with mail_vendor(400) as vendor:
        await add_integration(desk, vendor)
        await add_mail_workflow(desk)
        await trigger(desk, "ada", "bob")
        await wait_for_letters(desk, 2)
        vendor.respond = answering(200, '{"id":"vendor-42"}')
        await desk.call("POST", "/v1/dead-letters/redrive", {"all": True})
        await trigger(desk, "cleo")
        await wait_for_sent(desk, 3)


async def test_usage_is_shown_by_channel_and_by_provider(desk: Desk, page: Page) -> None:
    await _use(desk)
    await desk.open(page, "/usage")

    totals = page.get_by_role("region", name="Totals")
    await expect(totals).to_contain_text("Failure rate40%")
    row = page.get_by_role("table", name="Usage", exact=True).get_by_role("row").nth(1)
    await expect(row).to_contain_text("Email")
    await expect(row.get_by_role("cell").nth(1)).to_have_text("3")
    await page.get_by_label("Group by").select_option("Provider")
    await expect(row).to_contain_text("Email Webhook")
    await page.get_by_label("Time", exact=True).select_option("Last 24 hours")
    await expect(page).to_have_url(desk.address_of("/usage?by=provider&range=24h"))
    await expect(row.get_by_role("cell").nth(3)).to_have_text("2")


async def test_days_of_ones_own_are_in_the_address(desk: Desk, page: Page) -> None:
    await _use(desk)
    await desk.open(page, "/usage?range=custom&from=2020-01-01&to=2020-01-31")
    await expect(page.get_by_role("heading", name="Nothing was sent through a provider in this time")).to_be_visible()

    await page.get_by_label("Time", exact=True).select_option("Last 7 days")
    await expect(page.get_by_role("region", name="Totals")).to_be_visible()
    await expect(page).to_have_url(desk.address_of("/usage?range=7d"))


async def test_reactions_to_emails_are_shown_by_workflow(desk: Desk, page: Page) -> None:
    await add_mail_workflow(desk)

    async def answer(route: Route) -> None:
        # The service of the tests has no public address, so that it tracks nothing.
        reply = await route.fetch()
        assert reply.ok
        days = [
            {"at": f"2026-01-0{day}T00:00:00.000Z", "_workflowId": "1", "name": "Welcome", "workflowId": "welcome"}
            | {"opened": day, "clicked": 1, "replied": 0}
            for day in (1, 2)
        ]
        await route.fulfill(json=await reply.json() | {"data": days})

    await page.route("**/v1/usage/emails?*", answer)
    await desk.open(page, "/usage")

    table = page.get_by_role("table", name="Opens, clicks and replies")
    await expect(table.get_by_role("cell")).to_have_text(["Welcome", "3", "2", "0"])
    await expect(table.get_by_role("link", name="Welcome")).to_have_attribute("href", re.compile("/workflows/welcome$"))
    assert await list_problems(page) == []
    await page.get_by_label("Channel").select_option("SMS")
    await expect(table).to_have_count(0)


async def test_usage_is_saved_as_a_file(desk: Desk, page: Page, tmp_path: Path) -> None:
    await _use(desk)
    await desk.open(page, "/usage")
    async with page.expect_download() as started:
        await page.get_by_role("button", name="Download CSV").click()

    saved = tmp_path / "usage.csv"
    await (await started.value).save_as(saved)
    (row,) = csv.DictReader(io.StringIO(saved.read_text()))
    assert (row["channel"], row["provider"], row["sent"], row["failed"]) == ("email", "email-webhook", "3", "2")


async def test_usage_is_accessible_in_both_themes_and_widths(desk: Desk, page: Page) -> None:
    await _use(desk)
    await desk.open(page, "/usage", role="viewer")
    await expect(page.get_by_role("region", name="Totals")).to_be_visible()
    assert await list_problems(page) == []
