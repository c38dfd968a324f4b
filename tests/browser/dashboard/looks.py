"""A page at both widths and in both themes."""

from playwright.async_api import Page

from tests.browser.conftest import list_axe_problems
from tests.browser.dashboard.conftest import overflow_of


async def list_problems(page: Page) -> list[str]:
    """What axe finds, and where the page is wider than its window; what is opened stays open."""
    found: list[str] = []
    for width in (1280, 390):
        await page.set_viewport_size({"width": width, "height": 800})
        wider = await overflow_of(page)
        found += [f"{wider} pixels wider than {width}"] if wider else []
        await page.emulate_media(color_scheme="light")
        found += [f"{width} light: {one}" for one in await list_axe_problems(page)]
        # Themes differ in colours only.
        await page.emulate_media(color_scheme="dark")
        found += [f"{width} dark: {one}" for one in await list_axe_problems(page, rule="color-contrast")]
    return found
