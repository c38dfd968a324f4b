"""Pages of the dashboard: each test has an environment of its own on the service that all share."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page

from tests.browser.conftest import browser, make_page, page, served
from tests.browser.dashboard.desk import Desk, Team, make_desk
from tests.browser.service import Service

__all__ = ["browser", "make_page", "page", "served"]


@pytest.fixture(scope="session")
def team(served: Service) -> Team:
    return Team(served)


@pytest.fixture
async def desk(team: Team) -> AsyncIterator[Desk]:
    yield await make_desk(team)
    await team.clear()


@pytest.fixture
async def languages(desk: Desk) -> AsyncIterator[None]:
    """German beside English; the organization is shared by all tests."""
    async with await desk.team.client("owner", desk.identifier) as owner:
        await owner.patch("/v1/organizations/settings", json={"defaultLocale": "en_US", "targetLocales": ["de_DE"]})
        yield
        await owner.patch("/v1/organizations/settings", json={"defaultLocale": "en_US", "targetLocales": []})


async def overflow_of(page: Page) -> int:
    """By how many pixels a page is wider than its window."""
    width: int = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return width
