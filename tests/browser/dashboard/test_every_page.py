"""What holds for every page: accessible in light and dark, narrow and wide, nothing from elsewhere, no complaint."""

import pytest
from playwright.async_api import Page, Request, expect

from tests.browser.dashboard.demo import add_what_the_demo_lacks, list_addresses, make_demo_desk
from tests.browser.dashboard.desk import Desk, Team
from tests.browser.dashboard.looks import list_problems

GROUPS = 4


@pytest.fixture(scope="session")
async def company(team: Team) -> Desk:
    desk = await make_demo_desk(team)
    await add_what_the_demo_lacks(desk)
    # It stays for all tests.
    team.made.clear()
    return desk


@pytest.mark.parametrize("group", range(GROUPS))
async def test_every_page_is_accessible_and_fits(company: Desk, page: Page, group: int) -> None:
    others: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((company.service.address, "data:", "blob:")):
            others.append(request.url)

    page.on("request", note)
    addresses = [*await list_addresses(company), "/contexts/tenant/acme"]
    found: list[str] = []
    for address in addresses[group::GROUPS]:
        await company.open(page, address)
        await wait_until_quiet(page)
        await expect(page.get_by_role("heading", level=1)).to_have_count(1)
        assert (await page.title()).endswith(" · Clarion"), address
        found += [f"{address}: {text}" for text in await page.get_by_role("alert").all_inner_texts()]
        found += [f"{address}: {problem}" for problem in await list_problems(page)]
    assert found == []
    assert others == []


async def wait_until_quiet(page: Page) -> None:
    """Until nothing is being loaded any more."""
    await page.get_by_role("heading", level=1).first.wait_for()
    await expect(page.get_by_role("status", name="Loading")).to_have_count(0)
