"""Pictures of the main pages for the README and the guides, from the data of `clarion demo`: `make screenshots`.

python -m tests.browser.screenshots docs/images
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Browser, Page, ViewportSize, async_playwright, expect

from clarion.preferences.unsubscribe.page import Choice, Reader, render_choices
from clarion.vocabulary import Channel
from tests.browser.conftest import find_chromium
from tests.browser.dashboard.demo import make_demo_desk
from tests.browser.dashboard.desk import Desk, Team
from tests.browser.service import Service
from tests.content.email.golden_cases import GOLDEN
from tests.processes import Process

SIZE = ViewportSize(width=1280, height=800)


async def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as store:
        options = ["--data-dir", store]
        process = Process(["serve", *options], {})
        try:
            service = Service(process, options)
            await service.prepare()
            desk = await make_demo_desk(Team(service), name="Larkspur Cycles")
            await take_all(desk, folder)
        finally:
            process.close()


async def take_all(desk: Desk, folder: Path) -> None:
    shown = await list_pictures(desk)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            context = await browser.new_context(viewport=SIZE, locale="en-GB", color_scheme=scheme)
            page = await context.new_page()
            for name, address in shown.items():
                await desk.open(page, address)
                await take(page, folder / f"{name}-{scheme}.png")
        await take_preferences(browser, folder / "preferences-page.png")
        await take_blocks(desk, browser, folder / "email-editor.png")
        await take_mail_settings(await browser.new_page(viewport=SIZE), desk, folder / "mail-settings.png")
        await browser.close()


async def take_preferences(browser: Browser, path: Path) -> None:
    """The page on which people choose, as it is after they have saved."""
    page = await browser.new_page(viewport=ViewportSize(width=640, height=720))
    choices = [
        Choice("1", "Weekly digest", {Channel.EMAIL: False, Channel.IN_APP: True}),
        Choice("2", "Order updates", {Channel.EMAIL: True, Channel.SMS: True, Channel.PUSH: False}),
    ]
    await page.set_content(render_choices(Reader("en", "token"), choices, ["Sign-in code"], is_saved=True))
    await page.screenshot(path=path)


async def take_blocks(desk: Desk, browser: Browser, path: Path) -> None:
    """The editor of blocks; its workflow is made last, so that no other picture has it."""
    values = {"subject": "Your order", "body": GOLDEN["block-order"].body, "editorType": "block"}
    step = {"name": "Mail", "type": "email", "controlValues": values}
    texts = {name: {"type": "string", "examples": [text]} for name, text in (("name", "Teapot"), ("price", "24.00"))}
    items = {"type": "array", "items": {"type": "object", "properties": texts}}
    order = {"type": "string", "examples": ["A-1042"]}
    schema = {"type": "object", "properties": {"order": order, "items": items}}
    body = {"name": "Order received", "workflowId": "order-received", "payloadSchema": schema, "steps": [step]}
    await desk.call("POST", "/v2/workflows", body)
    page = await browser.new_page(viewport=SIZE, locale="en-GB")
    await desk.open(page, "/workflows/order-received?step=mail")
    paper = page.get_by_role("textbox", name="Body", exact=True)
    await paper.get_by_text("See the order").click()
    await page.get_by_role("toolbar", name="Text and blocks").scroll_into_view_if_needed()
    await take(page, path)


async def take_mail_settings(page: Page, desk: Desk, path: Path) -> None:
    """What the settings of an environment say of tracking and replies."""
    await desk.open(page, "/environments")
    row = page.get_by_role("row", name=desk.identifier)
    await row.get_by_role("button", name="Settings of").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("heading", name="Tracking of e-mails").evaluate("one => one.scrollIntoView()")
    await dialog.screenshot(path=path)


async def take(page: Page, path: Path) -> None:
    await page.get_by_role("heading", level=1).first.wait_for()
    await expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    # Previews and charts follow a moment later; the live list never stops loading.
    await page.wait_for_timeout(1500)
    await page.screenshot(path=path)


async def list_pictures(desk: Desk) -> dict[str, str]:
    """The pages that are shown, by the names of their files."""
    integrations = await desk.call("GET", "/v1/integrations")
    mail = next(one for one in integrations if one["providerId"] == "postmark")
    failed = await desk.call("GET", "/v1/runs?status=partly_failed&status=failed&workflowId=sign-in-code")
    return {
        "activity": "/activity",
        "run": f"/activity/{failed['data'][0]['_id']}",
        "workflow": "/workflows/order-shipped?step=mail&person=ada",
        "email": "/workflows/welcome?step=mail&person=sara",
        "replies": f"/integrations/{mail['_id']}?part=replies",
        "workflows": "/workflows",
        "subscriber": "/subscribers/ada/preferences",
        "integrations": "/integrations",
    }


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(target))
