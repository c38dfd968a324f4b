"""Takes pictures of the stored e-mails: `python -m tests.browser.email_pictures <folder> [name…]`.

600 and 390 pixels wide, light and dark, side by side, with a picture in the place of those of example.com.
"""

import asyncio
import sys
from itertools import product
from pathlib import Path
from typing import Literal

from playwright.async_api import Browser, Route, async_playwright

from tests.browser.conftest import find_chromium
from tests.content.email.golden_cases import GOLDEN
from tests.content.email.test_golden import FOLDER

WIDTHS = (600, 390)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
MAX_HEIGHT = 1_600
PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="180"><rect width="320" height="180" fill="#93c5fd"/>'
    '<circle cx="160" cy="90" r="50" fill="#1d4ed8"/></svg>'
)


async def take_pictures(folder: Path, names: list[str]) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        for name in names:
            for width, scheme in product(WIDTHS, SCHEMES):
                target = folder / f"{name}-{width}-{scheme}.png"
                await take_picture(browser, FOLDER / f"{name}.html", target, width, scheme)
        await browser.close()


async def take_picture(
    browser: Browser, source: Path, target: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    context = await browser.new_context(viewport={"width": width, "height": 200}, color_scheme=scheme)
    page = await context.new_page()
    await page.route("https://**/*", answer_picture)
    await page.goto(f"file://{source}")
    height = await page.evaluate("document.documentElement.scrollHeight")
    await page.set_viewport_size({"width": width, "height": min(height, MAX_HEIGHT)})
    await page.screenshot(path=target)
    await context.close()


async def answer_picture(route: Route) -> None:
    await route.fulfill(content_type="image/svg+xml", body=PICTURE)


if __name__ == "__main__":
    asyncio.run(take_pictures(Path(sys.argv[1]), sys.argv[2:] or sorted(GOLDEN)))
